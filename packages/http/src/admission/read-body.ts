import type { IncomingMessage } from 'node:http'
import { bodyTooLarge, invalidRequest, type RequestError } from '../errors.js'
import { freeBytes } from '../protocol/free-bytes.js'
import { BATCH_LIMITS, ContentLength } from '../protocol/json-body.js'
import type { Admission, AdmittedRequest } from './admission.js'
import type { BodyPacer } from './body-pacer.js'
import { Upload } from './uploads.js'

/** Size from which a chunk is one of many, so that the socket has more to read. */
const LARGE_CHUNK_BYTES = 32_768
/**
 * Most small chunks of a body. A chunk costs more than its bytes, so a body of more chunks must come in larger ones.
 */
export const MOST_SMALL_CHUNKS = 1_024
export const SMALL_CHUNK_BYTES = 16

const NO_BODY = Buffer.alloc(0)

/** Outcomes of receiving a body; one of these functions is called for each request. */
export interface BodyOutcomes<T extends AdmittedRequest> {
  /** Receiving begins. The upload is released when the request is answered. Not called for a request without a body. */
  readonly onUpload: (owner: T, upload: Upload<T>) => void
  /** The whole body is in, decompressed. It is empty if the request has none. */
  readonly onBody: (owner: T, body: Buffer) => void
  /** Answers the request with an error, and keeps its connection. */
  readonly fail: (owner: T, error: unknown) => void
  /** Answers the request with an error, and closes its connection. */
  readonly refuse: (owner: T, error: RequestError) => void
}

/**
 * Receives and discards the rest of a request, one large chunk at a time. Unpaced, a socket would be read 32 times in
 * one turn of the event loop, and many such sockets would hold up others.
 */
export function readOver(request: IncomingMessage, { longBodyPacer }: { readonly longBodyPacer: BodyPacer }): void {
  if (request.readableEnded) return
  request.on('data', (chunk: Buffer) => {
    pace(request, chunk, longBodyPacer)
    freeChunk(request, chunk)
  })
}

function pace(request: IncomingMessage, { length }: Buffer, bodyPacer: BodyPacer): boolean {
  if (length < LARGE_CHUNK_BYTES) return false
  request.pause()
  bodyPacer.pace(length, () => request.resume())
  return true
}

function freeChunk(request: IncomingMessage, chunk: Buffer): void {
  if (isOwn(request, chunk)) freeBytes(chunk)
}

/** Whether nothing else refers to a large chunk that was received. */
function isOwn(request: IncomingMessage, chunk: Buffer): boolean {
  return chunk.length >= LARGE_CHUNK_BYTES && request.listenerCount('data') === 1
}

/** Receives the body of a request. It counts as held until its upload is released. */
export function readBody<T extends AdmittedRequest>(
  owner: T,
  admission: Admission<T>,
  outcomes: BodyOutcomes<T>,
): void {
  const { request } = owner
  const { bodyLimitBytes, bodyPacer, longBodyPacer, uploads } = admission
  const declaredLength = Number(request.headers['content-length'] ?? 0)
  if (declaredLength > bodyLimitBytes) {
    readOver(request, admission)
    outcomes.fail(owner, bodyTooLarge.longerThan(bodyLimitBytes))
    return
  }
  // Requests without a body have ended from the start.
  if (request.readableEnded) {
    outcomes.onBody(owner, NO_BODY)
    return
  }
  if (owner.awaitsContinue) owner.response.writeContinue()
  const upload = new Upload(owner)
  const { chunks } = upload
  outcomes.onUpload(owner, upload)
  uploads.begin(upload)
  const encoding = request.headers['content-encoding']
  // Counts the content. If it is longer than any operation reads, the rest is not kept, and the body is refused as too
  // long.
  const content = encoding === undefined ? new ContentLength() : undefined
  let length = 0
  let count = 0
  request.on('data', (chunk: Buffer) => {
    const isLong = owner.isAnswered || Math.max(length, declaredLength) > BATCH_LIMITS.bytes
    const isPaused = pace(request, chunk, isLong ? longBodyPacer : bodyPacer)
    // The rest of a refused body is discarded.
    if (owner.isAnswered) {
      freeChunk(request, chunk)
      return
    }
    length += chunk.length
    count++
    const isKept = content === undefined || content.bytes <= BATCH_LIMITS.bytes
    if (isKept) chunks.add(chunk, isOwn(request, chunk))
    content?.add(chunk)
    // The first chunk is kept without a copy.
    if (count > 1) freeChunk(request, chunk)
    if (length > bodyLimitBytes) outcomes.fail(owner, bodyTooLarge.longerThan(bodyLimitBytes))
    else if (count > MOST_SMALL_CHUNKS && length < count * SMALL_CHUNK_BYTES) {
      outcomes.refuse(owner, invalidRequest.bodyInCrumbs())
    } else uploads.hold(upload, chunks.heldBytes + (isPaused ? request.readableHighWaterMark : 0))
  })
  request.on('end', () => {
    if (owner.isAnswered) return
    chunks.trim()
    uploads.complete(upload, chunks.heldBytes)
    if (owner.isAnswered) return
    if (encoding === undefined) outcomes.onBody(owner, chunks.bytes)
    else unpackBody(upload, encoding, admission, outcomes)
  })
}

function unpackBody<T extends AdmittedRequest>(
  upload: Upload<T>,
  encoding: string,
  { unpack, uploads }: Admission<T>,
  { onBody, fail }: BodyOutcomes<T>,
): void {
  const { owner, chunks } = upload
  // Takes the bytes out of the upload: another thread may still read them when the request is answered.
  unpack(chunks.take(), encoding)
    .then((body) => {
      if (owner.isAnswered) return
      uploads.hold(upload, body.length)
      onBody(owner, body)
    })
    .catch((error) => fail(owner, error))
}
