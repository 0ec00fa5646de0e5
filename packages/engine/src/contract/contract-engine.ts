import assert from 'node:assert/strict'
import { Buffer } from 'node:buffer'
import type { KeyedEntry, VersionWrites } from '@ledger-state/core'
import { keyAfter } from '@ledger-state/core/bytes'
import { engineToAsync } from '../engine-to-async.js'
import type { AsyncSnapshot, AsyncStateView, AsyncStateWriter, WriteSearch } from '../ports/async-engine-ports.js'
import type { EngineView, StateWriter } from '../ports/engine-ports.js'
import type {
  Block,
  HistoryOptions,
  LedgerSummary,
  Revision,
  ScanOptions,
  StateEntry,
  StoreBase,
} from '../ports/state-port.js'

/** A view, for the cases of the contract: its reads are promises, even if the engine is synchronous. */
export interface ContractView {
  readonly version: bigint
  readonly ledger: LedgerSummary
  /** Same as `EngineView.get`. */
  get(key: Uint8Array): Promise<Uint8Array | undefined>
  /** Same as `EngineView.peek`. */
  peek(key: Uint8Array): Promise<Uint8Array | undefined>
  /** Same as `EngineView.has`. */
  has(key: Uint8Array): Promise<boolean>
  /** Same as `EngineView.getEntry`. */
  getEntry(key: Uint8Array): Promise<StateEntry | undefined>
  /** Same as `EngineView.getMany`. */
  getMany(keys: readonly Uint8Array[]): Promise<(Uint8Array | undefined)[]>
  /** Same as `EngineView.scan`. */
  scan(prefix: Uint8Array, options?: ScanOptions): AsyncIterable<KeyedEntry>
}

/** An engine, for the cases of the contract: its reads are promises, even if the engine is synchronous. */
export interface ContractEngine
  extends Pick<
      AsyncStateWriter,
      'commit' | 'prune' | 'truncateTo' | 'putMark' | 'beginImport' | 'unfinishedImport' | 'onCommit' | 'close'
    >,
    AsyncDisposable {
  /** Same as `StateReader.ledger`. */
  ledger(): Promise<LedgerSummary | undefined>
  /** Same as `StateReader.base`. */
  base(): Promise<StoreBase | undefined>
  /** Same as `StateEngineReader.mark`. */
  mark(): Promise<Uint8Array | undefined>
  /** Same as `StateReader.at`. */
  at(version?: bigint): Promise<ContractView>
  /** Same as `StateReader.blockAt`. */
  blockAt(version: bigint): Promise<Block>
  /** Same as `StateReader.blockByHeight`. */
  blockByHeight(height: bigint): Promise<Block | undefined>
  /** Same as `StateReader.blockAtTime`. */
  blockAtTime(timestampUsec: bigint): Promise<Block | undefined>
  /** Same as `StateReader.history`; of an async engine, page after page. */
  history(key: Uint8Array, options?: HistoryOptions): AsyncIterable<Revision>
  /**
   * Same as `AsyncStateSnapshot.nearestWrites`; computed from the histories if the reads of the engine are synchronous.
   */
  nearestWrites(keys: readonly Uint8Array[], search: WriteSearch): Promise<readonly (bigint | undefined)[]>
  /** Same as `StateEngineReader.versions`; of an async engine, page after page. */
  versions(first: bigint, last: bigint): AsyncIterable<VersionWrites>
}

/** The methods that both ports have. Each passes on to the engine whatever arguments it is given. */
function writerMethods(engine: StateWriter | AsyncStateWriter) {
  return {
    commit: async (...given: Parameters<StateWriter['commit']>) => engine.commit(...given),
    prune: async (...given: Parameters<StateWriter['prune']>) => engine.prune(...given),
    truncateTo: async (...given: Parameters<StateWriter['truncateTo']>) => engine.truncateTo(...given),
    putMark: async (...given: Parameters<StateWriter['putMark']>) => engine.putMark(...given),
    beginImport: async (...given: Parameters<StateWriter['beginImport']>) => engine.beginImport(...given),
    unfinishedImport: async () => engine.unfinishedImport(),
    onCommit: (...given: Parameters<StateWriter['onCommit']>) => engine.onCommit(...given),
    close: async () => engine.close(),
    [Symbol.asyncDispose]: async () => engine[Symbol.asyncDispose](),
  }
}

/** Wraps a synchronous engine, for the cases of the contract. */
export function writerToContract(engine: StateWriter): ContractEngine {
  return {
    ...writerMethods(engine),
    ledger: async () => engine.ledger,
    base: async () => engine.base,
    mark: async () => engine.mark,
    at: async (version) => viewToContract(engine.at(version)),
    blockAt: async (version) => engine.blockAt(version),
    blockByHeight: async (height) => engine.blockByHeight(height),
    blockAtTime: async (timestampUsec) => engine.blockAtTime(timestampUsec),
    history: (key, options) => itemsOf(() => engine.history(key, options)),
    nearestWrites: async (keys, search) => (await engineToAsync(engine).snapshot()).nearestWrites(keys, search),
    versions: (first, last) => itemsOf(() => engine.versions(first, last)),
  }
}

