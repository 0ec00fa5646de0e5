import type { ServerResponse } from 'node:http'
import type { LedgerInfo } from '@ledger-state/core'
import type { Ledger } from '@ledger-state/ledger'
import { CONTENT_TYPE } from './accept.js'
import type { ChainHeaders } from './chain-headers.js'
import { chooseEncoding, compress, MIN_COMPRESSED_BYTES } from './encoding.js'
import { errorToReply } from './error-table.js'
import type { Exchange } from './exchange.js'
import type { Answer, Operation } from './operation.js'

export interface Answered {
  readonly method: string
  readonly url: string
  /** The path as the OpenAPI document has it; `other` where there is none, `unreadable` for what never became a request. */
  readonly route: string
  readonly status: number
  /** From the end of the headers on. */
  readonly seconds: number
}

export interface AnswerWriterOptions {
  readonly ledger: Ledger
  readonly chainHeaders: ChainHeaders
  readonly archivalEndpoint: string | undefined
  readonly onUnexpectedError: (error: unknown, request: { method: string; url: string }) => void
  readonly onAnswered: ((answered: Answered) => void) | undefined
}

type Headers = Readonly<Record<string, string>>

const NO_HEADERS: Headers = {}

/** Hands answers to their sockets. `more` are headers that one is to have besides its own. */
export interface AnswerWriter {
  /** Has an operation done, and sends its answer or its error. */
  answer(
    operation: Operation,
    exchange: Exchange,
    params: Exchange['params'],
    body: Buffer | undefined,
    more?: Headers,
  ): void
  sendError(exchange: Exchange, error: unknown, more?: Headers): void
  sendBody(exchange: Exchange, headers: Headers, body: string | Uint8Array): void
}

export function createAnswerWriter({
  ledger,
  chainHeaders,
  archivalEndpoint,
  onUnexpectedError,
  onAnswered,
}: AnswerWriterOptions): AnswerWriter {
  function tellAnswered({ request, route, arrivedAt }: Exchange, status: number): void {
    if (!onAnswered) return
    onAnswered({
      method: request.method!,
      url: request.url!,
      route,
      status,
      seconds: (performance.now() - arrivedAt) / 1_000,
    })
  }

  function answer(
    operation: Operation,
    exchange: Exchange,
    params: Exchange['params'],
    body: Buffer | undefined,
    more = NO_HEADERS,
  ): void {
    exchange.route = operation.path
    exchange.params = params
    exchange.body = body
    let found: Answer
    try {
      found = operation.handle(exchange)
    } catch (error) {
      sendError(exchange, error, more)
      return
    }
    sendAnswer(exchange, found, more)
  }

  function sendAnswer(exchange: Exchange, answer: Answer, more: Headers): void {
    const { ledger: described, format, body, etag, notModified } = answer
    if (etag === undefined && body.length < MIN_COMPRESSED_BYTES && more === NO_HEADERS) {
      writeSmall(exchange.response, chainHeaders.listOf(described), CONTENT_TYPE[format], body)
      tellAnswered(exchange, 200)
      return
    }
    const tag = etag === undefined ? {} : { etag, 'cache-control': 'no-cache' }
    if (!notModified) {
      const headers = { ...chainHeaders.of(described), ...more, ...tag, 'content-type': CONTENT_TYPE[format] }
      sendBody(exchange, headers, body)
      return
    }
    exchange.response.writeHead(304, { ...chainHeaders.of(described), ...more, ...tag }).end()
    tellAnswered(exchange, 304)
  }

  function sendError(exchange: Exchange, error: unknown, more = NO_HEADERS): void {
    const { status, headers, body, unexpected } = errorToReply(error, archivalEndpoint)
    const { request, response, pinned } = exchange
    if (unexpected) onUnexpectedError(error, { method: request.method!, url: request.url! })
    const known = pinned ?? ledgerInfoOrUndefined(ledger)
    const bytes = Buffer.from(body)
    response
      .writeHead(status, {
        ...(known && chainHeaders.of(known)),
        ...more,
        ...headers,
        'content-type': CONTENT_TYPE.json,
        'content-length': bytes.length,
      })
      .end(bytes)
    tellAnswered(exchange, status)
  }

  /** Sends a body, packed where it is large enough and the client takes it so. */
  function sendBody(exchange: Exchange, headers: Headers, body: string | Uint8Array): void {
    const bytes = typeof body === 'string' ? Buffer.from(body) : Buffer.from(body.buffer, body.byteOffset, body.length)
    const write = (content: Buffer, more: Headers): void => {
      exchange.response.writeHead(200, { ...headers, ...more, 'content-length': content.length }).end(content)
      tellAnswered(exchange, 200)
    }
    if (bytes.length < MIN_COMPRESSED_BYTES) {
      write(bytes, NO_HEADERS)
      return
    }
    const vary = { vary: headers.vary === undefined ? 'accept-encoding' : `${headers.vary}, accept-encoding` }
    const encoding = chooseEncoding(exchange.request.headers['accept-encoding'] as string | undefined)
    if (encoding === undefined) write(bytes, vary)
    else {
      compress(bytes, encoding).then(
        (packed) => write(packed, { ...vary, 'content-encoding': encoding }),
        (error) => sendError(exchange, error),
      )
    }
  }

  return { answer, sendError, sendBody }
}

/**
 * Writes what most answers are, a few bytes under the headers that all have, as one string with them: two buffers in one
 * write cost more than all else that is done for such a request.
 */
function writeSmall(
  response: ServerResponse,
  chainHeaders: readonly string[],
  contentType: string,
  body: string | Uint8Array,
): void {
  const headers = [...chainHeaders, 'content-type', contentType, 'content-length', String(body.length)]
  response.writeHead(200, headers)
  // Latin-1 is one byte a character, whatever the bytes mean.
  const text = typeof body === 'string' ? body : Buffer.prototype.latin1Slice.call(body, 0, body.length)
  response.end(text, 'latin1')
}

function ledgerInfoOrUndefined(ledger: Ledger): LedgerInfo | undefined {
  try {
    return ledger.info
  } catch {
    // The answer is about another fault, or this one is its reason: it goes out without the headers.
    return undefined
  }
}
