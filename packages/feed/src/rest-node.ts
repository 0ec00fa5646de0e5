import type { Buffer } from 'node:buffer'
import {
  ByteReader,
  clip,
  isLedgerStateError,
  LedgerStateError,
  parseU64,
  type VersionWrites,
} from '@ledger-state/core'
import { AccumulatorFrontier } from './accumulator.js'
import { LedgerClock } from './ledger-clock.js'
import { HASH_LENGTH, LedgerHasher } from './ledger-hasher.js'
import { type FetchAnswer, type FetchOptions, fetchRetrying, pauseFor } from './retrying-fetch.js'
import type { LedgerSource, Reading, SourceOptions } from './source.js'
import { expectHash, readEvents, readTransactionRecord } from './transaction-record.js'
import { readWriteSet } from './write-set.js'

const BCS = 'application/x-bcs'

/** What nodes give at most, unless their operators allow more. */
const PAGE_VERSIONS = 100
/** About twice the block time of the networks; spread, so that followers do not ask in step. */
const POLL_INTERVAL_MS = 500
const ATTEMPTS = 8

/**
 * Reads the transactions of a node through its REST API in BCS, up to its newest version, or on and on.
 * @param url of the API, such as `https://node.example/v1`
 * @throws `source_failed` where it does not answer as such a node does
 */
export async function openRestNode(url: string, options: SourceOptions): Promise<LedgerSource> {
  const node = new RestNode(url.replace(/\/+$/, ''), options)
  await node.readIndex()
  return node
}

/** One item of a page, and what proves that it is the same when it comes again. */
interface Item extends VersionWrites {
  readonly transaction: Buffer
  readonly leaf: Buffer
  readonly accumulatorRoot: Buffer
}

class RestNode implements LedgerSource {
  readonly description: string
  chainId: number | undefined
  position: string
  readonly #url: string
  readonly #hasher: LedgerHasher
  readonly #verify: boolean
  readonly #follow: boolean
  readonly #onNotice: (message: string) => void
  #frontier: AccumulatorFrontier | undefined
  /** Newest version that the node told of. */
  #ledgerVersion = 0n
  #first: bigint | undefined
  #next: bigint | undefined
  readonly #closed = new AbortController()

  constructor(url: string, options: SourceOptions) {
    this.#url = url
    this.position = url
    this.description = `node at ${url}`
    this.#hasher = new LedgerHasher(options.hashSalt)
    this.#verify = options.verify !== false
    this.#follow = options.follow === true
    this.#onNotice = options.onNotice ?? (() => {})
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
    const answer = await this.#get(this.#url, 'application/json', undefined)
    if (!answer) return
    const index: unknown = answer.status === 200 ? tryJson(answer.body.toString('utf8')) : undefined
    const { chain_id: chainId, ledger_version: version } = (index ?? {}) as Record<string, unknown>
    if (typeof chainId !== 'number' || typeof version !== 'string') {
      const found = `status ${answer.status}, ${clip(answer.body.toString('utf8'))}`
      throw this.#failure(`${this.#url} is no API of a node: {"chain_id","ledger_version",…} expected, found ${found}`)
    }
    this.chainId = chainId
    this.#ledgerVersion = parseU64(version)
  }

