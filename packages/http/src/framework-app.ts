import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { LedgerStateError } from '@ledger-state/core'
import {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerFactory,
  fastify,
} from 'fastify'
import type { AnswerWriter } from './answer-writer.js'
import { answerBrokenRequest } from './broken-request.js'
import { corsHeaders, isPreflight, preflightHeaders } from './cors.js'
import { decompress } from './encoding.js'
import type { Exchange } from './exchange.js'
import type { LoadShedder } from './load-shedding.js'
import { createOpenApiDocument } from './openapi.js'
import type { Operation } from './operation.js'
import { getLedgerInfo } from './operations/ledger-info.js'
import { createSpecPage } from './spec-page.js'

export interface FrameworkAppOptions {
  readonly operations: readonly Operation[]
  readonly answers: AnswerWriter
  readonly load: LoadShedder
  /** Of the chain-state headers. */
  readonly headerNames: readonly string[]
  readonly bodyLimitBytes: number
  readonly serverFactory: FastifyServerFactory
  beginExchange(request: IncomingMessage, response: ServerResponse): Exchange
  onBrokenRequest(status: number): void
}

declare module 'fastify' {
  interface FastifyRequest {
    exchange: Exchange | undefined
  }
}

/** Longest path parameter: a type tag of many arguments, percent-encoded. */
const MAX_PARAMETER_LENGTH = 16_384

/** The whole service on fastify: operations, documents, preflights, and refusals of all else. */
export function createFrameworkApp({
  operations,
  answers,
  load,
  headerNames,
  bodyLimitBytes,
  serverFactory,
  beginExchange,
  onBrokenRequest,
}: FrameworkAppOptions): FastifyInstance {
  const app = fastify({
    bodyLimit: bodyLimitBytes,
    routerOptions: { maxParamLength: MAX_PARAMETER_LENGTH, querystringParser: () => ({}) },
    frameworkErrors: (error, request, reply) => sendError(error, request as FastifyRequest, reply as FastifyReply),
    clientErrorHandler: (error, socket) => {
      const status = answerBrokenRequest(error, socket)
      if (status !== undefined) onBrokenRequest(status)
    },
    serverFactory,
  })
  app.decorateRequest('exchange', undefined)
  const allowedMethods = collectRoutes(app)

  // Requests without a body have ended from the start, which fastify would wait for.
  app.addHook('preParsing', (_request, _reply, payload, done) => {
    done(null, 'readableEnded' in payload && payload.readableEnded ? Readable.from([]) : payload)
  })
  // Bodies come in whatever their type, so that faults are found in the order in which the reference finds them.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (request, body, done) => {
    const encoding = request.headers['content-encoding']
    if (encoding === undefined) done(null, body)
    else decompress(body as Buffer, encoding, bodyLimitBytes).then((unpacked) => done(null, unpacked), done)
  })

  const exposedHeaders = headerNames.join(',')
  app.addHook('onRequest', (request, reply, done) => {
    request.exchange = beginExchange(request.raw, reply.raw)
    const refusal = load.admit(reply.raw, request.method === 'POST')
    reply.headers(corsHeaders(request, exposedHeaders))
    if (refusal) done(refusal)
    else if (isPreflight(request)) sendBody(request, reply.headers(preflightHeaders(request)), '')
    else done()
  })
  app.setErrorHandler(sendError)
  app.setNotFoundHandler((request) => {
    const allow = allowedMethods(request.url.split('?', 1)[0]!)
    if (allow === '') throw new LedgerStateError('route_not_found', 'not found')
    throw new LedgerStateError('method_not_allowed', 'method not allowed', { allow })
  })

  for (const operation of operations) {
    // A colon within a segment is doubled, a path parameter has one before its name.
    const url = operation.path.replaceAll(':', '::').replaceAll(/\{([a-z_]+)\}/g, ':$1')
    app.route({ method: operation.method, url, handler: serve(operation) })
  }
  app.get('/v1/', serve(getLedgerInfo))

  const document = createOpenApiDocument(operations, headerNames)
  const documentText = JSON.stringify(document)
  const page = createSpecPage(operations, document.components.schemas)
  app.get('/v1/spec.json', (request, reply) => sendBody(request, reply.type('application/json'), documentText))
  app.get('/v1/spec', (request, reply) => sendBody(request, reply.type('text/html; charset=utf-8'), page))

  /** A request that has no readable URL comes to no hook. */
  function exchangeOf(request: FastifyRequest, reply: FastifyReply): Exchange {
    request.exchange ??= beginExchange(request.raw, reply.raw)
    return request.exchange
  }

  function serve(operation: Operation): (request: FastifyRequest, reply: FastifyReply) => void {
    return (request, reply) => {
      const params = request.params as Record<string, string>
      reply.hijack()
      answers.answer(
        operation,
        exchangeOf(request, reply),
        params,
        request.body as Buffer | undefined,
        headersOf(reply),
      )
    }
  }

  function sendBody(request: FastifyRequest, reply: FastifyReply, body: string): void {
    reply.hijack()
    answers.sendBody(exchangeOf(request, reply), headersOf(reply), body)
  }

  function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
    reply.hijack()
    answers.sendError(exchangeOf(request, reply), fromFastifyError(error), headersOf(reply))
  }

  return app
}

function headersOf(reply: FastifyReply): Record<string, string> {
  return reply.getHeaders() as Record<string, string>
}

/** Methods that a path is offered under, for `Allow`; empty where there is no such path. */
function collectRoutes(app: FastifyInstance): (path: string) => string {
  const routes: { pattern: RegExp; method: string }[] = []
  app.addHook('onRoute', ({ url, method }) => {
    const pattern = new RegExp(
      `^${url
        .replaceAll('::', '\u0000')
        .replaceAll(/:[a-z_]+/g, '[^/]*')
        .replaceAll('\u0000', ':')}$`,
    )
    for (const one of [method].flat()) routes.push({ pattern, method: one })
  })
  return (path) =>
    routes
      .filter(({ pattern }) => pattern.test(path))
      .map(({ method }) => method)
      .join(', ')
}

function fromFastifyError(error: unknown): unknown {
  if (error instanceof LedgerStateError || !(error instanceof Error)) return error
  const { code } = error as Error & { code?: string }
  switch (code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new LedgerStateError('body_too_large', 'payload too large')
    case 'FST_ERR_BAD_URL':
      return new LedgerStateError('invalid_request', 'the path is not well percent-encoded UTF-8')
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return new LedgerStateError('invalid_request', 'the body is not as long as `Content-Length` says')
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new LedgerStateError(
        'content_type_unsupported',
        'the `Content-Type` requested by the client is not supported; send application/json',
      )
    default:
      return error
  }
}
