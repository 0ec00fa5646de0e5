import type { Operation, Route } from '../operations/operation.js'
import { createOpenApiDocument, type HeaderNames } from './openapi.js'
import type { RequestExamples } from './request-example.js'
import { createSpecPage } from './spec-page.js'
import { SPEC_SCRIPT } from './spec-script.js'

/** Routes to descriptions of the operations: the OpenAPI document, and a page for people with its script. */
export function createDocumentRoutes(
  operations: readonly Operation[],
  headers: HeaderNames,
  examples: RequestExamples,
): Route[] {
  const document = createOpenApiDocument(operations, headers)
  const { page, policy } = createSpecPage(operations, document.components.schemas, examples)
  return [
    textRoute('/v1/spec.json', 'application/json', JSON.stringify(document)),
    textRoute('/v1/spec', 'text/html; charset=utf-8', page, ['content-security-policy', policy]),
    textRoute('/v1/spec.js', 'text/javascript; charset=utf-8', SPEC_SCRIPT),
  ]
}

function textRoute(path: string, contentType: string, text: string, headers: readonly string[] = []): Route {
  const body = Buffer.from(text)
  return { method: 'GET', path, negotiates: false, handle: () => ({ contentType, headers, body }) }
}
