import type { Buffer } from 'node:buffer'
import { answerText, failureOf, type HttpAnswer, type RequestFailure, textOfFailure } from '@ledger-state/core/requests'
import { invalidBackup, sourceFailed } from '../errors.js'
import type { ByteRange } from '../files/backup-storage.js'
import { viewAsBuffer } from '../view-as-buffer.js'
import type { BucketRequests } from './bucket-requests.js'

/** An object to be read. */
export interface WantedObject {
  readonly url: string
  /** The object as messages name it. */
  readonly place: string
  /** Length that a listing gave the object. */
  readonly listedBytes?: number | undefined
}

/** Values that stay the same as long as an object does; undefined if answers do not give them. */
interface Identity {
  readonly etag?: string | undefined
  readonly modified?: string | undefined
  /** Length of the whole object as it is stored. */
  readonly bytes?: number | undefined
}

/**
 * Reads the bytes of an object, or of a range of it. A transfer that is cut continues at the same byte, by `Range`, and
 * by `If-Match` if the server sends an ETag. If the server answers with the whole object instead, the bytes that came
 * before are skipped.
 * @throws `source_failed`, even if the object changed meanwhile; `invalid_backup` if it does not exist
 */
export async function* readObject(
  requests: BucketRequests,
  object: WantedObject,
  range: ByteRange,
): AsyncGenerator<Buffer, void> {
  const transfer = new ObjectTransfer(requests, object, range)
  const attempts = requests.attempts(object.url)
  while (!transfer.isDone) {
    let failure: RequestFailure | undefined
    for await (const piece of transfer.attempt((why) => (failure = why))) {
      attempts.progressed()
      yield piece
    }
    if (failure) await attempts.failed(failure)
  }
}

class ObjectTransfer {
  isDone: boolean
  readonly #requests: BucketRequests
  readonly #object: WantedObject
  readonly #to: number
  /** Offset of the next byte to read. */
  #at: number
  #identity: Identity
  /**
   * Whether answers have a `Content-Encoding`, which `fetch` unpacks. Then their lengths are not the lengths of the
   * decoded bytes, and a transfer cannot continue in the middle.
   */
  #isEncoded = false

  constructor(requests: BucketRequests, object: WantedObject, { from, to = Number.POSITIVE_INFINITY }: ByteRange) {
    this.#requests = requests
    this.#object = object
    this.#at = from
    this.#to = to
    this.#identity = { bytes: object.listedBytes }
    this.isDone = from >= this.#end
  }

