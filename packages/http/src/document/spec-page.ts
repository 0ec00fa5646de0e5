import { createHash } from 'node:crypto'
import type { Operation } from '../operations/operation.js'
import { NEUTRAL_EXAMPLES, type RequestExample, type RequestExamples } from './request-example.js'

/** Shown where the script of the page does not say which service it is from. */
const DEFAULT_ORIGIN = 'http://127.0.0.1:8080'

const STYLE = `
:root { color-scheme: light dark; --surface: light-dark(#ffffff, #0f141b); --raised: light-dark(#f5f7fa, #171e28); --line: light-dark(#dbe1e8, #2a3441); --text: light-dark(#141c26, #e8edf3); --soft: light-dark(#566270, #9ba9b8); --accent: light-dark(#1f4fd0, #86adff); --mono: ui-monospace, "SFMono-Regular", Menlo, Consolas, "Liberation Mono", monospace; }
body { background: var(--surface); color: var(--text); font: 1rem/1.5 system-ui, sans-serif; font-variant-numeric: tabular-nums; max-width: 72rem; margin: 2rem auto 3rem; padding: 0 1rem; overflow-wrap: anywhere; }
h1 { font-size: 1.75rem; line-height: 1.25; letter-spacing: -0.01em; }
h2 { border-top: 1px solid var(--line); padding-top: 1.5rem; margin-top: 2rem; font-size: 1.25rem; line-height: 1.25; }
h3 { font-size: 0.875rem; }
a { color: var(--accent); text-decoration-thickness: 1px; text-underline-offset: 0.2em; }
ul { columns: 18rem; padding-left: 1.25rem; }
code, pre { font: 0.875rem/1.5 var(--mono); }
pre { padding: 0.75rem; background: var(--raised); border-radius: 8px; overflow-x: auto; }
button { font: inherit; font-size: 0.875rem; color: inherit; background: var(--raised); border: 1px solid var(--line); border-radius: 8px; padding: 0.25rem 0.75rem; min-height: 2.25rem; cursor: pointer; }
.example { user-select: all; white-space: pre-wrap; }
table { border-collapse: collapse; width: 100%; font-size: 0.875rem; } td, th { text-align: left; padding: 0.5rem 1rem 0.5rem 0; border-bottom: 1px solid var(--line); vertical-align: top; overflow-wrap: normal; } td:last-child { overflow-wrap: anywhere; } th { font-weight: 400; color: var(--soft); }
.method { font-size: 0.75rem; font-weight: 650; color: var(--soft); margin-right: 0.75rem; }
`

/**
 * A page for people that describes the operations, with the policy for its `Content-Security-Policy`. It loads nothing but
 * `spec.js`, and is complete without it.
 */
export function createSpecPage(
  operations: readonly Operation[],
  schemas: Readonly<Record<string, unknown>>,
  examples: RequestExamples,
): { page: string; policy: string } {
  const contents = operations.map(({ id, summary }) => `<li><a href="#${id}">${escapeHtml(summary)}</a></li>`)
  const models = Object.entries(schemas).map(
    ([name, schema]) =>
      `<h3 id="${name}"><code>${name}</code></h3><pre>${escapeHtml(JSON.stringify(schema, null, 2))}</pre>`,
  )
  const page = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Ledger State API</title><style>${STYLE}</style><script src="spec.js" defer></script></head>
<body>
<h1>Ledger State API</h1>
<p>The state of a ledger at any version or time inside a window, and its history. A click selects an example. The same as <a href="spec.json">OpenAPI 3.1</a>.</p>
<ul>${contents.join('')}</ul>
${operations.map((operation) => operationSection(operation, examples[operation.id])).join('\n')}
<h2>Schemas</h2>
${models.join('\n')}
</body>
</html>
`
  return {
    page,
    policy: `default-src 'none'; script-src 'self'; style-src 'sha256-${sha256(STYLE)}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  }
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('base64')
}

function operationSection(operation: Operation, given: RequestExample | undefined): string {
  const { id, method, path, summary, description, parameters, requestBody, success, errors } = operation
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
  const example = given ?? NEUTRAL_EXAMPLES[id]
  if (example) parts.push(`<pre class="example">${curlLine(example)}</pre>`)
  if (requestBody) parts.push(`<p>Body (JSON):</p><pre>${escapeHtml(JSON.stringify(requestBody, null, 2))}</pre>`)
  parts.push(
    `<p>200: ${Object.keys(success)
      .map((format) => format.toUpperCase())
      .join(' or ')}. Errors: ${errors.join(', ')}.</p>`,
  )
  return parts.join('\n')
}

/** A line for a shell, as HTML. */
function curlLine({ target, body, pipe }: RequestExample): string {
  const data = body ? ` -H 'content-type: application/json' -d '${inQuotes(JSON.stringify(body))}'` : ''
  const rest = `${inQuotes(target)}'${data}${pipe ? ` | ${pipe}` : ''}`
  return `curl -s '<span class="origin">${DEFAULT_ORIGIN}</span>${escapeHtml(rest)}`
}

/** Text between single quotes of a shell. */
function inQuotes(text: string): string {
  return text.replaceAll("'", "'\\''")
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}
