import type { Operation, Route } from '../operations/operation.js'
import { type AnswerHeaderNames, createOpenApiDocument } from './openapi.js'
import { createSpecPage } from './spec-page.js'

/** Routes to descriptions of the operations: the OpenAPI document and a page for people. */
export function createDocumentRoutes(operations: readonly Operation[], headers: AnswerHeaderNames): Route[] {
  const document = createOpenApiDocument(operations, headers)
  const page = createSpecPage(operations, document.components.schemas)
  return [
    textRoute('/v1/spec.json', 'application/json', JSON.stringify(document)),
    textRoute('/v1/spec', 'text/html; charset=utf-8', page),
  ]
}

function textRoute(path: string, contentType: string, text: string): Route {
  const body = Buffer.from(text)
  return { method: 'GET', path, negotiates: false, handle: () => ({ contentType, body }) }
}
