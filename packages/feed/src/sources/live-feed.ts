import type { Buffer } from 'node:buffer'
import {
  type Backoff,
  fetchFailure,
  hexToBytes,
  isLedgerStateError,
  pauseFor,
  type VersionWrites,
} from '@ledger-state/core'
import {
  answerText,
  followNone,
  type HttpAnswer,
  type RequestFailure,
  sendRequest,
  textOfFailure,
} from '@ledger-state/core/requests'
import { atPlace, beforeFeed, headWentBack, invalidFeed, otherChain, requestRefused, sourceFailed } from '../errors.js'
import { readLines } from '../files/lines.js'
import { FETCH_ENCODINGS } from '../requests/fetch-encodings.js'
import { tryJson } from '../requests/remote-url.js'
import { askingAgain, createBackoff } from '../requests/retrying-fetch.js'
import { viewAsBuffer } from '../view-as-buffer.js'
import { type FeedHead, parseFeedHead } from '../wire/feed-head.js'
import {
  type FeedRow,
  type FeedStart,
  isChainId,
  MAX_FEED_LINE_BYTES,
  parseFeedHeader,
  parseFeedLine,
  parseFeedVersion,
} from '../wire/feed-line.js'
import { FailureStreak, isOfOtherLedger } from './failure-streak.js'
import type { LedgerSource, Reading, SourceOptions } from './source.js'

/** Silence after which a connection counts as broken. The source sends something every second. */
const SILENCE_MS = 30_000
/** Longest pause. Replicas are few, and have to notice soon that their source answers again. */
const LONGEST_PAUSE_MS = 5_000
/** Attempts before the error of a source that is not followed is thrown. */
const ATTEMPTS = 8

/** Heads in a row, without a version between them, that are read at once. The source sends one every second. */
const QUICK_HEADS = 16
/** Pause after each further head. */
const HEAD_PAUSE_MS = 100

/** Sign that the source has nothing more for now. */
const END = Symbol('end')

/** Description that the source of a live feed gives of itself. */
export interface FeedIndex {
  readonly chainId: number
  readonly oldestVersion: bigint
  readonly latestVersion: bigint
  /** The slice that the source keeps, if it keeps one. */
  readonly slice?: Uint8Array | undefined
}

/**
 * Reads `{"format":"ledger-feed","chain_id":4,"oldest_version":"0","latest_version":"9"}`; a store that keeps a slice
 * adds `"slice":"0x…"`. Undefined for anything else.
 */
export function parseFeedIndex(index: unknown): FeedIndex | undefined {
  const { format, chain_id: chainId, oldest_version: oldest, latest_version: latest, slice } = (index ?? {}) as FeedRow
  const isIndex = format === 'ledger-feed' && isChainId(chainId) && isVersion(oldest) && isVersion(latest)
  if (!isIndex || (slice !== undefined && !isDigest(slice))) return undefined
  const window = { chainId, oldestVersion: BigInt(oldest), latestVersion: BigInt(latest) }
  return slice === undefined ? window : { ...window, slice: hexToBytes(slice) }
}

function isVersion(text: unknown): text is string {
  return typeof text === 'string' && /^\d{1,19}$/.test(text)
}

function isDigest(text: unknown): text is string {
  return typeof text === 'string' && /^0x[0-9a-f]{64}$/.test(text)
}

/** A live feed: the versions that another store holds and receives, over HTTP. */
export class LiveFeed implements LedgerSource {
  readonly description: string
  readonly chainId: number
  readonly isStore = true
  readonly isLive = true
  /** From the options, or else from the head of the feed. */
  hashSalt: string | undefined
  position: string
  mark: Uint8Array | undefined
  checkpoint: { readonly version: bigint; readonly writesHash: Uint8Array } | undefined
  readonly #url: string
  readonly #follow: boolean
  readonly #headers: Readonly<Record<string, string>> | undefined
  readonly #onNotice: (message: string) => void
  readonly #closed = new AbortController()
  #index: FeedIndex
  #first: bigint | undefined
  #next = 0n
  readonly #backoff: Backoff
  /** Pause that the last refusal asked for, in milliseconds. */
  #retryAfterMs = 0
  /** The last failure, if asking again does not mend it. */
  #refusal: RequestFailure | undefined
  readonly #streak: FailureStreak

