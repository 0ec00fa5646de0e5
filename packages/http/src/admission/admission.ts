import { limitFunction } from 'p-limit'
import { decompress } from '../protocol/content-encoding.js'
import { BATCH_LIMITS } from '../protocol/json-body.js'
import { BODY_RATE, BodyPacer, LONG_BODY_RATE } from './body-pacer.js'
import type { Limits } from './limits.js'
import { LoadShedder } from './load-shedder.js'
import { TurnQueue } from './turn-queue.js'
import { Uploads } from './uploads.js'

export const CONCURRENT_DECOMPRESSIONS = 4

/** What decides when the requests of a service are received and worked on, and which of them are refused. */
export interface Admission<T> {
  readonly bodyLimitBytes: number
  readonly turns: TurnQueue
  readonly load: LoadShedder
  /** Paces bodies that a request may need. */
  readonly bodyPacer: BodyPacer
  /** Paces bodies that are longer than any request needs, and what comes after an answer. */
  readonly longBodyPacer: BodyPacer
  readonly uploads: Uploads<T>
  /**
   * Decompresses a body that has this `Content-Encoding`. A few bodies are decompressed at one time: many small ones that
   * grow large cannot take all memory.
   */
  readonly unpack: (body: Buffer, encoding: string) => Promise<Buffer>
}

/** @param refuseUpload answers a request whose body takes too much memory */
export function createAdmission<T>(limits: Limits, refuseUpload: (owner: T) => void): Admission<T> {
  const { bodyLimitBytes, maxUploads, maxUploadBytes } = limits
  const turns = new TurnQueue()
  const uploadLimits = { maxUploads, maxUploadBytes: Math.max(maxUploadBytes, 2 * bodyLimitBytes) }
  const unpackedLimitBytes = Math.min(bodyLimitBytes, BATCH_LIMITS.bytes)
  return {
    bodyLimitBytes,
    turns,
    load: new LoadShedder(limits),
    bodyPacer: new BodyPacer(turns, BODY_RATE),
    longBodyPacer: new BodyPacer(turns, LONG_BODY_RATE),
    uploads: new Uploads(uploadLimits, refuseUpload),
    unpack: limitFunction((body: Buffer, encoding: string) => decompress(body, encoding, unpackedLimitBytes), {
      concurrency: CONCURRENT_DECOMPRESSIONS,
    }),
  }
}
