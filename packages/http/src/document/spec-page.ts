import type { Operation } from '../operations/operation.js'
import { demoCurlLine } from './demo-requests.js'

const STYLE = `
:root { color-scheme: light dark; --line: #8884; --code: #8882; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 56rem; margin: 2rem auto; padding: 0 1rem; }
h2 { border-top: 1px solid var(--line); padding-top: 1rem; margin-top: 2rem; font-size: 1.15rem; }
code, pre { font: 0.9em ui-monospace, monospace; background: var(--code); border-radius: 4px; padding: 0.1em 0.3em; }
pre { padding: 0.8em; overflow-x: auto; }
.example { user-select: all; }
table { border-collapse: collapse; width: 100%; } td, th { text-align: left; padding: 0.3em 0.6em; border-bottom: 1px solid var(--line); vertical-align: top; }
.method { font-weight: 700; margin-right: 0.5em; }
`

/** A page for people that describes the operations: one document, nothing to load, no script. */
export function createSpecPage(operations: readonly Operation[], schemas: Readonly<Record<string, unknown>>): string {
  const contents = operations.map(({ id, summary }) => `<li><a href="#${id}">${escapeHtml(summary)}</a></li>`)
  const models = Object.entries(schemas).map(
    ([name, schema]) =>
      `<h3 id="${name}"><code>${name}</code></h3><pre>${escapeHtml(JSON.stringify(schema, null, 2))}</pre>`,
  )
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Ledger State API</title><style>${STYLE}</style></head>
<body>
<h1>Ledger State API</h1>
<p>The state of a ledger at any version or time inside a window, and its history. The examples ask the demonstration ledger; a click selects one. The same as <a href="spec.json">OpenAPI 3.1</a>.</p>
<ul>${contents.join('')}</ul>
${operations.map(operationSection).join('\n')}
<h2>Schemas</h2>
${models.join('\n')}
</body>
</html>
`
}

function operationSection({
  id,
  method,
  path,
  summary,
  description,
  parameters,
  requestBody,
  success,
  errors,
}: Operation): string {
  const rows = parameters.map(
    (parameter) =>
      `<tr><td><code>${parameter.name}</code></td><td>${parameter.in}</td><td>${escapeHtml(parameter.description)}</td></tr>`,
  )
  const parts = [
    `<h2 id="${id}">${escapeHtml(summary)}</h2>`,
    `<p><span class="method">${method}</span><code>${escapeHtml(path)}</code></p>`,
    `<p>${escapeHtml(description)}</p>`,
  ]
  if (rows.length > 0) parts.push(`<table><tr><th>parameter</th><th>in</th><th></th></tr>${rows.join('')}</table>`)
  const example = demoCurlLine(id)
  if (example) parts.push(`<pre class="example">${escapeHtml(example)}</pre>`)
  if (requestBody) parts.push(`<p>Body (JSON):</p><pre>${escapeHtml(JSON.stringify(requestBody, null, 2))}</pre>`)
  parts.push(`<p>200: ${Object.keys(success).join(' or ').toUpperCase()}. Errors: ${errors.join(', ')}.</p>`)
  return parts.join('\n')
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}