  constructor(url: string, index: FeedIndex, options: SourceOptions, firstPauseMs?: number) {
    this.#url = url
    this.#index = index
    this.chainId = index.chainId
    this.position = url
    this.description = `ledger feed at ${url}`
    this.#follow = options.follow === true
    this.hashSalt = options.hashSalt
    this.#headers = options.headers
    this.#onNotice = options.onNotice ?? (() => {})
    this.#backoff = createBackoff(firstPauseMs, LONGEST_PAUSE_MS)
    this.#streak = new FailureStreak({ firstPauseMs, onNotice: this.#onNotice })
  }

  get slice(): Uint8Array | undefined {
    return this.#index.slice
  }

  get progress() {
    const first = this.#first ?? 0n
    const done = Number(this.#next - first)
    return { done, total: Math.max(done, Number(this.#index.latestVersion - first) + 1), unit: 'versions' as const }
  }

  async *versions({ version, signal, onIdle }: Reading = {}): AsyncGenerator<VersionWrites> {
    const ended = signal ? AbortSignal.any([signal, this.#closed.signal]) : this.#closed.signal
    this.#next = version ?? this.#index.oldestVersion
    this.#first = this.#next
    this.#skipOldest()
    for await (const step of this.#steps(ended)) {
      if (step !== END) {
        yield step
        continue
      }
      await onIdle?.()
      if (!this.#follow) return
    }
  }

  /** Yields versions, and `END` whenever the source has no more for now. Asks again after failures. */
  async *#steps(ended: AbortSignal): AsyncGenerator<VersionWrites | typeof END> {
    while (!ended.aborted) {
      try {
        let heads = 0
        let newest = 0n
        for await (const row of this.#rows(ended)) {
          if (row.head === undefined) {
            heads = 0
            yield this.#toVersion(row)
            continue
          }
          const head = parseFeedHead(row.head)
          // Versions of the same numbers may follow, which a new connection gets.
          if (head.version < newest) throw headWentBack(this.#url, head.version, newest)
          newest = head.version
          if (this.#isEnd(head)) yield END
          if (++heads > QUICK_HEADS) await pauseFor(HEAD_PAUSE_MS, ended)
        }
        if (!ended.aborted) throw sourceFailed.feedEnded(this.#url)
      } catch (error) {
        if (ended.aborted) return
        await this.#pauseAfter(error, ended)
      }
    }
  }

  #toVersion(row: FeedRow): VersionWrites {
    const record = parseFeedVersion(row)
    if (record.version !== this.#next)
      throw invalidFeed(`expected version ${this.#next}, found version ${record.version}`)
    this.#next++
    this.#backoff.reset()
    this.#streak.end()
    this.mark = undefined
    this.position = `${this.#url}, version ${record.version}`
    return record
  }

  #isEnd({ version, writesHash, mark }: FeedHead): boolean {
    // The source sends its versions before the head that names them.
    if (version >= this.#next) throw invalidFeed(`expected version ${this.#next}, found the head of version ${version}`)
    this.#index = { ...this.#index, latestVersion: version }
    this.#backoff.reset()
    this.#streak.end()
    if (version !== this.#next - 1n) return false
    this.mark = mark
    this.checkpoint = writesHash && { version, writesHash }
    return true
  }

  /**
   * Begins after the oldest version of the source, whose writes it cannot separate from earlier ones. Returns whether the
   * first version is that one.
   */
  #skipOldest(): boolean {
    if (this.#next !== this.#first || this.#next !== this.#index.oldestVersion) return false
    this.#next++
    return true
  }

  /** The lines of one answer after its first line. */
  async *#rows(ended: AbortSignal): AsyncGenerator<FeedRow> {
    const url = `${this.#url}/feed`
    const response = await this.#ask(`${url}?from=${this.#next}`, 'application/x-ndjson', ended)
    if ('why' in response) throw this.#failureOf(response)
    if (response.status !== 200) {
      const error = await this.#errorOf(url, response)
      if (response.status !== 410 || !(await this.#hasFirstBecomeOldest(ended))) throw error
      return yield* this.#rows(ended)
    }
    const lines = readLines(buffersOf(response), MAX_FEED_LINE_BYTES, () => invalidFeed('a line is too long'))
    let isFirst = true
    for await (const line of lines) {
      const row = parseFeedLine(line)
      if (isFirst) this.#begin(parseFeedHeader(row))
      else yield row
      isFirst = false
    }
  }

  async #ask(url: string, accept: string, signal: AbortSignal): Promise<HttpAnswer | RequestFailure> {
    return await sendRequest(url, {
      headers: { ...this.#headers, accept, 'accept-encoding': FETCH_ENCODINGS },
      ...(this.#headers && { redirectTarget: followNone }),
      signal,
      silenceMs: SILENCE_MS,
      isLive: true,
    })
  }

  /** Reads the index again: the source may have pruned up to the first version since it was opened. */
  async #hasFirstBecomeOldest(signal: AbortSignal): Promise<boolean> {
    const answer = await this.#ask(`${this.#url}/`, 'application/json', signal)
    const index = 'why' in answer ? undefined : parseFeedIndex(tryJson(await textOfFailure(answer)))
    if (index?.chainId !== this.chainId) return false
    this.#index = { ...this.#index, oldestVersion: index.oldestVersion }
    return this.#skipOldest()
  }

  #begin({ chainId, hashSalt }: FeedStart): void {
    this.#expectChain(chainId)
    this.hashSalt ??= hashSalt
  }

  #failureOf(failure: RequestFailure): Error {
    this.#retryAfterMs = failure.retryAfterMs
    this.#refusal = failure.isFinal ? failure : undefined
    return new Error(failure.why)
  }

  async #errorOf(url: string, response: HttpAnswer): Promise<Error> {
    const text = answerText(await textOfFailure(response), response.headers)
    if (response.status === 410) return beforeFeed(this.#url, this.#next, text)
    return sourceFailed.unexpectedStatus(url, response.status, text)
  }

  #expectChain(chainId: number): void {
    if (chainId !== this.chainId) throw otherChain(this.#url, String(chainId), this.chainId)
  }

  /**
   * Pauses before the source is asked again.
   * @throws the error, if several answers in a row showed it and asking again does not mend it
   */
  async #pauseAfter(error: unknown, ended: AbortSignal): Promise<void> {
    if (isOfOtherLedger(error)) return await this.#streak.add(error, ended)
    const why = isLedgerStateError(error) ? error.message : fetchFailure(error)
    const pause = this.#backoff.next(this.#retryAfterMs)
    this.#retryAfterMs = 0
    const { failures } = this.#backoff
    // A follower waits until a certificate or a redirect is mended.
    if (!this.#follow && this.#refusal) throw requestRefused(`${this.#url}/feed`, why, this.#refusal.status)
    if (!this.#follow && failures >= ATTEMPTS) {
      throw isLedgerStateError(error)
        ? atPlace(error, this.position, 'invalid_feed')
        : sourceFailed.requestsFailed(`${this.#url}/feed`, failures, why)
    }
    this.#onNotice(`${this.#url}: ${why}; ${askingAgain(pause)}`)
    await pauseFor(pause, ended)
  }

  async close(): Promise<void> {
    this.#closed.abort()
  }
}

async function* buffersOf(response: HttpAnswer): AsyncGenerator<Buffer> {
  for await (const piece of response.pieces()) yield viewAsBuffer(piece)
}