function viewToContract(view: EngineView): ContractView {
  return {
    version: view.version,
    get ledger() {
      return view.ledger
    },
    get: async (key) => view.get(key),
    peek: async (key) => view.peek(key),
    has: async (key) => view.has(key),
    getEntry: async (key) => view.getEntry(key),
    getMany: async (keys) => view.getMany(keys),
    scan: (prefix, options) => itemsOf(() => view.scan(prefix, options)),
  }
}

/** Asks for a list at once. If that throws, the first item throws the error. */
function itemsOf<T>(ask: () => Iterable<T>): AsyncIterable<T> {
  let items: Iterable<T> = []
  let failure: { readonly error: unknown } | undefined
  try {
    items = ask()
  } catch (error) {
    failure = { error }
  }
  return (async function* () {
    if (failure) throw failure.error
    yield* items
  })()
}

/** Entries of a page, few enough that the cases see events between pages. */
const SCAN_PAGE = 200

/**
 * Wraps an asynchronous engine, for the cases of the contract.
 * @param page number of revisions or versions of a page: one in the contract, so that its cases see events between
 * pages
 */
export function asyncToContract(engine: AsyncStateWriter, page = 1): ContractEngine {
  return {
    ...writerMethods(engine),
    ledger: async () => (await engine.snapshot()).ledger,
    base: async () => (await engine.snapshot()).base,
    mark: async () => (await engine.snapshot()).mark,
    at: async (version) => asyncViewToContract((await engine.snapshot()).at(version)),
    blockAt: async (version) => (await engine.snapshot()).blockAt(version),
    blockByHeight: async (height) => (await engine.snapshot()).blockByHeight(height),
    blockAtTime: async (timestampUsec) => (await engine.snapshot()).blockAtTime(timestampUsec),
    history: (key, options) => revisionsOf(handled(engine.snapshot()), page, key, options),
    nearestWrites: async (keys, search) => (await engine.snapshot()).nearestWrites(keys, search),
    versions: (first, last) => versionsOf(handled(engine.snapshot()), page, first, last),
  }
}

function asyncViewToContract(view: AsyncStateView): ContractView {
  const load = async (key: Uint8Array) => (await view.load([key]))[0]
  const get = async (key: Uint8Array) => (await load(key))?.value
  return {
    version: view.version,
    ledger: view.ledger,
    get,
    peek: get,
    has: async (key) => (await load(key)) !== undefined,
    getEntry: load,
    getMany: async (keys) => (await view.load(keys)).map((entry) => entry?.value),
    scan: (prefix, options) => entriesOf(view, prefix, options),
  }
}

async function* entriesOf(view: AsyncStateView, prefix: Uint8Array, options?: ScanOptions): AsyncGenerator<KeyedEntry> {
  let left = options?.limit ?? Number.POSITIVE_INFINITY
  let start = options?.start
  do {
    // Wrong arguments are passed on as they are.
    const limit = left > SCAN_PAGE ? SCAN_PAGE : left
    const page = await view.scan(prefix, typeof options === 'number' ? options : { ...options, start, limit })
    yield* page.entries
    left -= page.entries.length
    const last = page.entries.at(-1)?.key
    const from = start ?? (page.next && prefix)
    start = page.next ?? (page.entries.length === limit && last ? keyAfter(last) : undefined)
    expectProgress(!from || !start || Buffer.compare(start, from) > 0)
  } while (start !== undefined && left > 0)
}

/** Checks that a page continues the previous one: otherwise the same page would be asked for without end. */
function expectProgress(isFurther: boolean): void {
  assert.ok(isFurther, 'a page does not continue from the page before')
}

/** Marks a promise as handled: its failure is seen by those who await it, and is not uncaught if nobody does. */
function handled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {})
  return promise
}

async function* revisionsOf(
  taken: Promise<AsyncSnapshot>,
  limit: number,
  key: Uint8Array,
  options?: HistoryOptions,
): AsyncGenerator<Revision> {
  const snapshot = await taken
  const isUpward = options?.order === 'asc'
  let range = options
  for (let from: bigint | undefined; ; ) {
    const page = await snapshot.history(key, { ...range, limit })
    yield* page.revisions
    if (page.next === undefined) return
    expectProgress(from === undefined || (isUpward ? page.next > from : page.next < from))
    from = page.next
    range = isUpward ? { ...range, first: from } : { ...range, last: from }
  }
}

async function* versionsOf(
  taken: Promise<AsyncSnapshot>,
  limit: number,
  first: bigint,
  last: bigint,
): AsyncGenerator<VersionWrites> {
  const snapshot = await taken
  for (let next: bigint | undefined = first; next !== undefined; ) {
    const page = await snapshot.versions(next, last, { limit })
    yield* page.versions
    expectProgress(page.next === undefined || page.next > next)
    next = page.next
  }
}
