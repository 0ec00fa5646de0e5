import type { IncomingMessage } from 'node:http'
import { bodyTooLarge, clientLeft, invalidRequest, type RequestError } from '../errors.js'
import { freeBytes } from '../protocol/free-bytes.js'
import { BATCH_LIMITS, ContentLength } from '../protocol/json-body.js'
import type { Admission, AdmittedRequest } from './admission.js'
import type { BodyPacer } from './body-pacer.js'
import { Refusal } from './refusal.js'
import { SMALL_REQUEST_BYTES } from './turn-queue.js'
import type { Upload } from './uploads.js'

/** Size from which a chunk is one of many, so that the socket has more to read. */
const LARGE_CHUNK_BYTES = 32_768
/**
 * Most small chunks of a body. A chunk costs more than its bytes, so a body of more chunks must come in larger ones.
 */
export const MOST_SMALL_CHUNKS = 1_024
export const SMALL_CHUNK_BYTES = 16

/**
 * Receives and discards the rest of a request, one large chunk at a time. Unpaced, a socket would be read 32 times in
 * one turn of the event loop, and many such sockets would hold up others. Does nothing if the request is received
 * already.
 */
export function readOver(request: IncomingMessage, { longBodyPacer }: { readonly longBodyPacer: BodyPacer }): void {
  if (request.readableEnded || request.listenerCount('data') > 0) return
  request.on('data', (chunk: Buffer) => {
    pace(request, chunk, longBodyPacer)
    freeChunk(request, chunk)
  })
}

function pace(request: IncomingMessage, { length }: Buffer, bodyPacer: BodyPacer): boolean {
  if (length < LARGE_CHUNK_BYTES) return false
  request.pause()
  void bodyPacer.pace(length).then(() => request.resume())
  return true
}

function freeChunk(request: IncomingMessage, chunk: Buffer): void {
  if (isOwn(request, chunk)) freeBytes(chunk)
}

/** Whether nothing else refers to a large chunk that was received. */
function isOwn(request: IncomingMessage, chunk: Buffer): boolean {
  return chunk.length >= LARGE_CHUNK_BYTES && request.listenerCount('data') === 1
}

/**
 * Whether the body of a request is so small that it has probably come in with the headers, and is sent as it is. One that
 * a host listens to flows before the next tick.
 */
export function isSmallBody({ request, awaitsContinue }: AdmittedRequest, { bodyLimitBytes }: Admission): boolean {
  const { 'content-length': declared, 'content-encoding': encoding } = request.headers
  if (awaitsContinue || encoding !== undefined || request.readableFlowing) return false
  return Number(declared) <= Math.min(SMALL_REQUEST_BYTES, bodyLimitBytes)
}

/**
 * Takes the body of a request if all of its bytes are in and not read yet; otherwise undefined. The stream of a body that
 * is taken has no end, so the body is left if a host listens for that.
 */
export function takeWholeBody(request: IncomingMessage): Buffer | undefined {
  if (request.readableLength !== Number(request.headers['content-length'])) return undefined
  if (request.listenerCount('end') > 0 || request.listenerCount('close') > 0) return undefined
  return request.read() ?? undefined
}

/**
 * Receives the body of a request, decompressed, into its upload. It counts as held until its upload is released. Returns
 * a promise only if there is a body to wait for; that one never settles if the request is answered before its body is
 * in.
 * @throws `body_too_large`
 */
export function readBody(owner: AdmittedRequest, upload: Upload, admission: Admission): Promise<void> | undefined {
  const { request } = owner
  const { bodyLimitBytes } = admission
  const declaredLength = Number(request.headers['content-length'] ?? 0)
  if (declaredLength > bodyLimitBytes) throw bodyTooLarge.longerThan(bodyLimitBytes)
  // Requests without a body have ended from the start.
  if (request.readableEnded) return undefined
  if (owner.awaitsContinue) owner.response.writeContinue()
  const encoding = request.headers['content-encoding']
  const received = receive(owner, upload, declaredLength, encoding === undefined, admission)
  return encoding === undefined ? received : received.then(() => unpackBody(owner, upload, encoding, admission))
}

/** Collects the chunks of a body, within all limits. */
function receive(
  owner: AdmittedRequest,
  upload: Upload,
  declaredLength: number,
  isPlain: boolean,
  { bodyLimitBytes, bodyPacer, longBodyPacer, uploads }: Admission,
): Promise<void> {
  const { request } = owner
  const { chunks } = upload
  // Counts the content of a body that may be longer than any operation reads. If it is, the rest is not kept, and the
  // body is refused as too long.
  const mayBeLong = declaredLength > BATCH_LIMITS.bytes || request.headers['content-length'] === undefined
  const content = isPlain && mayBeLong ? new ContentLength() : undefined
  let length = 0
  let count = 0
  let isRefused = false
  return new Promise((resolve, reject) => {
    const refuse = (error: RequestError | Refusal): void => {
      isRefused = true
      reject(error)
    }
    // A second closure around `refuse` would keep each body alive until the next collection of the old generation.
    upload.refuse = refuse
    uploads.begin(upload)
    request.on('data', (chunk: Buffer) => {
      const isOver = isRefused || owner.isAnswered
      const isLong = isOver || Math.max(length, declaredLength) > BATCH_LIMITS.bytes
      const isPaused = pace(request, chunk, isLong ? longBodyPacer : bodyPacer)
      // The rest of a refused body is discarded.
      if (isOver) {
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
      if (length > bodyLimitBytes) refuse(bodyTooLarge.longerThan(bodyLimitBytes))
      else if (count > MOST_SMALL_CHUNKS && length < count * SMALL_CHUNK_BYTES)
        refuse(new Refusal(invalidRequest.bodyInCrumbs()))
      else uploads.hold(upload, chunks.heldBytes + (isPaused ? request.readableHighWaterMark : 0))
    })
    request.on('end', () => {
      if (isRefused || owner.isAnswered) return
      chunks.trim()
      uploads.complete(upload, chunks.heldBytes)
      if (isRefused) return
      if (isPlain) upload.body = chunks.bytes
      resolve()
    })
  })
}

async function unpackBody(
  owner: AdmittedRequest,
  upload: Upload,
  encoding: string,
  { unpack, uploads }: Admission,
): Promise<void> {
  // Takes the bytes out of the upload: another thread may still read them when the request is answered.
  const body = await unpack(upload.chunks.take(), encoding)
  if (owner.isAnswered) throw clientLeft()
  uploads.hold(upload, body.length)
  upload.body = body
}
