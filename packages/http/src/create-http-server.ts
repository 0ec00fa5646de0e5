import { ByteWriter, type LedgerInfo, LedgerStateError } from '@ledger-state/core'
import type { Ledger, LedgerState } from '@ledger-state/ledger'
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify'
import { acceptsOnlyJson, CONTENT_TYPE, chooseFormat, type OutputFormat } from './accept.js'
import { createChainHeaders } from './chain-headers.js'
import { answerPreflight, isPreflight, setCorsHeaders } from './cors.js'
import { errorToReply } from './error-table.js'
import { ledgerInfoToBcs, ledgerInfoToJson } from './index-resource.js'
import {
  expectJsonContentType,
  parseAddressParameter,
  parseAssetParameter,
  parseLedgerVersion,
  parseRawTableItemBody,
  parseTableItemBody,
  parseTypeMember,
  queryParameter,
} from './request-parts.js'

export interface HttpServerOptions {
  readonly ledger: Ledger
  /** Word in the names of the chain-state headers: `x-<word>-ledger-version`. Default `svc`. */
  readonly headerWord?: string
  /** Formats that are answered with; both by default. */
  readonly output?: Readonly<Record<OutputFormat, boolean>>
  /** Largest request body; default 8 MiB. */
  readonly bodyLimitBytes?: number
  /** Absolute URL, ending in `/v1`, of a service that keeps versions which this one has pruned. */
  readonly archivalEndpoint?: string
  /** Told of faults of ours, which clients see as 500 without details. */
  readonly onUnexpectedError?: (error: unknown, request: { method: string; url: string }) => void
}

/** Longest path parameter: a type tag of many arguments, percent-encoded. */
const MAX_PARAMETER_LENGTH = 16_384
/** Request line and headers together. */
const MAX_HEADER_BYTES = 32_768
/** A request that has not come in whole by then is dropped. */
const REQUEST_TIMEOUT_MS = 30_000
const KEEP_ALIVE_TIMEOUT_MS = 75_000

declare module 'fastify' {
  interface FastifyRequest {
    /** The ledger state that the request was read at; headers of its answer describe this one. */
    pinned: LedgerInfo | undefined
  }
}

