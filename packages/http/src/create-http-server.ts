import type { Socket } from 'node:net'
import { type LedgerInfo, LedgerStateError } from '@ledger-state/core'
import type { Ledger, LedgerState } from '@ledger-state/ledger'
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify'
import { CONTENT_TYPE, type OutputFormat } from './accept.js'
import { createChainHeaders } from './chain-headers.js'
import { answerPreflight, isPreflight, setCorsHeaders } from './cors.js'
import { chooseEncoding, compress, decompress, MIN_COMPRESSED_BYTES } from './encoding.js'
import { errorToReply } from './error-table.js'
import { dropIdleConnections } from './idle-connections.js'
import { type LoadLimits, LoadShedder } from './load-shedding.js'
import { createOpenApiDocument } from './openapi.js'
import type { Answer, Operation, OperationRequest } from './operation.js'
import { getAccountBalance } from './operations/account-balance.js'
import { createBatchOperations } from './operations/batch.js'
import { createHealthOperation } from './operations/health.js'
import { getLedgerInfo } from './operations/ledger-info.js'
import { getRawTableItem } from './operations/raw-table-item.js'
import { getTableItem } from './operations/table-item.js'
import { createSpecPage } from './spec-page.js'

export interface HttpServerOptions extends Partial<LoadLimits> {
  readonly ledger: Ledger
  /** Word in the names of the chain-state headers: `x-<word>-ledger-version`. Default `svc`. */
  readonly headerWord?: string
  /** Formats that are answered with; both by default. */
  readonly output?: Readonly<Record<OutputFormat, boolean>>
  /** Largest request body, also after unpacking; default 8 MiB. */
  readonly bodyLimitBytes?: number
  /** Connections at one time; more are closed as they come. Default 10,000. */
  readonly maxConnections?: number
  /** A request that has not come in whole by then is answered 408 and dropped. Default 30 s. */
  readonly requestTimeoutMs?: number
  /** A connection on which nothing moves for so long is dropped: slow readers as well as idle clients. Default 60 s. */
  readonly idleTimeoutMs?: number
  /** Absolute URL, ending in `/v1`, of a service that keeps versions which this one has pruned. */
  readonly archivalEndpoint?: string
  /** Told of faults of ours, which clients see as 500 without details. */
  readonly onUnexpectedError?: (error: unknown, request: { method: string; url: string }) => void
  /** Told of every answer when it is handed to its socket. */
  readonly onAnswered?: (answered: Answered) => void
}

export interface Answered {
  readonly method: string
  readonly url: string
  /** The path as the OpenAPI document has it; `other` where there is none, `unreadable` for what never became a request. */
  readonly route: string
  readonly status: number
  /** From the end of the headers on. */
  readonly seconds: number
}

/** Longest path parameter: a type tag of many arguments, percent-encoded. */
const MAX_PARAMETER_LENGTH = 16_384
/** Request line and headers together. */
const MAX_HEADER_BYTES = 32_768
const DEFAULT_LOAD_LIMITS: LoadLimits = { maxRequestsInFlight: 2_000, maxEventLoopDelayMs: 1_000 }

declare module 'fastify' {
  interface FastifyRequest {
    /** The ledger state that the request was read at; headers of its answer describe this one. */
    pinned: LedgerInfo | undefined
    /** Path of its operation, as the OpenAPI document has it. */
    route: string
    /** When its headers were in, in milliseconds of `performance.now`; 0 where nobody is told of answers. */
    arrivedAt: number
  }
}