  async *versions(from: Reading = {}): AsyncGenerator<VersionWrites> {
    const clock = LedgerClock.at(from.read)
    if (this.#verify) this.#frontier = this.#frontierFrom(from.mark)
    for await (const item of this.#items(from)) {
      this.#extendFrontier(item)
      this.position = `${this.#url}, version ${item.version}`
      const { version, writes } = item
      const block = clock.advance(version, writes, item.transaction)
      this.#next = version + 1n
      yield { version, block, writes }
    }
  }

  /** Items in order. One page is asked for ahead. */
  async *#items({ version: first = 0n, signal, onIdle }: Reading): AsyncGenerator<Item> {
    this.#first = first
    const ended = signal ? AbortSignal.any([signal, this.#closed.signal]) : this.#closed.signal
    const last = this.#follow ? undefined : this.#ledgerVersion
    let newest: Item | undefined
    let next = first
    let ahead: Promise<Item[]> | undefined
    while (!ended.aborted && (last === undefined || next <= last)) {
      // The version before comes along, to see that the node still has the same.
      const page: Item[] = await (ahead ?? this.#readPage(newest ? next - 1n : next, ended))
      ahead = undefined
      if (page.length === 0 && ended.aborted) return
      const known = newest
      if (known && page[0] && !isSameItem(page[0], known)) throw this.#fork(known.version)
      if (page.length === 0 && last !== undefined) {
        throw this.#failure(`${this.#url} told of versions up to ${last}, and now has no version ${next}`)
      }
      const fresh = page.filter(({ version }) => version >= next)
      newest = fresh.at(-1) ?? newest
      if (newest) next = newest.version + 1n
      if (next <= this.#ledgerVersion && (last === undefined || next <= last) && fresh.length > 0) {
        ahead = this.#readPage(next - 1n, ended)
        // Its failure is met when its turn comes.
        ahead.catch(() => {})
      }
      for (const item of fresh) if (last === undefined || item.version <= last) yield item
      if (ahead) continue
      await onIdle?.()
      await pauseFor(POLL_INTERVAL_MS * (0.75 + Math.random() / 2), ended)
    }
  }

  /** From nothing where there is no mark: it then proves a ledger that is read from its first version on. */
  #frontierFrom(mark: Uint8Array | undefined): AccumulatorFrontier | undefined {
    if (mark) return AccumulatorFrontier.fromBytes(this.#hasher, 'TransactionAccumulator', mark)
    return new AccumulatorFrontier(this.#hasher, 'TransactionAccumulator')
  }

  /** The accumulator root of each item has to be that of the ledger so far with the item behind it. */
  #extendFrontier(item: Item): void {
    const frontier = this.#frontier
    if (!frontier) return
    const index = Number(item.version)
    if (index < frontier.count) return
    if (index > frontier.count) {
      // What lies between was never seen, so nothing more can be proven.
      this.#frontier = undefined
      return
    }
    frontier.append(item.leaf)
    if (!frontier.root().equals(item.accumulatorRoot)) throw this.#fork(item.version)
  }

  #fork(version: bigint): LedgerStateError {
    const message = `${this.#url}: version ${version} is not of the ledger that was read so far; the node is on a fork, or of another network`
    return new LedgerStateError('ledger_fork', message, { version })
  }

  /** Empty where the node has nothing there yet, and when stopped. */
  async #readPage(start: bigint, signal: AbortSignal): Promise<Item[]> {
    const url = `${this.#url}/transactions?start=${start}&limit=${PAGE_VERSIONS}`
    const answer = await this.#get(url, BCS, signal)
    if (!answer) return []
    const { status, headers, body } = answer
    this.#noteHeaders(headers)
    if (status === 200) {
      const type = headers.get('content-type') ?? 'nothing'
      if (!type.startsWith(BCS)) throw this.#failure(`${url} answered ${type}: the node does not serve ${BCS}`)
      return this.#parsePage(body, start, url)
    }
    if (status === 404) return []
    const text = clip(body.toString('utf8'))
    if (status === 410) {
      throw this.#failure(`the node has pruned version ${start}; take it from a backup, or ask an archive: ${text}`)
    }
    throw this.#failure(`${url} answered ${status}: ${text}`)
  }

  #noteHeaders(headers: Headers): void {
    for (const [name, value] of headers) {
      if (name.endsWith('-ledger-version') && /^\d+$/.test(value)) this.#ledgerVersion = BigInt(value)
      if (!name.endsWith('-chain-id') || this.chainId === undefined || value === String(this.chainId)) continue
      throw new LedgerStateError('chain_id_mismatch', `${this.#url} is of chain ${value}, it was ${this.chainId}`)
    }
  }

  /** BCS: vector of u64 version, Transaction, TransactionInfo, events, accumulator root, WriteSet. */
  #parsePage(body: Buffer, start: bigint, url: string): Item[] {
    const reader = new ByteReader(body)
    const items: Item[] = []
    let version = start
    try {
      for (let rest = reader.readLength(); rest > 0; rest--, version++) {
        const found = reader.readU64()
        if (found !== version) throw this.#failure(`${url} has version ${found} in the place of version ${version}`)
        items.push(this.#parseItem(reader, version))
      }
      reader.expectEnd()
    } catch (error) {
      if (!isLedgerStateError(error, 'invalid_bcs', 'verification_failed')) throw error
      const code = error.code === 'invalid_bcs' ? 'source_failed' : error.code
      throw new LedgerStateError(code, `${url}, version ${version}: ${error.message}`, { version })
    }
    return items
  }

  #parseItem(reader: ByteReader, version: bigint): Item {
    const { transaction, info, infoBytes } = readTransactionRecord(reader, this.#hasher, false)
    const eventRoot = readEvents(reader, this.#verify ? this.#hasher : undefined)
    if (eventRoot) expectHash('the event root', eventRoot, info.eventRoot)
    const accumulatorRoot = reader.readBytes(HASH_LENGTH)
    const writeSetStart = reader.offset
    const writes = readWriteSet(reader)
    if (this.#verify) {
      const writeSet = reader.bytes.subarray(writeSetStart, reader.offset)
      expectHash('the state change hash', this.#hasher.hash('WriteSet', writeSet), info.stateChangeHash)
    }
    const leaf = this.#hasher.hash('TransactionInfo', infoBytes)
    return { version, writes, transaction, leaf, accumulatorRoot }
  }

  #get(url: string, accept: string, signal: AbortSignal | undefined): Promise<FetchAnswer | undefined> {
    const attempts = this.#follow ? Number.POSITIVE_INFINITY : ATTEMPTS
    const options: FetchOptions = { accept, signal, attempts, onNotice: this.#onNotice }
    return fetchRetrying(url, options)
  }

  #failure(message: string): LedgerStateError {
    return new LedgerStateError('source_failed', message)
  }

  async close(): Promise<void> {
    this.#closed.abort()
  }
}

function isSameItem(a: Item, b: Item): boolean {
  return a.version === b.version && a.leaf.equals(b.leaf)
}

function tryJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
