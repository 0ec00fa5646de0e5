import { Buffer } from 'node:buffer'
import { clip, isLedgerStateError, type LedgerStateError, parseU64, pauseFor } from '@ledger-state/core'
import { answerText, isHtml, printable } from '@ledger-state/core/requests'
import { AccumulatorFrontier, LedgerHasher } from '@ledger-state/proof'
import { invalidArgument, nodeOnFork, otherChain, sourceFailed } from '../errors.js'
import { createProver, type Prover } from '../proof/prover.js'
import { toRemoteUrl, tryJson } from '../requests/remote-url.js'
import { type AnswerReading, type FetchAnswer, type FetchOptions, fetchRetrying } from '../requests/retrying-fetch.js'
import { isChainId } from '../wire/feed-line.js'
import { LedgerClock } from '../wire/ledger-clock.js'
import { FailureStreak, isOfOtherLedger } from './failure-streak.js'
import { PageQueue, type PageRequest } from './page-queue.js'
import { countItems, isSameItem, type RestItem, readRestPage } from './rest-page.js'
import type { LedgerSource, LedgerVersion, Reading, SourceOptions } from './source.js'
import { UndecodedNotices } from './undecoded-notices.js'

const DECIMAL = /^\d{1,19}$/
const BCS = 'application/x-bcs'

/** Pause between requests of a follower, about twice the block time of the networks. */
const POLL_INTERVAL_MS = 500
/** Attempts before the error of a node that is not followed is thrown. */
const ATTEMPTS = 8
const UNUSABLE_ANSWERS = 3
/** Most bytes of a page. One of 10 MB holds 100 transactions with all they write. */
const MOST_PAGE_BYTES = 64 * 1024 * 1024

/** Pauses; tests make them shorter. */
export interface RestNodeTiming {
  readonly firstPauseMs?: number
  readonly pollIntervalMs?: number
}

/**
 * Reads the transactions of a node through its REST API in BCS, up to its newest version, or, followed, without end.
 * @param url of the API, such as `https://node.example/v1`
 * @throws `invalid_argument` if the text is not a URL, or has a user name or password; `source_failed` if it does not
 * answer as a node
 * @param index the answer of the URL itself, if it was already asked
 */
export async function openRestNode(
  url: string,
  options: SourceOptions,
  timing: RestNodeTiming = {},
  index?: FetchAnswer,
): Promise<LedgerSource> {
  const node = new RestNode(toRemoteUrl(url), options, timing)
  if (index) node.takeIndex(index)
  else await node.readIndex()
  return node
}

/** A page that was asked for. */
type AskedPage = Pick<PageRequest, 'start' | 'limit' | 'onAnswer'>

class RestNode implements LedgerSource {
  readonly description: string
  readonly isLive = true
  chainId: number | undefined
  position: string
  readonly #url: string
  readonly #hasher: LedgerHasher
  readonly #prover: Prover
  readonly #verify: boolean
  readonly #follow: boolean
  readonly #headers: Readonly<Record<string, string>> | undefined
  readonly #onNotice: (message: string) => void
  readonly #timing: RestNodeTiming
  readonly #undecoded: UndecodedNotices
  #frontier: AccumulatorFrontier | undefined
  /** The newest version that the node announced. */
  #ledgerVersion = 0n
  /** Whether a page was read, which shows that this is a node. */
  #isNode = false
  #first: bigint | undefined
  #next: bigint | undefined
  readonly #streak: FailureStreak
  readonly #closed = new AbortController()

  constructor(url: string, options: SourceOptions, timing: RestNodeTiming) {
    this.#url = url
    this.position = url
    this.description = `node at ${url}`
    this.#hasher = new LedgerHasher(options.hashSalt, { isBulk: true })
    this.#prover = createProver(this.#hasher, options.thread)
    this.#verify = options.verify !== false
    this.#follow = options.follow === true
    this.#headers = options.headers
    this.#onNotice = options.onNotice ?? (() => {})
    this.#timing = timing
    this.#undecoded = new UndecodedNotices(this.#onNotice)
    this.#streak = new FailureStreak({ firstPauseMs: timing.firstPauseMs, onNotice: this.#onNotice })
  }