/** The service as a fastify instance, not yet listening. */
export function createHttpServer({
  ledger,
  headerWord = 'svc',
  output = { json: true, bcs: true },
  bodyLimitBytes = 8 * 1024 * 1024,
  maxConnections = 10_000,
  requestTimeoutMs = 30_000,
  idleTimeoutMs = 60_000,
  archivalEndpoint,
  onUnexpectedError = () => {},
  onAnswered,
  ...loadLimits
}: HttpServerOptions): FastifyInstance {
  const chainHeaders = createChainHeaders(headerWord)
  const app = fastify({
    bodyLimit: bodyLimitBytes,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: 0,
    http: {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: requestTimeoutMs,
      connectionsCheckingInterval: Math.min(requestTimeoutMs, 5_000),
    },
    routerOptions: { maxParamLength: MAX_PARAMETER_LENGTH, querystringParser: () => ({}) },
    frameworkErrors: (error, request, reply) => sendError(error, request as FastifyRequest, reply as FastifyReply),
    clientErrorHandler: (error, socket) => {
      const status = answerBrokenRequest(error, socket)
      if (status !== undefined) onAnswered?.({ method: '', url: '', route: 'unreadable', status, seconds: 0 })
    },
  })
  app.server.maxConnections = maxConnections
  dropIdleConnections(app.server, idleTimeoutMs)
  app.decorateRequest('pinned', undefined)
  app.decorateRequest('route', 'other')
  app.decorateRequest('arrivedAt', 0)
  const allowedMethods = collectRoutes(app)

  // Bodies come in whatever their type, so that faults are found in the order in which the reference finds them.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (request, body, done) => {
    const encoding = request.headers['content-encoding']
    if (encoding === undefined) done(null, body)
    else decompress(body as Buffer, encoding, bodyLimitBytes).then((unpacked) => done(null, unpacked), done)
  })

  const load = new LoadShedder({ ...DEFAULT_LOAD_LIMITS, ...loadLimits })
  app.addHook('onClose', async () => load.close())
  const exposedHeaders = chainHeaders.names.join(',')
  app.addHook('onRequest', (request, reply, done) => {
    if (tellAnswered) request.arrivedAt = performance.now()
    const refusal = load.admit(reply.raw, request.method === 'POST')
    setCorsHeaders(request, reply, exposedHeaders)
    if (refusal) done(refusal)
    else if (isPreflight(request)) {
      answerPreflight(request, reply)
      tellAnswered?.(request, reply.statusCode)
    } else done()
  })
  /** Called where an answer is handed to its socket: fastify's own hook for it costs as much as a look-up. */
  const tellAnswered =
    onAnswered &&
    ((request: FastifyRequest, status: number): void => {
      const { method, url, route, arrivedAt } = request
      onAnswered({ method, url, route, status, seconds: (performance.now() - arrivedAt) / 1_000 })
    })
  app.setErrorHandler(sendError)
  app.setNotFoundHandler((request) => {
    const allow = allowedMethods(request.url.split('?', 1)[0]!)
    if (allow === '') throw new LedgerStateError('route_not_found', 'not found')
    throw new LedgerStateError('method_not_allowed', 'method not allowed', { allow })
  })

  function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
    const { status, headers, body, unexpected } = errorToReply(fromFastifyError(error), archivalEndpoint)
    if (unexpected) onUnexpectedError(error, { method: request.method, url: request.url })
    const known = request.pinned ?? ledgerInfoOrUndefined(ledger)
    if (known) reply.headers(chainHeaders.of(known))
    reply.headers(headers).code(status).type(CONTENT_TYPE.json).send(body)
    tellAnswered?.(request, status)
  }

  function expectOutput(format: OutputFormat, what: string): void {
    if (output[format]) return
    const message = `${what} with ${format.toUpperCase()} output is disabled on this endpoint`
    throw new LedgerStateError('output_disabled', message)
  }

  function serve(operation: Operation): (request: FastifyRequest, reply: FastifyReply) => void {
    return (request, reply) => {
      request.route = operation.path
      sendAnswer(request, reply, operation.handle(new FastifyOperationRequest(request, ledger, expectOutput)))
    }
  }

  function sendAnswer(
    request: FastifyRequest,
    reply: FastifyReply,
    { ledger: described, format, body, etag, notModified }: Answer,
  ): void {
    if (etag === undefined && body.length < MIN_COMPRESSED_BYTES / 4 && request.headers.origin === undefined) {
      sendSmall(reply, chainHeaders.listOf(described), CONTENT_TYPE[format], body)
      tellAnswered?.(request, 200)
      return
    }
    reply.headers(chainHeaders.of(described)).header('content-type', CONTENT_TYPE[format])
    if (etag !== undefined) reply.headers({ etag, 'cache-control': 'no-cache' })
    if (notModified) {
      reply.code(304).removeHeader('content-type').send()
      tellAnswered?.(request, 304)
    } else sendBody(request, reply, body, tellAnswered)
  }

  const operations = [
    getTableItem,
    getRawTableItem,
    getAccountBalance,
    ...createBatchOperations(archivalEndpoint),
    getLedgerInfo,
    createHealthOperation(headerWord),
  ]
  for (const operation of operations) {
    // A colon within a segment is doubled, a path parameter has one before its name.
    const url = operation.path.replaceAll(':', '::').replaceAll(/\{([a-z_]+)\}/g, ':$1')
    app.route({ method: operation.method, url, handler: serve(operation) })
  }
  app.get('/v1/', serve(getLedgerInfo))

  const document = createOpenApiDocument(operations, chainHeaders.names)
  const documentText = JSON.stringify(document)
  const page = createSpecPage(operations, document.components.schemas)
  app.get('/v1/spec.json', (request, reply) =>
    sendBody(request, reply.type('application/json'), documentText, tellAnswered),
  )
  app.get('/v1/spec', (request, reply) => sendBody(request, reply.type('text/html; charset=utf-8'), page, tellAnswered))

  return app
}