/** The service as a fastify instance, not yet listening. */
export function createHttpServer({
  ledger,
  headerWord = 'svc',
  output = { json: true, bcs: true },
  bodyLimitBytes = 8 * 1024 * 1024,
  archivalEndpoint,
  onUnexpectedError = () => {},
}: HttpServerOptions): FastifyInstance {
  const chainHeaders = createChainHeaders(headerWord)
  const app = fastify({
    bodyLimit: bodyLimitBytes,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    http: { maxHeaderSize: MAX_HEADER_BYTES },
    routerOptions: { maxParamLength: MAX_PARAMETER_LENGTH, querystringParser: () => ({}) },
    frameworkErrors: (error, request, reply) => sendError(error, request as FastifyRequest, reply as FastifyReply),
    clientErrorHandler: answerBrokenRequest,
  })
  app.decorateRequest('pinned', undefined)
  // Bodies come in whatever their type, so that faults are found in the order in which the reference finds them.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))

  const allowedMethods = collectRoutes(app)
  app.addHook('onRequest', (request, reply, done) => {
    setCorsHeaders(request, reply, chainHeaders.names)
    if (isPreflight(request)) answerPreflight(request, reply)
    else done()
  })
  app.setErrorHandler(sendError)
  app.setNotFoundHandler((request) => {
    const allow = allowedMethods(pathOf(request))
    if (allow === '') throw new LedgerStateError('route_not_found', 'not found')
    throw new LedgerStateError('method_not_allowed', 'method not allowed', { allow })
  })

  function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
    const fault = fromFastifyError(error)
    const { status, headers, body, unexpected } = errorToReply(fault, archivalEndpoint)
    if (unexpected) onUnexpectedError(error, { method: request.method, url: request.url })
    const known = request.pinned ?? ledgerInfoOrUndefined(ledger)
    if (known) reply.headers(chainHeaders.of(known))
    reply.headers(headers).code(status).type(CONTENT_TYPE.json).send(body)
  }

  function pin(request: FastifyRequest, version: bigint | undefined): LedgerState {
    const state = ledger.at(version)
    request.pinned = state.ledger
    return state
  }

  function send(reply: FastifyReply, ledgerInfo: LedgerInfo, format: OutputFormat, body: string | Uint8Array): void {
    reply.headers(chainHeaders.of(ledgerInfo)).header('content-type', CONTENT_TYPE[format])
    reply.send(typeof body === 'string' ? body : Buffer.from(body.buffer, body.byteOffset, body.length))
  }

  function expectOutput(format: OutputFormat, name: string): void {
    if (output[format]) return
    const message = `${name} with ${format.toUpperCase()} output is disabled on this endpoint`
    throw new LedgerStateError('output_disabled', message)
  }

  app.post<{ Params: { table_handle: string } }>('/v1/tables/:table_handle/item', (request, reply) => {
    const format = chooseFormat(request.headers.accept, 'json')
    const handle = parseAddressParameter('table_handle', request.params.table_handle)
    expectJsonContentType(request.headers['content-type'])
    const body = parseTableItemBody(request.body as Buffer | undefined)
    const version = parseLedgerVersion(queryOf(request))
    expectOutput(format, 'Get table item')
    const keyType = parseTypeMember('key_type', body.keyType)
    const valueType = parseTypeMember('value_type', body.valueType)
    const state = pin(request, version)
    const item = state.readTableItem({ handle, keyType, valueType, key: body.key })
    send(reply, state.ledger, format, format === 'json' ? item.toJsonUtf8() : item.bytes)
  })

  app.post<{ Params: { table_handle: string } }>('/v1/tables/:table_handle/raw_item', (request, reply) => {
    const handle = parseAddressParameter('table_handle', request.params.table_handle)
    expectJsonContentType(request.headers['content-type'])
    const { key } = parseRawTableItemBody(request.body as Buffer | undefined)
    const version = parseLedgerVersion(queryOf(request))
    if (acceptsOnlyJson(request.headers.accept)) {
      const message = 'Get raw table item is not allowed. Only BCS is supported as an AcceptType.'
      throw new LedgerStateError('output_disabled', message)
    }
    expectOutput('bcs', 'Get raw table item')
    const state = pin(request, version)
    send(reply, state.ledger, 'bcs', state.readRawTableItem(handle, key))
  })

  app.get<{ Params: { address: string; asset_type: string } }>(
    '/v1/accounts/:address/balance/:asset_type',
    (request, reply) => {
      const format = chooseFormat(request.headers.accept, 'json')
      if (request.params.asset_type === '') throw new LedgerStateError('route_not_found', 'not found')
      const owner = parseAddressParameter('address', request.params.address)
      const asset = parseAssetParameter(request.params.asset_type)
      const version = parseLedgerVersion(queryOf(request))
      expectOutput(format, 'Get account balance')
      const state = pin(request, version)
      const balance = state.readBalance(owner, asset)
      send(reply, state.ledger, format, format === 'json' ? String(balance) : new ByteWriter().u64(balance).toBytes())
    },
  )

  function getIndex(request: FastifyRequest, reply: FastifyReply): void {
    const format = chooseFormat(request.headers.accept, 'json')
    expectOutput(format, 'Get ledger info')
    const { ledger: info } = pin(request, undefined)
    send(reply, info, format, format === 'json' ? ledgerInfoToJson(info) : ledgerInfoToBcs(info))
  }
  app.get('/v1', getIndex)
  app.get('/v1/', getIndex)

  app.get('/v1/-/healthy', (request, reply) => {
    const seconds = parseDuration(queryOf(request))
    const { ledger: info } = pin(request, undefined)
    if (seconds !== undefined) expectFresh(info, seconds)
    send(reply, info, 'json', JSON.stringify({ message: `${headerWord}-node:ok` }))
  })

  return app
}

/** Methods that a path is offered under, for `Allow`; empty where there is no such path. */
function collectRoutes(app: FastifyInstance): (path: string) => string {
  const routes: { pattern: RegExp; method: string }[] = []
  app.addHook('onRoute', ({ url, method }) => {
    const pattern = new RegExp(`^${url.replaceAll(/:[a-z_]+/g, '[^/]*')}$`)
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

function queryOf({ url }: FastifyRequest): string {
  const at = url.indexOf('?')
  return at < 0 ? '' : url.slice(at + 1)
}

function pathOf({ url }: FastifyRequest): string {
  return url.split('?', 1)[0]!
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

/** What never became a request: the parser refused it, or it was too slow. */
function answerBrokenRequest(error: Error & { code?: string }, socket: import('node:net').Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const status =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? '431 Request Header Fields Too Large'
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? '408 Request Timeout'
        : '400 Bad Request'
  const body = JSON.stringify({
    message: `the request could not be read: ${status.slice(4)}`,
    error_code: 'web_framework_error',
  })
  socket.end(
    `HTTP/1.1 ${status}\r\ncontent-type: ${CONTENT_TYPE.json}\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  )
}

function parseDuration(query: string): number | undefined {
  const text = queryParameter(query, 'duration_secs')
  if (text === undefined) return undefined
  const seconds = /^\+?\d{1,10}$/.test(text) ? Number(text) : Number.NaN
  if (seconds <= 0xffff_ffff) return seconds
  const message = `failed to parse parameter \`duration_secs\`: ${JSON.stringify(text.slice(0, 50))} is no whole number of seconds (u32)`
  throw new LedgerStateError('invalid_request', message)
}

function expectFresh({ latestBlock }: LedgerInfo, seconds: number): void {
  const ledgerSeconds = latestBlock.timestampUsec / 1_000_000n
  if (ledgerSeconds >= BigInt(Math.floor(Date.now() / 1000) - seconds)) return
  const message = `The latest ledger info timestamp is ${ledgerSeconds}s, which is beyond the allowed skew (${seconds}s).`
  throw new LedgerStateError('unhealthy', message)
}
