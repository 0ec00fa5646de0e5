import type { IncomingMessage, ServerResponse } from 'node:http'
import { limitFunction } from 'p-limit'
import { decompress } from '../protocol/content-encoding.js'
import { BATCH_LIMITS } from '../protocol/json-body.js'
import { BODY_RATE, BodyPacer, LONG_BODY_RATE } from './body-pacer.js'
import { ChunkPool } from './chunk-pool.js'
import { HeldRequests, type ServedLedger } from './held-requests.js'
import type { Limits } from './limits.js'
import { LoadShedder } from './load-shedder.js'
import { TurnQueue } from './turn-queue.js'
import { Uploads } from './uploads.js'

export const CONCURRENT_DECOMPRESSIONS = 4

/** A request whose body is received. */
export interface AdmittedRequest {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** Whether the client sends its body only after `100 Continue`. */
  readonly awaitsContinue: boolean
  readonly isAnswered: boolean
}

/** Decides when the requests of a service are received and worked on, and which are refused. */
export interface Admission {
  /** Requests that wait for a version that is not served yet. */
  readonly held: HeldRequests
  readonly bodyLimitBytes: number
  readonly turns: TurnQueue
  readonly load: LoadShedder
  /** Memory of answers that are built piece by piece. */
  readonly chunks: ChunkPool
  /** Paces bodies that a request may need. */
  readonly bodyPacer: BodyPacer
  /** Paces bodies longer than any request needs, and bytes that come after an answer. */
  readonly longBodyPacer: BodyPacer
  readonly uploads: Uploads
  /**
   * Decompresses a body that has this `Content-Encoding`. It decompresses only a few bodies at a time, so that many
   * small ones that grow large cannot take all memory.
   */
  readonly unpack: (body: Buffer, encoding: string) => Promise<Buffer>
}

/**
 * Creates the admission of a service.
 * @param refresh as in the options of the service
 */
export function createAdmission(limits: Limits, ledger: ServedLedger, refresh?: () => void): Admission {
  const { bodyLimitBytes, maxUploads, maxUploadBytes } = limits
  const turns = new TurnQueue()
  const uploadLimits = { maxUploads, maxUploadBytes: Math.max(maxUploadBytes, 2 * bodyLimitBytes) }
  const unpackedLimitBytes = Math.min(bodyLimitBytes, BATCH_LIMITS.bytes)
  return {
    held: new HeldRequests(limits, ledger, refresh),
    bodyLimitBytes,
    turns,
    load: new LoadShedder(limits),
    chunks: new ChunkPool(),
    bodyPacer: new BodyPacer(turns, BODY_RATE),
    longBodyPacer: new BodyPacer(turns, LONG_BODY_RATE),
    uploads: new Uploads(uploadLimits),
    unpack: limitFunction((body: Buffer, encoding: string) => decompress(body, encoding, unpackedLimitBytes), {
      concurrency: CONCURRENT_DECOMPRESSIONS,
    }),
  }
}