  /** Offset after the last byte to read, as far as it is known. */
  get #end(): number {
    const { bytes = Number.POSITIVE_INFINITY } = this.#identity
    return this.#isEncoded ? this.#to : Math.min(this.#to, bytes)
  }

  /** Makes one request, and yields the bytes it brings. */
  async *attempt(onFailure: (failure: RequestFailure) => void): AsyncGenerator<Buffer, void> {
    const answer = await this.#requests.ask(this.#object.url, this.#headers())
    if ('why' in answer) return onFailure(answer)
    if (this.#isBeyondEnd(answer)) {
      await answer.drop()
      this.isDone = true
      return
    }
    await this.#expectObject(answer)
    this.#isEncoded ||= isEncoded(answer)
    this.#expectSame(answer)
    const start = startOf(answer)
    if (start > this.#at || (this.#isEncoded && start > 0)) {
      await answer.drop()
      return onFailure({ why: 'another range was answered than was asked for', retryAfterMs: 0 })
    }
    yield* this.#take(answer, start, onFailure)
  }

  async *#take(
    answer: HttpAnswer,
    start: number,
    onFailure: (failure: RequestFailure) => void,
  ): AsyncGenerator<Buffer, void> {
    let reached = start
    try {
      for await (const piece of answer.pieces()) {
        const [from, to] = [Math.max(0, this.#at - reached), Math.max(0, this.#end - reached)]
        const part = piece.subarray(from, to)
        reached += piece.length
        this.#at += part.length
        if (part.length > 0) yield viewAsBuffer(part)
        if (this.#at === this.#to) break
      }
    } catch (error) {
      if (this.#at !== this.#end) return onFailure(failureOf(error))
    }
    if (this.#at !== this.#to && reached > this.#end)
      throw sourceFailed.objectChanged(this.#object.place, `${reached} bytes came`)
    this.isDone = this.#isEncoded || this.#at === this.#end || this.#end === Number.POSITIVE_INFINITY
    if (!this.isDone) onFailure({ why: `the answer ended at byte ${reached} of ${this.#end}`, retryAfterMs: 0 })
  }

  #headers(): Record<string, string> {
    // An object stored with an encoding is then sent as it is stored, and `fetch` unpacks it.
    const headers: Record<string, string> = { 'accept-encoding': 'gzip' }
    const { etag } = this.#identity
    if (etag && !etag.startsWith('W/')) headers['if-match'] = etag
    const to = this.#to === Number.POSITIVE_INFINITY ? '' : this.#to - 1
    if (!this.#isEncoded && (this.#at > 0 || to !== '')) headers.range = `bytes=${this.#at}-${to}`
    return headers
  }

  /** Whether the transfer begins at the end of an object of unknown length. */
  #isBeyondEnd({ status, headers }: HttpAnswer): boolean {
    const bytes = /^bytes \*\/(\d+)$/.exec(headers.get('content-range') ?? '')?.[1]
    return status === 416 && this.#identity.bytes === undefined && bytes !== undefined && Number(bytes) <= this.#at
  }

  async #expectObject(answer: HttpAnswer): Promise<void> {
    const { status } = answer
    if (status === 200 || status === 206) return
    const { url, place } = this.#object
    const fault = answerText(await textOfFailure(answer).catch(() => ''), answer.headers)
    if (status === 401 || status === 403) throw sourceFailed.accessDenied(`${place} cannot be read`, status, fault)
    if (status === 404) throw invalidBackup.missingObject(place)
    if (status === 412) throw sourceFailed.objectChanged(place, 'its ETag has changed')
    if (status === 416) throw sourceFailed.objectChanged(place, `it ends before byte ${this.#at}`)
    throw sourceFailed.unexpectedStatus(url, status, fault)
  }

  #expectSame(answer: HttpAnswer): void {
    const [held, now] = [this.#identity, identityOf(answer)]
    const { place } = this.#object
    if (isOther(held.etag, now.etag)) throw sourceFailed.objectChanged(place, 'its ETag has changed')
    if (!held.etag && isOther(held.modified, now.modified)) throw sourceFailed.objectChanged(place, 'it was modified')
    if (!this.#isEncoded && isOther(held.bytes, now.bytes)) {
      throw sourceFailed.objectChanged(place, `it has ${now.bytes} bytes, it had ${held.bytes}`)
    }
    this.#identity = {
      etag: held.etag ?? now.etag,
      modified: held.modified ?? now.modified,
      bytes: held.bytes ?? now.bytes,
    }
  }
}

function isOther(held: string | number | undefined, now: string | number | undefined): boolean {
  return held !== undefined && now !== undefined && held !== now
}

function isEncoded({ headers }: HttpAnswer): boolean {
  return !['identity', ''].includes((headers.get('content-encoding') ?? '').trim().toLowerCase())
}

function identityOf(answer: HttpAnswer): Identity {
  const { status, headers } = answer
  const length = status === 206 ? contentRange(answer)?.bytes : headers.get('content-length')
  return {
    etag: headers.get('etag') ?? undefined,
    modified: headers.get('last-modified') ?? undefined,
    bytes: length && !isEncoded(answer) ? Number(length) : undefined,
  }
}

/** Offset in the object of the first byte of an answer. */
function startOf(answer: HttpAnswer): number {
  return answer.status === 206 ? (contentRange(answer)?.start ?? Number.POSITIVE_INFINITY) : 0
}

function contentRange({
  headers,
}: HttpAnswer): { readonly start: number; readonly bytes: string | undefined } | undefined {
  const [, start, bytes] = /^bytes (\d+)-\d+\/(?:(\d+)|\*)$/.exec(headers.get('content-range') ?? '') ?? []
  return start === undefined ? undefined : { start: Number(start), bytes }
}