  get hashSalt(): string {
    return this.#hasher.salt
  }

  get mark(): Uint8Array | undefined {
    return this.#next === BigInt(this.#frontier?.count ?? -1) ? this.#frontier!.toBytes() : undefined
  }

  get progress() {
    const first = this.#first ?? 0n
    const done = Number((this.#next ?? first) - first)
    return { done, total: Math.max(done, Number(this.#ledgerVersion - first) + 1), unit: 'versions' as const }
  }

  async readIndex(): Promise<void> {
    const nothing = () => {}
    await this.#get(
      () => this.#url,
      'application/json',
      this.#closed.signal,
      nothing,
      (answer) => {
        this.takeIndex(answer)
        return { value: undefined }
      },
    )
  }

  /**
   * Reads the answer of the URL itself.
   * @throws `source_failed` unless it is the answer of a node
   */
  takeIndex({ status, headers, body }: FetchAnswer): void {
    const text = body.toString('utf8')
    const index: unknown = status === 200 ? tryJson(text) : undefined
    const { chain_id: chainId, ledger_version: version } = (index ?? {}) as Record<string, unknown>
    if (!isChainId(chainId) || typeof version !== 'string' || !DECIMAL.test(version))
      throw sourceFailed.notANode(this.#url, status, isHtml(text, headers), answerText(text, headers))
    this.chainId = chainId
    this.#ledgerVersion = parseU64(version)
  }

  async *versions(from: Reading = {}): AsyncGenerator<LedgerVersion> {
    const clock = await LedgerClock.at(from.read)
    if (this.#verify) this.#frontier = this.#frontierFrom(from.mark)
    for await (const item of this.#items({ ...from, version: this.#startOf(from) })) {
      const { version, writes, stateRoot, readTransaction } = item
      if (version < (from.version ?? 0n)) {
        this.#extendFrontier(item)
        continue
      }
      this.position = `${this.#url}, version ${version}`
      const block = clock.advance(version, writes, item.transaction)
      // Nothing fails from here on: until then, the mark belongs to the last version that was yielded.
      this.#extendFrontier(item)
      const frontier = this.#frontier
      const readWhole = frontier && (() => ({ ...item.readWhole(), readFrontier: () => frontier.toBytes() }))
      this.#next = version + 1n
      yield {
        version,
        block,
        writes,
        stateRoot,
        accumulatorRoot: stateRoot && this.#provenRoot,
        readTransaction,
        readWhole,
      }
    }
  }

  /** Items in order. Later pages are requested while the caller takes these. */
  async *#items({ version: first = 0n, signal, onIdle }: Reading): AsyncGenerator<RestItem> {
    this.#first = first
    const ended = signal ? AbortSignal.any([signal, this.#closed.signal]) : this.#closed.signal
    const pages = new PageQueue((request) => this.#readPage(request), ended)
    const last = this.#follow ? undefined : this.#ledgerVersion
    let newest: RestItem | undefined
    let next = first
    try {
      while (!ended.aborted && (last === undefined || next <= last)) {
        const page = await this.#continue(pages, newest, next, last, ended)
        if (page.length === 0 && ended.aborted) return
        const fresh = page.filter(({ version }) => version >= next)
        newest = fresh.at(-1) ?? newest
        if (newest) next = newest.version + 1n
        for (const item of fresh) if (last === undefined || item.version <= last) yield item
        if (next <= (last ?? this.#ledgerVersion) && fresh.length > 0) continue
        await onIdle?.()
        // The pause is random, so that followers do not ask in step.
        const interval = this.#timing.pollIntervalMs ?? POLL_INTERVAL_MS
        await pauseFor(interval * (0.75 + Math.random() / 2), ended)
      }
    } finally {
      pages.cancel()
    }
  }

  /**
   * The page that begins with `newest`, the last item read, or else with version `next`. The page is requested again if
   * it does not continue the ledger read so far, is of another chain, is pruned, or is absent although it was announced.
   * @throws `ledger_fork`, `chain_id_mismatch`, `source_failed` if several answers in a row show the same
   */
  async #continue(
    pages: PageQueue,
    newest: RestItem | undefined,
    next: bigint,
    last: bigint | undefined,
    signal: AbortSignal,
  ): Promise<readonly RestItem[]> {
    for (;;) {
      try {
        const page = await pages.take(newest?.version ?? next, last ?? this.#ledgerVersion)
        if (page.length === 0 && last !== undefined && !signal.aborted) {
          // One of several nodes at the same address may be behind the others.
          await this.#streak.add(sourceFailed.withdrawnVersions(this.#url, last, next), signal)
          continue
        }
        const forkAt = this.#findFork(page, newest)
        if (forkAt !== undefined) throw nodeOnFork(this.#url, forkAt)
        this.#streak.end()
        return page
      } catch (error) {
        if (!isOfOtherLedger(error) && !isPruned(error)) throw error
        pages.cancel()
        await this.#streak.add(error, signal)
      }
    }
  }

  /** The first version of a page that does not belong to the ledger read so far. */
  #findFork(page: readonly RestItem[], newest: RestItem | undefined): bigint | undefined {
    if (newest && page[0] && !isSameItem(page[0], newest)) return newest.version
    const held = this.#frontier
    const following = held ? page.filter(({ version }) => Number(version) >= held.count) : []
    if (!held || following[0]?.version !== BigInt(held.count)) return undefined
    // The root after the last item proves all items. That takes as many hashes as proving twenty items each by itself.
    const frontier = held.clone()
    for (const { leaf } of following) frontier.append(leaf)
    if (Buffer.compare(frontier.root(), following.at(-1)!.accumulatorRoot) === 0) return undefined
    const steps = held.clone()
    return following.find(({ leaf, accumulatorRoot }) => {
      steps.append(leaf)
      return Buffer.compare(steps.root(), accumulatorRoot) !== 0
    })?.version
  }

  /** The frontier of a mark. Without a mark it is empty, which proves a ledger that is read starting at version 0. */
  #frontierFrom(mark: Uint8Array | undefined): AccumulatorFrontier | undefined {
    if (mark) return AccumulatorFrontier.fromBytes(this.#hasher, 'TransactionAccumulator', mark)
    return new AccumulatorFrontier(this.#hasher, 'TransactionAccumulator')
  }

  /**
   * The first version to read: the first wanted version, or the version after the mark if that comes earlier.
   * @throws `invalid_argument` if the mark covers versions after the first wanted one, which it would not prove
   */
  #startOf({ version = 0n, mark }: Reading): bigint {
    const after = BigInt((mark && this.#frontier?.count) ?? version)
    if (after > version + 1n) throw invalidArgument.markTooLate(after - 1n, version)
    return after < version ? after : version
  }

  #extendFrontier({ version, leaf }: RestItem): void {
    const index = Number(version)
    const count = this.#frontier?.count
    if (index === count) this.#frontier!.append(leaf)
    // Versions in between were not read, so nothing more can be proven.
    else if (count !== undefined && index > count) this.#frontier = undefined
  }

  /** Root of the accumulator up to the newest item; undefined if it is not known to continue the ledger. */
  get #provenRoot(): Uint8Array | undefined {
    return this.#frontier?.root()
  }

  /** Requests a page. Returns no items if the node has nothing there yet, or reading was stopped. */
  async #readPage({ start, limit, signal, onAnswer, onBytes, onFailure }: PageRequest): Promise<readonly RestItem[]> {
    let most = limit
    const urlNow = () => `${this.#url}/transactions?start=${start}&limit=${most}`
    const onFailureNow = () => {
      most = onFailure()
    }
    const read = (answer: FetchAnswer) => this.#readPageAnswer(answer, { start, limit, onAnswer }, urlNow())
    const bounds = { mostBytes: MOST_PAGE_BYTES, asksForLess: true, onBytes }
    return (await this.#get(urlNow, BCS, signal, onFailureNow, read, bounds)) ?? []
  }

  async #readPageAnswer(answer: FetchAnswer, asked: AskedPage, url: string): Promise<AnswerReading<RestItem[]>> {
    const { start } = asked
    const { status, headers, body } = answer
    const text = () => answerText(body.toString('utf8'), headers)
    const latest = this.#noteHeaders(headers)
    asked.onAnswer(body.length, answer.milliseconds, latest)
    if (status === 410) throw sourceFailed.prunedByNode(this.#url, start, text())
    const type = printable(headers.get('content-type') ?? 'nothing')
    if (status === 200 && type.toLowerCase().startsWith(BCS)) return await this.#readBcs(body, asked, url)
    if (status === 404 && isErrorOfNode(body)) return { value: [] }
    // A node refuses a page that begins above its newest version.
    if (status === 400 && isErrorOfNode(body) && latest !== undefined && latest < start) return { value: [] }
    const error =
      status === 200 ? sourceFailed.notBcs(url, type, BCS) : sourceFailed.unexpectedStatus(url, status, text())
    // A node may recover, but an address that never answered as a node is wrong.
    if (!this.#isNode)
      throw status === 403 && (await this.#isLedgerState()) ? sourceFailed.keepsNoTransactions(this.#url) : error
    return { unusable: error }
  }

  async #isLedgerState(): Promise<boolean> {
    const read = ({ status, body }: FetchAnswer) => ({
      value: status === 200 ? tryJson(body.toString('utf8')) : undefined,
    })
    const info = await this.#get(
      () => `${this.#url}/info`,
      'application/json',
      this.#closed.signal,
      () => {},
      read,
    )
    return (info as { readonly software?: unknown } | null | undefined)?.software === 'ledger-state'
  }

  async #readBcs(body: Buffer, { start, limit }: AskedPage, url: string): Promise<AnswerReading<RestItem[]>> {
    const page = { body, start, url, verify: this.#verify }
    try {
      const count = countItems(page)
      if (count > limit) return { unusable: sourceFailed.surplusItems(url, start, count, limit) }
      const proven = await this.#prover.provePage(page)
      const items = readRestPage(page, proven)
      this.#undecoded.add(url, proven.undecoded)
      this.#isNode = true
      return { value: items }
    } catch (error) {
      if (!isLedgerStateError(error)) throw error
      return { unusable: error }
    }
  }

  /** Checks the chain that headers name, and returns the newest version if they name it. */
  #noteHeaders(headers: Headers): bigint | undefined {
    const { chainId } = this
    let latest: bigint | undefined
    for (const [name, value] of headers) {
      const isOther = name.endsWith('-chain-id') && chainId !== undefined && value !== String(chainId)
      if (isOther) throw otherChain(this.#url, clip(value), chainId)
    }
    for (const [name, value] of headers) {
      if (name.endsWith('-ledger-version') && DECIMAL.test(value)) latest = BigInt(value)
    }
    this.#ledgerVersion = latest ?? this.#ledgerVersion
    return latest
  }

  #get<T>(
    urlNow: () => string,
    accept: string,
    signal: AbortSignal,
    onFailure: () => void,
    read: (answer: FetchAnswer) => AnswerReading<T> | Promise<AnswerReading<T>>,
    bounds: Pick<FetchOptions, 'mostBytes' | 'asksForLess' | 'onBytes'> = {},
  ): Promise<T | undefined> {
    const [attempts, unusableAnswers] = this.#follow
      ? [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
      : [ATTEMPTS, UNUSABLE_ANSWERS]
    const { firstPauseMs } = this.#timing
    const headers = this.#headers
    const onNotice = (message: string) => {
      onFailure()
      this.#onNotice(message)
    }
    const answers = { attempts, unusableAnswers, firstPauseMs, ...bounds }
    const options: FetchOptions = { accept, headers, signal, onNotice, ...answers }
    return fetchRetrying(urlNow, options, read)
  }

  async close(): Promise<void> {
    this.#closed.abort()
    await this.#prover.close()
  }
}

function isPruned(error: unknown): error is LedgerStateError {
  return isLedgerStateError(error, 'source_failed') && error.fields.status === 410
}

/**
 * Whether an error is a node's, which is JSON with a code. On other servers every path may be 404, without such a body.
 */
function isErrorOfNode(body: Buffer): boolean {
  const error = tryJson(body.toString('utf8')) as { readonly error_code?: unknown } | null | undefined
  return typeof error?.error_code === 'string'
}
