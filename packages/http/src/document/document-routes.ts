import type { Operation, Route } from '../operations/parts/operation.js'
import { createOpenApiDocument, type HeaderNames } from './openapi.js'
import { NEUTRAL_EXAMPLES, type RequestExamples } from './request-example.js'
import { createSpecPage, SPEC_PAGE_POLICY } from './spec-page.js'

/** Creates the routes of the descriptions of the operations: the OpenAPI document, and a page for people. */
export function createDocumentRoutes(
  operations: readonly Operation[],
  headers: HeaderNames,
  given: RequestExamples,
): Route[] {
  const examples = { ...NEUTRAL_EXAMPLES, ...given }
  const document = createOpenApiDocument(operations, headers, examples)
  const page = createSpecPage(operations, examples)
  return [
    textRoute('/v1/spec.json', 'application/json', JSON.stringify(document)),
    // Each JSON text is one of YAML 1.2.
    textRoute('/v1/spec.yaml', 'application/yaml', JSON.stringify(document, undefined, 2)),
    textRoute('/v1/spec', 'text/html; charset=utf-8', page, ['content-security-policy', SPEC_PAGE_POLICY]),
  ]
}

function textRoute(path: string, contentType: string, text: string, headers: readonly string[] = []): Route {
  const body = Buffer.from(text)
  return { method: 'GET', path, negotiates: false, handle: () => ({ contentType, headers, body }) }
}
