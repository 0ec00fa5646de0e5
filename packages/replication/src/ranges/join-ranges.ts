import { Buffer } from 'node:buffer'
import { realpathSync } from 'node:fs'
import {
  type CommitMark,
  decodeCommitMark,
  encodeCommitMark,
  TRANSACTIONS_KEY,
  WHOLE_TRANSACTIONS_KEY,
} from '@ledger-state/records'
import {
  type Assembly,
  joinStores,
  type LmdbEngineReader,
  openAssembly,
  openStateEngineReader,
  type StoreSegments,
  withSystemErrorsAsync,
} from '@ledger-state/state-engine'
import { joinedDamaged, rangeErrors } from '../errors.js'

/** Callbacks of a join. */
export interface JoinRangesOptions {
  /** Called with the bytes of the files that are read, and of all. */
  readonly onProgress?: ((bytes: number, total: number) => void) | undefined
  /** Verifies the joined store in its unfinished folder, before it gets its name. An error that it throws ends the call. */
  readonly verify?: ((folder: string) => Promise<void>) | undefined
  readonly signal?: AbortSignal | undefined
}

/** The versions of a joined store. */
export interface JoinedRanges {
  readonly firstVersion: bigint
  readonly lastVersion: bigint
  /** Number of stores. */
  readonly stores: number
}

/** A store that an ingest has filled with a range. */
interface RangeStore {
  readonly path: string
  readonly segments: StoreSegments
  readonly mark: CommitMark
  /** Whether the store says that its newest version came with its transaction, and with all of it. */
  readonly markers: readonly boolean[]
}

/** Level of the files that `compact` makes. */
const FINAL_LEVEL = 255
/** The parts of transactions that a range keeps, as its mark has them. Whole transactions are kept with their summaries. */
const [SUMMARY, WHOLE] = [1, 2]

/**
 * Joins stores of ranges of a ledger, in any order, into one store. The ranges must follow each other: the accumulator
 * with which a range begins is compared with that at the end of the range before, with all its subtrees. The joined
 * store appears at `path` when it is complete and checked.
 * @throws `invalid_argument` if a store is not of a range, or is not finished, or keeps other parts of transactions;
 *   `version_gap`; `ledger_fork`; `chain_id_mismatch`; `store_corrupt`; `store_not_empty`; `store_locked` while another
 *   process joins into the same folder; `store_full`
 */
export async function joinRanges(
  folders: readonly string[],
  path: string,
  options: JoinRangesOptions = {},
): Promise<JoinedRanges> {
  const stores: RangeStore[] = []
  for (const folder of folders) stores.push(await readRange(folder))
  stores.sort((a, b) => Number(a.segments.ledger.oldestVersion - b.segments.ledger.oldestVersion))
  for (const [at, store] of stores.entries()) if (at > 0) expectNext(stores[at - 1]!, store)
  const assembly = openAssembly(path)
  try {
    expectNotIn(assembly.folder, folders)
    await withSystemErrorsAsync(assembly.folder, () => joinInto(assembly, stores, path, options))
  } finally {
    assembly.close()
  }
  const [first, last] = [stores[0]!.segments.ledger, stores.at(-1)!.segments.ledger]
  return { firstVersion: first.oldestVersion, lastVersion: last.latestVersion, stores: stores.length }
}

/** @throws `invalid_argument` if a range lies where the joined store is put together, which would remove its files */
function expectNotIn(unfinished: string, folders: readonly string[]): void {
  const place = realpathSync(unfinished)
  const found = folders.find((folder) => realpathSync(folder) === place)
  if (found !== undefined) throw rangeErrors.inPlaceOfUnfinished(found)
}

async function joinInto(
  assembly: Assembly,
  stores: readonly RangeStore[],
  path: string,
  options: JoinRangesOptions,
): Promise<void> {
  const files = await joinStores(
    assembly,
    stores.map(({ segments }) => segments),
    options,
  )
  const [first, last] = [stores[0]!, stores.at(-1)!]
  const { latestVersion, latestBlock } = last.segments.ledger
  const ledger = { ...first.segments.ledger, latestVersion, latestBlock }
  await assembly.create({ ...first.segments, ledger, mark: markOf(first, last) }, files)
  await expectSound(path, assembly.folder)
  await options.verify?.(assembly.folder)
  options.signal?.throwIfAborted()
  await assembly.publish()
}

async function readRange(path: string): Promise<RangeStore> {
  const engine = openStateEngineReader({ path })
  try {
    const mark = decodeCommitMark(engine.mark)
    const { range } = mark
    if (!range) throw rangeErrors.notARange(path)
    const segments = segmentsOf(engine, path, `${range.from}-${range.to}`)
    const { ledger } = segments
    const markers = [TRANSACTIONS_KEY, WHOLE_TRANSACTIONS_KEY].map((key) => engine.at(ledger.latestVersion).has(key))
    return { path, segments, mark, markers }
  } finally {
    await engine.close()
  }
}

function segmentsOf(engine: LmdbEngineReader, path: string, range: string): StoreSegments {
  const stats = engine.stats
  if (stats.memtableEntries > 0) throw rangeErrors.notFinished(path, range)
  const segments = engine.segments()
  if (segments.files.some(({ level }) => level !== FINAL_LEVEL)) throw rangeErrors.notFinished(path, range)
  return segments
}

/** @throws `chain_id_mismatch`, `version_gap`, `ledger_fork`, `invalid_argument` */
function expectNext(before: RangeStore, next: RangeStore): void {
  const [held, found] = [before.segments.ledger, next.segments.ledger]
  if (held.chainId !== found.chainId) {
    throw rangeErrors.otherChain(next.path, found.chainId, before.path, held.chainId)
  }
  const expected = held.latestVersion + 1n
  if (found.oldestVersion !== expected) {
    if (found.oldestVersion < expected) throw rangeErrors.overlap(before.path, next.path, found.oldestVersion)
    throw rangeErrors.gap(before.path, next.path, expected, found.oldestVersion)
  }
  const { source, hashSalt, isUnproven } = before.mark
  const range = next.mark.range!
  const isSame = source && range.before && Buffer.compare(source, range.before) === 0
  if (!isSame || isUnproven || next.mark.isUnproven || hashSalt !== next.mark.hashSalt) {
    throw rangeErrors.otherLedger(before.path, next.path, found.oldestVersion)
  }
  if (range.kept !== before.mark.range!.kept || !keepsAsAsked(before, range.kept)) {
    throw rangeErrors.otherTransactions(before.path, next.path)
  }
}

/** Whether a store that is followed by a range keeps the parts of transactions that the range expects. */
function keepsAsAsked({ markers, mark }: RangeStore, kept: number): boolean {
  // A range above the first does not say it by itself.
  if (mark.range!.from > 0n) return true
  return (kept < SUMMARY || markers[0] === true) && (kept < WHOLE || markers[1] === true)
}

/** The mark of the last range. Nothing of it says that the store is a part if the first range begins with the ledger. */
function markOf(first: RangeStore, last: RangeStore): Uint8Array {
  const { range: lastRange, ...mark } = last.mark
  const range = first.segments.base.complete ? undefined : { ...first.mark.range!, to: lastRange!.to }
  return encodeCommitMark({ ...mark, range })
}

async function expectSound(path: string, folder: string): Promise<void> {
  const engine = openStateEngineReader({ path: folder })
  try {
    const { problems } = await engine.check()
    if (problems.length > 0) throw joinedDamaged(path, problems.slice(0, 3))
  } finally {
    await engine.close()
  }
}
