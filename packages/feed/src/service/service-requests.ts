import type { Buffer } from 'node:buffer'
import { isLedgerStateError } from '@ledger-state/core'
import { answerText, bodyOfAnswer, failureOf, type RequestFailure } from '@ledger-state/core/requests'
import { type BucketRequestOptions, BucketRequests } from '../buckets/bucket-requests.js'
import { serviceRefused, sourceFailed } from '../errors.js'
import { MAX_RECORD_BYTES } from '../files/record-file.js'
import { viewAsBuffer } from '../view-as-buffer.js'
import { RecordCount } from './record-count.js'

/** Most bytes of an answer that is no list of records: a count, or a proof with the validators of an epoch. */
const MOST_SMALL_BYTES = 16 * 1024 * 1024
/** Most bytes of a list of records: the records of a chunk have about 50 MB. */
const MOST_RECORDS_BYTES = 4 * 1024 * 1024 * 1024

/** Status with which the service answers a request for something it does not have, unless the answer is a stream. */
const FAILED = 500

/** Failures at the same request after which the item counts as pruned. One failure may be an accident. */
const FAILURES_OF_PRUNED = 2

/** Finds out whether the requested item has been pruned meanwhile, and returns that as an error. */
export type PrunedCheck = () => Promise<Error | undefined>

/**
 * Requests to the backup service of a node. The service does not say that something is pruned: it answers 500, or
 * begins an answer and ends it before the first byte.
 */
export class ServiceRequests {
  readonly #url: string
  readonly #requests: BucketRequests
  fetchedBytes = 0

  constructor(url: string, options: BucketRequestOptions) {
    this.#url = url
    this.#requests = new BucketRequests(options)
  }

  close(): void {
    this.#requests.close()
  }

  /**
   * Gets one whole answer, and asks again after failures.
   * @throws the error of `pruned`; `source_failed`
   */
  async small(path: string, pruned?: PrunedCheck): Promise<Buffer> {
    const url = this.#urlOf(path)
    const attempts = this.#requests.attempts(url)
    for (;;) {
      const answer = await this.#wholeAnswer(url)
      if (!('why' in answer)) return answer.body
      if (answer.status === FAILED) await throwPruned(pruned)
      await attempts.failed(answer)
    }
  }

  /** Whether the node has an item: whether it answers with a body. */
  async holds(path: string): Promise<boolean> {
    const url = this.#urlOf(path)
    const attempts = this.#requests.attempts(url)
    for (let failures = 0; failures < FAILURES_OF_PRUNED; ) {
      const answer = await this.#wholeAnswer(url)
      if (!('why' in answer)) {
        if (answer.body.length > 0) return true
        failures++
      } else if (answer.status === FAILED || answer.isCut) failures++
      else await attempts.failed(answer)
    }
    return false
  }

  /**
   * Gets `expected` records. If an answer is cut, it asks again, and skips the bytes that it has already yielded.
   * @throws the error of `pruned`; `source_failed`
   */
  async *records(path: string, expected: number, pruned?: PrunedCheck): AsyncGenerator<Buffer, void> {
    const url = this.#urlOf(path)
    const attempts = this.#requests.attempts(url)
    let given = 0
    for (;;) {
      const answer = await this.#requests.ask(url, {})
      if ('why' in answer) {
        await attempts.failed(answer)
        continue
      }
      if (answer.status !== 200) {
        await answer.drop()
        throw serviceRefused(url, answer.status, '')
      }
      const count = new RecordCount()
      let at = 0
      let why = ''
      try {
        for await (const piece of answer.pieces()) {
          count.add(piece)
          if (count.records > expected || at + piece.length > MOST_RECORDS_BYTES) {
            throw sourceFailed.serviceTooLong(url, MOST_RECORDS_BYTES)
          }
          if (count.longest > MAX_RECORD_BYTES)
            throw sourceFailed.serviceRecordTooLong(url, count.longest, MAX_RECORD_BYTES)
          const part = piece.subarray(Math.max(0, given - at))
          at += piece.length
          this.fetchedBytes += piece.length
          if (part.length === 0) continue
          given += part.length
          yield viewAsBuffer(part)
        }
      } catch (error) {
        if (isLedgerStateError(error)) throw error
        why = failureOf(error).why
      }
      if (why === '' && count.isComplete && count.records === expected) return
      if (count.records < expected) await throwPruned(pruned)
      const failure = why === '' ? `it ended after ${count.records} of ${expected} records` : why
      await attempts.failed({ why: failure, retryAfterMs: 0 }).catch((error: unknown) => {
        throw isLedgerStateError(error, 'source_failed') ? sourceFailed.serviceShort(url, failure) : error
      })
    }
  }

  #urlOf(path: string): string {
    return `${this.#url}/${path}`
  }

  /**
   * Gets one answer with its body.
   * @throws `source_failed` for a status that asking again does not change
   */
  async #wholeAnswer(
    url: string,
  ): Promise<{ readonly body: Buffer } | (RequestFailure & { readonly isCut?: boolean })> {
    const answer = await this.#requests.ask(url, {})
    if ('why' in answer) return answer
    let bytes: Uint8Array | undefined
    try {
      bytes = await bodyOfAnswer(answer, MOST_SMALL_BYTES)
    } catch (error) {
      return { ...failureOf(error), isCut: true }
    }
    if (!bytes) throw sourceFailed.serviceTooLong(url, MOST_SMALL_BYTES)
    const body = viewAsBuffer(bytes)
    if (answer.status !== 200)
      throw serviceRefused(url, answer.status, answerText(body.toString('utf8'), answer.headers))
    this.fetchedBytes += body.length
    return { body }
  }
}

async function throwPruned(pruned: PrunedCheck | undefined): Promise<void> {
  const error = await pruned?.()
  if (error) throw error
}
