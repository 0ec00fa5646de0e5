import { type ServerResponse, STATUS_CODES } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import { isLedgerStateError } from '@ledger-state/core'
import type { LedgerSummary } from '@ledger-state/engine'
import { Refusal } from '../admission/refusal.js'
import { LARGE_ANSWER_BYTES } from '../admission/unread-answers.js'
import { overloaded, type RequestError } from '../errors.js'
import type { Answer, AnswerBody, AnswerRest, FactName } from '../operations/parts/operation.js'
import { chunksOf } from '../protocol/chunked-bytes.js'
import { type ContentEncoding, chooseEncoding, compress, MIN_COMPRESSED_BYTES } from '../protocol/content-encoding.js'
import { CLIENT_LEFT, errorToReply } from '../protocol/error-reply.js'
import { CONTENT_TYPE } from '../protocol/media-types.js'
import type { Exchange, ServiceContext } from './exchange.js'

// Hands answers to their sockets. Only the first answer of an exchange is sent; later ones are ignored.

/** Most memory of an answer that is sent as it comes: its beginning, and a chunk. */
const STREAM_BYTES = 192 << 10
/** Memory of an answer that follows the ledger: its buffers, and a chunk. */
const LIVE_BYTES = 64 << 10
const NOTHING: readonly string[] = []

/** Sends an answer. Returns a promise if it is compressed or sent as it comes. */
export function sendAnswer(exchange: Exchange, answer: Answer): Promise<void> | undefined {
  const { context, request, running } = exchange
  if (!running) return undefined
  const { readVersion } = running
  const { chainHeaders } = context
  const { ledger, contentType, body, etag, notModified, cursor, isComplete, facts, headers: further } = answer
  const { status = 200, chainState, rest } = answer
  const known = chainState ?? (ledger === undefined ? latestHeaders(context) : chainHeaders.of(ledger))
  const isLarge = body.length >= MIN_COMPRESSED_BYTES
  const headers = commonHeaders(exchange, known, isLarge)
  if (etag !== undefined) headers.push('etag', etag)
  if (isComplete !== undefined) headers.push(chainHeaders.completeName, String(isComplete))
  if (facts) {
    for (const [name, value] of Object.entries(facts)) headers.push(chainHeaders.factNames[name as FactName], value)
  }
  if (cursor !== undefined) for (const name of chainHeaders.cursorNames) headers.push(name, cursor)
  if (readVersion !== undefined) headers.push(chainHeaders.readVersionName, String(readVersion))
  if (further !== undefined) headers.push(...further)
  if (notModified) {
    write(exchange, 304, headers, undefined)
    return undefined
  }
  headers.push('content-type', contentType)
  if (rest) return stream(exchange, status, headers, body, rest)
  const encoding = isLarge ? chooseEncoding(request.headers['accept-encoding'] as string | undefined) : undefined
  if (encoding !== undefined) return sendCompressed(exchange, status, headers, body, encoding)
  write(exchange, status, headers, body)
  return undefined
}

async function sendCompressed(
  exchange: Exchange,
  status: number,
  headers: readonly string[],
  body: AnswerBody,
  encoding: ContentEncoding,
): Promise<void> {
  // Other answers begin while this one is compressed.
  const ownHeaders = [...headers, 'content-encoding', encoding]
  const memory = exchange.running?.memory
  const compressing = compress(chunksOf(body), encoding)
  const compressed = await (memory ? memory.whileRead(compressing) : compressing)
  // Only the compressed bytes wait for the client.
  memory?.release()
  memory?.free()
  write(exchange, status, ownHeaders, compressed)
}

/** Sends an error. A `Refusal` closes the connection after its answer. */
export function sendError(exchange: Exchange, error: unknown): void {
  if (error instanceof Refusal) refuse(exchange, error.reason)
  else answerWithError(exchange, error, false)
}

/** Answers with an error and closes the connection. */
export function refuse(exchange: Exchange, error: RequestError): void {
  answerWithError(exchange, error, true)
}

