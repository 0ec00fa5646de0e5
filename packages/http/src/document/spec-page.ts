import type { Operation } from '../operations/parts/operation.js'
import { exampleTarget, type RequestExample, type RequestExamples } from './request-example.js'

/** The `Content-Security-Policy` of the page: it loads nothing. */
export const SPEC_PAGE_POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** Creates a page for people that lists the operations, each with an example. */
export function createSpecPage(operations: readonly Operation[], examples: RequestExamples): string {
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><title>Ledger State API</title></head>
<body>
<h1>Ledger State API</h1>
<p>The state of a ledger at any version or time inside a window, and its history. Parameters, bodies and answers are described in <a href="spec.json">spec.json</a> (OpenAPI 3.1).</p>
${operations.map((operation) => operationSection(operation, examples[operation.id])).join('\n')}
</body>
</html>
`
}

function operationSection({ id, method, path, summary }: Operation, example: RequestExample = {}): string {
  const target = escapeHtml(exampleTarget(path, example.parameters))
  // Links are relative to the page, as a proxy may serve it below another path.
  const request = method === 'GET' ? `<a href="..${target}">${target}</a>` : target
  const body = example.body ? `\n<pre>${escapeHtml(JSON.stringify(example.body, null, 2))}</pre>` : ''
  return `<h2 id="${id}">${escapeHtml(summary)}</h2>
<p>${method} ${escapeHtml(path)}</p>
<p>Example: ${request}</p>${body}`
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}