class FastifyOperationRequest implements OperationRequest {
  readonly expectOutput: OperationRequest['expectOutput']
  readonly #request: FastifyRequest
  readonly #ledger: Ledger

  constructor(request: FastifyRequest, ledger: Ledger, expectOutput: OperationRequest['expectOutput']) {
    this.#request = request
    this.#ledger = ledger
    this.expectOutput = expectOutput
  }

  get accept(): string | undefined {
    return this.#request.headers.accept
  }

  get contentType(): string | undefined {
    return this.#request.headers['content-type']
  }

  get ifNoneMatch(): string | undefined {
    return this.#request.headers['if-none-match']
  }

  get params(): Record<string, string> {
    return this.#request.params as Record<string, string>
  }

  get query(): string {
    const { url } = this.#request
    const at = url.indexOf('?')
    return at < 0 ? '' : url.slice(at + 1)
  }

  get body(): Buffer | undefined {
    return this.#request.body as Buffer | undefined
  }

  pin(version: bigint | undefined): LedgerState {
    const state = this.#ledger.at(version)
    this.#request.pinned = state.ledger
    return state
  }
}

/**
 * Sends what most answers are, a few bytes under the headers that all have: past fastify's collection of headers, and as
 * one string with them. Two buffers in one write cost more than all else that is done for such a request.
 */
function sendSmall(
  reply: FastifyReply,
  chainHeaders: readonly string[],
  contentType: string,
  body: string | Uint8Array,
): void {
  reply.hijack()
  const headers = [...chainHeaders, 'content-type', contentType, 'content-length', String(body.length)]
  reply.raw.writeHead(200, headers)
  // Latin-1 is one byte a character, whatever the bytes mean.
  const text = typeof body === 'string' ? body : Buffer.prototype.latin1Slice.call(body, 0, body.length)
  reply.raw.end(text, 'latin1')
}

/** Sends a body, packed where it is large enough and the client takes it so. */
function sendBody(
  request: FastifyRequest,
  reply: FastifyReply,
  body: string | Uint8Array,
  onSent: ((request: FastifyRequest, status: number) => void) | undefined,
): void {
  const bytes = typeof body === 'string' ? body : Buffer.from(body.buffer, body.byteOffset, body.length)
  if (bytes.length < MIN_COMPRESSED_BYTES) {
    reply.send(bytes)
    onSent?.(request, 200)
    return
  }
  const { vary } = reply.getHeaders()
  reply.header('vary', vary === undefined ? 'accept-encoding' : `${vary}, accept-encoding`)
  const encoding = chooseEncoding(request.headers['accept-encoding'] as string | undefined)
  if (encoding === undefined) {
    reply.send(bytes)
    onSent?.(request, 200)
    return
  }
  compress(Buffer.from(bytes), encoding).then(
    (packed) => {
      reply.header('content-encoding', encoding).send(packed)
      onSent?.(request, 200)
    },
    (error) => reply.send(error),
  )
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

function ledgerInfoOrUndefined(ledger: Ledger): LedgerInfo | undefined {
  try {
    return ledger.info
  } catch {
    // The answer is about another fault, or this one is its reason: it goes out without the headers.
    return undefined
  }
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

const BROKEN_REQUEST_STATUS: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
}

/** What never became a request: the parser refused it, or it was too slow. Answers with the status, if it had one. */
function answerBrokenRequest(error: Error & { code?: string }, socket: Socket): number | undefined {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return undefined
  }
  const status = BROKEN_REQUEST_STATUS[error.code ?? ''] ?? '400 Bad Request'
  const body = JSON.stringify({
    message: `the request could not be read: ${status.slice(4)}`,
    error_code: 'web_framework_error',
  })
  socket.end(
    `HTTP/1.1 ${status}\r\ncontent-type: ${CONTENT_TYPE.json}\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  )
  return Number(status.slice(0, 3))
}