function answerWithError(exchange: Exchange, error: unknown, isLast: boolean): void {
  const { context, request, running } = exchange
  const { status, headers, body, unexpected } = errorToReply(error, context.archivalEndpoint)
  if (unexpected) context.onUnexpectedError?.(error, { method: request.method!, url: request.url! })
  if (exchange.isAnswered) return
  running?.memory?.free()
  if (isLast) exchange.response.shouldKeepAlive = false
  if (status === CLIENT_LEFT) {
    settle(exchange, status)
    exchange.response.destroy()
    return
  }
  const all = commonHeaders(exchange, latestHeaders(context, running?.pinned), false)
  const readVersion = running?.readVersion
  if (readVersion !== undefined) all.push(context.chainHeaders.readVersionName, String(readVersion))
  all.push(...headers, 'content-type', CONTENT_TYPE.json)
  write(exchange, status, all, Buffer.from(body))
}

/** Sends an answer without a body. */
export function sendHeaders(exchange: Exchange, headers: readonly string[]): void {
  write(exchange, 200, [...commonHeaders(exchange, latestHeaders(exchange.context), false), ...headers], '')
}

/** The bytes of the answer to something that never became a request. */
export function unreadableAnswer(context: ServiceContext, error: unknown): Buffer {
  const { status, headers: ofError, body } = errorToReply(error, context.archivalEndpoint)
  const bytes = Buffer.from(body)
  const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`]
  const headers = [...latestHeaders(context), ...ofError, 'content-type', CONTENT_TYPE.json]
  headers.push('content-length', String(bytes.length), 'connection', 'close')
  for (let at = 0; at < headers.length; at += 2) lines.push(`${headers[at]}: ${headers[at + 1]}`)
  context.onAnswered?.({ method: '', url: '', route: 'unreadable', status, seconds: 0 })
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), bytes])
}

/** Headers that answers of all kinds have. The list is the caller's until the next answer begins. */
function commonHeaders(exchange: Exchange, known: readonly string[], isLarge: boolean): string[] {
  const { context, request, route } = exchange
  const vary = varyOf(route?.negotiates === true, isLarge)
  const headers = context.commonHeads.take(known, vary, request.method === 'POST')
  const { origin } = request.headers
  if (origin !== undefined) headers.push(...context.corsHeaders(origin))
  return headers
}

/**
 * Value of `Vary`. An answer can have headers that depend on the origin; pages of other origins read it only with them.
 */
function varyOf(negotiates: boolean, isLarge: boolean): string {
  if (negotiates) return isLarge ? 'Accept, Accept-Encoding, Origin' : 'Accept, Origin'
  return isLarge ? 'Accept-Encoding, Origin' : 'Origin'
}

/** The chain-state headers of the latest version; empty if the ledger cannot be read, whatever the answer is about. */
function latestHeaders({ ledger, chainHeaders }: ServiceContext, pinned?: LedgerSummary): readonly string[] {
  try {
    const info = pinned ?? ledger.info
    return info === undefined ? NOTHING : chainHeaders.of(info)
  } catch {
    return NOTHING
  }
}

function write(exchange: Exchange, status: number, headers: string[], body: AnswerBody | undefined): void {
  if (exchange.isAnswered) return
  const { response } = exchange
  if (response.destroyed) {
    settle(exchange, CLIENT_LEFT)
    return
  }
  if (body === undefined) {
    writeHead(exchange, status, headers)
    response.end()
  } else {
    if (body.length >= LARGE_ANSWER_BYTES && !isHeld(exchange, body)) {
      sendError(exchange, overloaded())
      return
    }
    headers.push('content-length', String(body.length))
    writeHead(exchange, status, headers)
    if (body.length < MIN_COMPRESSED_BYTES) response.end(latin1Of(body), 'latin1')
    else if (body.length < LARGE_ANSWER_BYTES) {
      // A copy, so that the memory in which the body was built is freed at once.
      response.end(Buffer.concat(chunksOf(body)))
      exchange.running?.memory?.free()
    } else if (typeof body !== 'string' && 'chunks' in body) void writeChunks(response, body.chunks)
    else response.end(body)
  }
  settle(exchange, status)
}

/** Sends a long body as fast as its client reads. If the system takes all of it at once, others still have turns between. */
async function writeChunks(response: ServerResponse, chunks: readonly Uint8Array[]): Promise<void> {
  for (const chunk of chunks.slice(0, -1)) {
    await writeChunk(response, chunk)
    await setImmediate()
    if (response.destroyed) return
  }
  response.end(chunks.at(-1))
}

/**
 * Writes the head of an answer. Says that the connection is closed after the answer if the server has begun to close,
 * perhaps while the answer was being compressed.
 */
function writeHead({ context, response }: Exchange, status: number, headers: string[]): void {
  if (context.isClosing()) response.shouldKeepAlive = false
  if (!response.shouldKeepAlive) headers.push('connection', 'close')
  response.writeHead(status, headers)
}

/**
 * Sends an answer as it comes, as fast as its client reads. If it cannot be sent whole, the connection is closed,
 * because the client could not see otherwise that the answer is incomplete.
 */
async function stream(
  exchange: Exchange,
  status: number,
  headers: string[],
  body: AnswerBody,
  { chunks, late, isLive = false }: AnswerRest,
): Promise<void> {
  const { response } = exchange
  if (exchange.isAnswered) return
  if (response.destroyed) {
    settle(exchange, CLIENT_LEFT)
    return
  }
  if (!(isLive ? isRoomForLive(exchange) : isRoomFor(exchange, STREAM_BYTES))) {
    sendError(exchange, overloaded())
    return
  }
  late.addEventListener('abort', () => response.destroy(), { once: true })
  writeHead(exchange, status, headers)
  settle(exchange, status)
  // An answer to HEAD has no body. The end of the response cancels the source of the rest.
  if (exchange.request.method === 'HEAD') {
    response.end()
    return
  }
  try {
    for (const chunk of chunksOf(body)) await writeChunk(response, chunk)
    for await (const chunk of chunks) {
      await writeChunk(response, chunk)
      if (response.destroyed) return
    }
    response.end()
  } catch {
    response.destroy()
  }
}

/** Writes a chunk. Resolves when the system has taken it, or the client has left. */
function writeChunk(response: ServerResponse, chunk: Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('close', done)
      resolve()
    }
    response.on('close', done)
    response.write(chunk, done)
  })
}

/**
 * Bytes of memory of a body, including reserved ones. If it is a small part of a larger block, only the part counts.
 */
function memoryOf(body: AnswerBody): number {
  if (typeof body === 'string') return body.length
  return 'chunks' in body ? body.capacity : Math.min(body.buffer.byteLength, 2 * body.length)
}

/** Counts a large answer until it is read. Returns false if it would take too much memory. */
function isHeld(exchange: Exchange, body: AnswerBody): boolean {
  const memory = exchange.running?.memory
  memory?.freeOthers(body)
  memory?.release()
  if (!isRoomFor(exchange, memoryOf(body))) return false
  if (memory) exchange.response.on('close', () => memory.free())
  return true
}

function isRoomFor({ context, response }: Exchange, bytes: number): boolean {
  try {
    context.admission.load.holdUntilRead(response, bytes)
    return true
  } catch (error) {
    if (isLedgerStateError(error, 'overloaded')) return false
    throw error
  }
}

/**
 * Counts the memory of an answer that follows the ledger. It is not among the unread ones, which may be dropped: its
 * client may have nothing to read.
 */
function isRoomForLive({ context, response }: Exchange): boolean {
  const { load } = context.admission
  try {
    load.hold(LIVE_BYTES)
  } catch (error) {
    if (isLedgerStateError(error, 'overloaded')) return false
    throw error
  }
  response.on('close', () => load.release(LIVE_BYTES))
  return true
}

/**
 * A body as a Latin-1 text. Most answers are a few bytes; as text they go out in one write with their headers, while
 * two buffers in one write cost more than everything else for such a request. Latin-1 is one byte a character, whatever
 * the bytes mean.
 */
function latin1Of(body: AnswerBody): string {
  if (typeof body === 'string') return body
  const bytes = 'chunks' in body ? Buffer.concat(body.chunks) : body
  return Buffer.prototype.latin1Slice.call(bytes, 0, bytes.length)
}

/** Ends the exchange and reports its status. */
export function settle(exchange: Exchange, status: number): void {
  const { context, request, route, arrivedAt } = exchange
  const { onAnswered } = context
  const answeredAt = exchange.end()
  onAnswered?.({
    method: request.method!,
    url: request.url!,
    route: route?.path ?? 'other',
    status,
    seconds: (answeredAt - arrivedAt) / 1_000,
  })
}
