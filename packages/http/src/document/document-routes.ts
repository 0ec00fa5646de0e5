import type { Operation, Route } from '../operations/parts/operation.js'
import { createOpenApiDocument, type HeaderNames } from './openapi.js'
import { NEUTRAL_EXAMPLES, type RequestExamples } from './request-example.js'
import { createSpecPage, SPEC_PAGE_POLICY } from './spec-page.js'

/** Paths of the descriptions of the operations. */
export const DOCUMENT_PATHS = { json: '/v1/spec.json', yaml: '/v1/spec.yaml', page: '/v1/spec' } as const

/**
 * Creates the routes of the descriptions of the operations: the OpenAPI document, and a page for people. Each text is made
 * for its first request: most servers are never asked for it, and the three take 30 to 80 ms.
 */
export function createDocumentRoutes(
  operations: readonly Operation[],
  headers: HeaderNames,
  given: RequestExamples,
): Route[] {
  const examples = { ...NEUTRAL_EXAMPLES, ...given }
  const documentText = (indent?: number) =>
    JSON.stringify(createOpenApiDocument(operations, headers, examples), undefined, indent)
  return [
    textRoute(DOCUMENT_PATHS.json, 'application/json', () => documentText()),
    // Each JSON text is one of YAML 1.2.
    textRoute(DOCUMENT_PATHS.yaml, 'application/x-yaml', () => documentText(2), ['content-disposition', 'inline']),
    textRoute(DOCUMENT_PATHS.page, 'text/html; charset=utf-8', () => createSpecPage(operations, examples), [
      'content-security-policy',
      SPEC_PAGE_POLICY,
    ]),
  ]
}

function textRoute(path: string, contentType: string, makeText: () => string, headers: readonly string[] = []): Route {
  let body: Buffer | undefined
  const handle = () => {
    body ??= Buffer.from(makeText())
    return { contentType, headers, body }
  }
  return { method: 'GET', path, negotiates: false, handle }
}
