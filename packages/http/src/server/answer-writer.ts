import { STATUS_CODES } from 'node:http'
import type { LedgerInfo } from '@ledger-state/core'
import type { Ledger } from '@ledger-state/ledger'
import type { Answer } from '../operations/operation.js'
import { chooseEncoding, compress, MIN_COMPRESSED_BYTES } from '../protocol/content-encoding.js'
import { errorToReply } from '../protocol/error-reply.js'
import { CONTENT_TYPE } from '../protocol/media-types.js'
import type { ChainHeaders } from './chain-headers.js'
import type { Exchange } from './exchange.js'

export interface Answered {
  readonly method: string
  readonly url: string
  /** The path as the OpenAPI document has it; `other` where there is none, `unreadable` for what never became a request. */
  readonly route: string
  /** 499 where the client left before its answer. */
  readonly status: number
  /** From the end of the headers on. */
  readonly seconds: number
}

export interface AnswerWriterOptions {
  readonly ledger: Ledger
  readonly chainHeaders: ChainHeaders
  readonly corsHeaders: (origin: string) => readonly string[]
  readonly archivalEndpoint: string | undefined
  readonly isClosing: () => boolean
  readonly onUnexpectedError: (error: unknown, request: { method: string; url: string }) => void
  readonly onAnswered: (exchange: Exchange, status: number) => void
}

const CLIENT_LEFT = 499
const NOTHING: readonly string[] = []

/** Hands answers to their sockets, the first of each exchange; others are ignored. */
export class AnswerWriter {
  readonly #options: AnswerWriterOptions

  constructor(options: AnswerWriterOptions) {
    this.#options = options
  }

  send(exchange: Exchange, answer: Answer): void {
    const { chainHeaders } = this.#options
    const { ledger: described, contentType, body, etag, notModified, cursor, isComplete } = answer
    const known = described === undefined ? this.#latestHeaders() : chainHeaders.of(described)
    const isLarge = body.length >= MIN_COMPRESSED_BYTES
    const headers = this.#commonHeaders(exchange, known, isLarge)
    if (etag !== undefined) headers.push('etag', etag)
    if (isComplete !== undefined) headers.push(chainHeaders.completeName, String(isComplete))
    if (cursor !== undefined) headers.push(chainHeaders.cursorName, cursor)
    const { readVersion } = exchange
    if (readVersion !== undefined) headers.push(chainHeaders.readVersionName, String(readVersion))
    if (notModified) {
      this.#write(exchange, 304, headers, undefined)
      return
    }
    headers.push('content-type', contentType)
    const encoding = isLarge ? chooseEncoding(headerOf(exchange, 'accept-encoding')) : undefined
    if (encoding === undefined) this.#write(exchange, 200, headers, body)
    else {
      compress(typeof body === 'string' ? Buffer.from(body) : body, encoding)
        .then((compressed) => this.#write(exchange, 200, [...headers, 'content-encoding', encoding], compressed))
        .catch((error) => this.sendError(exchange, error))
    }
  }

  sendError(exchange: Exchange, error: unknown): void {
    const { archivalEndpoint, onUnexpectedError } = this.#options
    const { status, headers, body, unexpected } = errorToReply(error, archivalEndpoint)
    const { request, pinned } = exchange
    if (unexpected) onUnexpectedError(error, { method: request.method!, url: request.url! })
    if (exchange.isAnswered) return
    if (status === CLIENT_LEFT) {
      this.#settle(exchange, status)
      exchange.response.destroy()
      return
    }
    const all = this.#commonHeaders(exchange, this.#latestHeaders(pinned), false)
    all.push(...headers, 'content-type', CONTENT_TYPE.json)
    this.#write(exchange, status, all, Buffer.from(body))
  }

  /** Sends an answer that is all headers. */
  sendHeaders(exchange: Exchange, headers: readonly string[]): void {
    this.#write(exchange, 200, [...this.#commonHeaders(exchange, this.#latestHeaders(), false), ...headers], '')
  }

  /** The answer to what never became a request, as it goes over the wire. */
  rawError(error: unknown): { status: number; bytes: Buffer } {
    const { status, body } = errorToReply(error, this.#options.archivalEndpoint)
    const bytes = Buffer.from(body)
    const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`]
    const headers = [...this.#latestHeaders(), 'content-type', CONTENT_TYPE.json]
    headers.push('content-length', String(bytes.length), 'connection', 'close')
    for (let at = 0; at < headers.length; at += 2) lines.push(`${headers[at]}: ${headers[at + 1]}`)
    return { status, bytes: Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), bytes]) }
  }

  #commonHeaders({ route, request, isLast }: Exchange, known: readonly string[], isLarge: boolean): string[] {
    const { corsHeaders, isClosing } = this.#options
    const headers = [...known, 'vary', varyOf(route?.negotiates === true, isLarge)]
    // What is true of the latest version is not for long, and headers tell the state of the ledger in any case.
    if (request.method !== 'POST') headers.push('cache-control', 'no-cache')
    const { origin } = request.headers
    if (origin !== undefined) headers.push(...corsHeaders(origin))
    if (isLast || isClosing()) headers.push('connection', 'close')
    return headers
  }

  #write(exchange: Exchange, status: number, headers: string[], body: string | Uint8Array | undefined): void {
    if (exchange.isAnswered) return
    const { response } = exchange
    if (response.destroyed) {
      this.#settle(exchange, CLIENT_LEFT)
      return
    }
    if (body === undefined) response.writeHead(status, headers).end()
    else {
      headers.push('content-length', String(body.length))
      exchange.answerBytes = body.length
      response.writeHead(status, headers)
      if (body.length < MIN_COMPRESSED_BYTES) response.end(latin1Of(body), 'latin1')
      else response.end(body)
    }
    this.#settle(exchange, status)
  }

  #settle(exchange: Exchange, status: number): void {
    exchange.isAnswered = true
    this.#options.onAnswered(exchange, status)
  }

  /** Nothing where the state is not known: the answer is about another fault, or this is its reason. */
  #latestHeaders(pinned?: LedgerInfo): readonly string[] {
    const { ledger, chainHeaders } = this.#options
    try {
      const info = pinned ?? ledger.info
      return info === undefined ? NOTHING : chainHeaders.of(info)
    } catch {
      return NOTHING
    }
  }
}

/** Any answer can have headers that depend on the origin; pages of others read it only with them. */
function varyOf(negotiates: boolean, isLarge: boolean): string {
  if (negotiates) return isLarge ? 'Accept, Accept-Encoding, Origin' : 'Accept, Origin'
  return isLarge ? 'Accept-Encoding, Origin' : 'Origin'
}

function headerOf({ request }: Exchange, name: string): string | undefined {
  return request.headers[name] as string | undefined
}

/**
 * Most answers are a few bytes. As text they go out in one write with their headers: two buffers in one write cost more
 * than all else that is done for such a request. Latin-1 is one byte a character, whatever the bytes mean.
 */
function latin1Of(body: string | Uint8Array): string {
  return typeof body === 'string' ? body : Buffer.prototype.latin1Slice.call(body, 0, body.length)
}
