import type { IncomingMessage } from 'node:http'
import { bodyInCrumbs, bodyTooLarge } from '../errors.js'
import { freeBytes } from '../protocol/free-bytes.js'
import { BATCH_LIMITS, ContentLength } from '../protocol/json-body.js'
import { refuse, sendError } from './answer-writer.js'
import { ChunkCollector } from './chunk-collector.js'
import type { Exchange } from './exchange.js'
import type { Intake } from './intake.js'

/** A chunk of this size is one of many: the socket has more to read. */
const LARGE_CHUNK_BYTES = 32_768
/** A chunk costs more than its bytes. Bodies of more chunks than these have to come in larger ones. */
const MOST_SMALL_CHUNKS = 1_024
const SMALL_CHUNK_BYTES = 16

/**
 * Receives what a request sends after its answer, one large chunk at a time: unpaced, a socket is read 32 times in one
 * turn of the event loop, and many of them hold the others up.
 */
export function readOver({ request, context }: Exchange): void {
  if (request.readableEnded) return
  request.on('data', (chunk: Buffer) => {
    pace(request, chunk, context.longIntake)
    freeChunk(request, chunk)
  })
}

function pace(request: IncomingMessage, { length }: Buffer, intake: Intake): boolean {
  if (length < LARGE_CHUNK_BYTES) return false
  request.pause()
  intake.pace(length, () => request.resume())
  return true
}

function freeChunk(request: IncomingMessage, chunk: Buffer): void {
  if (isOwn(request, chunk)) freeBytes(chunk)
}

/** Whether nobody else has received a large chunk. */
function isOwn(request: IncomingMessage, chunk: Buffer): boolean {
  return chunk.length >= LARGE_CHUNK_BYTES && request.listenerCount('data') === 1
}

/** Receives the body of a request. It counts as held until its exchange is answered. */
export function readBody(exchange: Exchange, onBody: (exchange: Exchange) => void): void {
  const { request, context } = exchange
  const { bodyLimitBytes, intake, longIntake, uploads } = context
  const told = Number(request.headers['content-length'] ?? 0)
  if (told > bodyLimitBytes) {
    readOver(exchange)
    sendError(exchange, bodyTooLarge(bodyLimitBytes))
    return
  }
  // Requests without a body have ended from the start.
  if (request.readableEnded) {
    onBody(exchange)
    return
  }
  if (exchange.awaitsContinue) exchange.response.writeContinue()
  const chunks = new ChunkCollector()
  exchange.chunks = chunks
  uploads.begin(exchange)
  const encoding = request.headers['content-encoding']
  // Content that is longer than any operation reads: what follows is not kept, and the body is too long without it.
  const content = encoding === undefined ? new ContentLength() : undefined
  let length = 0
  let count = 0
  request.on('data', (chunk: Buffer) => {
    const isLong = exchange.isAnswered || Math.max(length, told) > BATCH_LIMITS.bytes
    const isPaused = pace(request, chunk, isLong ? longIntake : intake)
    // What follows a refusal is read over.
    if (exchange.isAnswered) {
      freeChunk(request, chunk)
      return
    }
    length += chunk.length
    count++
    const isKept = content === undefined || content.bytes <= BATCH_LIMITS.bytes
    if (isKept) chunks.add(chunk, isOwn(request, chunk))
    content?.add(chunk)
    // The first one is kept as it is.
    if (count > 1) freeChunk(request, chunk)
    if (length > bodyLimitBytes) sendError(exchange, bodyTooLarge(bodyLimitBytes))
    else if (count > MOST_SMALL_CHUNKS && length < count * SMALL_CHUNK_BYTES) {
      refuse(exchange, bodyInCrumbs())
    } else uploads.hold(exchange, chunks.heldBytes + (isPaused ? request.readableHighWaterMark : 0))
  })
  request.on('end', () => {
    if (exchange.isAnswered) return
    chunks.trim()
    uploads.complete(exchange, chunks.heldBytes)
    if (exchange.isAnswered) return
    if (encoding === undefined) {
      exchange.body = chunks.bytes
      onBody(exchange)
    } else {
      // Another thread may still read it when the exchange is over.
      exchange.body = chunks.take()
      unpackBody(exchange, encoding, onBody)
    }
  })
}

function unpackBody(exchange: Exchange, encoding: string, onBody: (exchange: Exchange) => void): void {
  const { unpack, uploads } = exchange.context
  unpack(exchange.body, encoding)
    .then((body) => {
      if (exchange.isAnswered) return
      exchange.body = body
      uploads.hold(exchange, body.length)
      onBody(exchange)
    })
    .catch((error) => sendError(exchange, error))
}
