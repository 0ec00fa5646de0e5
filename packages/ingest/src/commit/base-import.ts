import { isLedgerStateError, type KeyedEntry } from '@ledger-state/core'
import type { AsyncStateWriter, StateImport } from '@ledger-state/engine'
import type { LedgerSource, StateBase } from '@ledger-state/feed'
import {
  CHECKPOINT_KEY,
  encodeCommitMark,
  HOLDINGS_KEY,
  type ImportedPart,
  isMarkOfImport,
  markOfImport,
  STATE_ROOT_KEY,
  sourceMarkOf,
} from '@ledger-state/records'
import { WritesHash } from '@ledger-state/records/writes-hash'
import { type PassOptions, SlicedImport, type SliceFilter } from '@ledger-state/slices/take'
import { stateWithoutBase, storeNotEmpty } from '../errors.js'
import { endingWrites } from '../signatures/epoch-endings.js'
import type { CountedIngest } from './counters.js'
import type { HoldingsKeeper } from './holdings-keeper.js'
import type { IngestOptions } from './ingest-options.js'
import { withPlace } from './with-place.js'

/** The engine that imports a state, the source, and the counters. */
export interface BaseImportParts {
  readonly engine: AsyncStateWriter
  readonly source: LedgerSource
  readonly options: IngestOptions
  readonly counters: CountedIngest
  /** Filter of a slice; undefined if everything is kept. */
  readonly filter: SliceFilter | undefined
  readonly holdings: HoldingsKeeper
}

/**
 * Fills an empty store with the state with which a source begins, and resumes an import that was cut short. Does
 * nothing if the store has the version of the state. The signal stops it after a part, and the same call resumes it.
 */
export async function importBase(parts: BaseImportParts, base: StateBase): Promise<void> {
  const { engine, source, options, filter } = parts
  const held = engine.ledger
  if (held && held.latestVersion >= base.version) return
  if (held) throw storeNotEmpty(base.version, held.latestVersion)
  if (!base.complete && !options.assumeEmptyBase) throw stateWithoutBase(source.position, base.version)
  const slice = filter && new SlicedImport(filter, options.only!, base.version)
  const imported = { digest: slice?.digest, hasHoldings: options.holdings !== false }
  const state = await beginImport(parts, base.version, imported)
  try {
    if (slice && !(await slice.findMembers(source, passOptions(parts)))) return
    await importParts(parts, state, base, slice, imported)
  } catch (error) {
    // An import of a slice that was refused leaves nothing behind.
    const isRefused = isLedgerStateError(error, 'slice_unbounded') || isLedgerStateError(error, 'slice_mismatch')
    if (isRefused) await engine.beginImport(base.version, { resume: false })
    throw error
  } finally {
    slice?.close()
  }
}

/** Begins or resumes an import. From the start, its mark says which part of the state it keeps. */
async function beginImport(
  { engine, options }: BaseImportParts,
  version: bigint,
  imported: ImportedPart,
): Promise<StateImport> {
  const left = await engine.unfinishedImport()
  if (left && left.version !== version)
    options.onNotice?.(droppedImport(left.version, `begins with the state at version ${version}`))
  const begun = await engine.beginImport(version, { resume: true })
  const isOther = !isMarkOfImport(begun.mark, imported)
  if (isOther) options.onNotice?.('the interrupted import kept another part of the state: it starts over')
  const state = isOther ? await engine.beginImport(version, { resume: false }) : begun
  const begin = markOfImport(undefined, imported)
  if (begin && state.mark === undefined) await state.add([], begin)
  return state
}

/** One line about an import of a state that was cut short. @param why what the source does instead */
export function droppedImport(version: bigint, why: string): string {
  return `the import of the state at version ${version} that was cut short is dropped: the source ${why}`
}

function passOptions({ options, counters }: BaseImportParts): Omit<PassOptions<LedgerSource>, 'reopen'> {
  return {
    onNotice: (message) => options.onNotice?.(message),
    signal: options.signal,
    onPart: (source) => options.progress?.update(counters, source.progress),
  }
}

async function importParts(
  { source, options, counters, holdings }: BaseImportParts,
  state: StateImport,
  base: StateBase,
  slice: SlicedImport<LedgerSource> | undefined,
  imported: ImportedPart,
): Promise<void> {
  const { complete } = base
  const { signal, observer, progress } = options
  if (state.entryCount > 0) options.onNotice?.(`resuming after entry ${state.entryCount} of the state`)
  else if (base.stateRoot) {
    const root = { key: STATE_ROOT_KEY, version: base.version, value: base.stateRoot }
    await state.add([root], state.mark)
  }
  for await (const part of base.parts(sourceMarkOf(state.mark, imported))) {
    const entries = holdings.addToState(slice ? slice.keep(part, source.position) : part.entries)
    if (entries.length > 0) await withPlace(source, () => state.add(entries, markOfImport(part.mark, imported)))
    counters.addState(part)
    observer?.onSourceProgress(source.progress)
    progress?.update(counters, source.progress)
    if (signal?.aborted) return
  }
  const description = base.describe()
  if (slice) await withPlace(source, () => slice.addRecords(state))
  if (imported.hasHoldings)
    await addNew(state, [{ key: HOLDINGS_KEY, version: base.version, value: new Uint8Array(0) }])
  await importTrustedState(state, base, source)
  const { trustedState } = source
  const mark = encodeCommitMark({
    isUnproven: description.mark === undefined,
    source: description.mark,
    writesHash: WritesHash.begin(base.version).value,
    wholeHash: undefined,
    hashSalt: source.hashSalt,
    signed: trustedState && { version: base.version, ...trustedState },
    contradicted: undefined,
    pending: [],
  })
  await withPlace(source, () => state.finish({ ...description, mark, complete }))
  counters.latestVersion = base.version
}

/** Adds the data that verifies a state. An import that was cut short at this point may have added it already. */
async function importTrustedState(
  state: StateImport,
  { version, checkpoint }: StateBase,
  source: LedgerSource,
): Promise<void> {
  const writes = await endingWrites(undefined, source.takeEndings?.() ?? [])
  if (checkpoint) writes.push([CHECKPOINT_KEY, checkpoint])
  const entries = writes.map(([key, value]) => ({ key, version, value: value! }))
  if (entries.length === 0 || (await addNew(state, entries))) return
  for (const entry of entries) await addNew(state, [entry])
}

/** Adds entries, and returns whether it did: an import that was cut short at this point may have added some already. */
async function addNew(state: StateImport, entries: readonly KeyedEntry[]): Promise<boolean> {
  try {
    await state.add(entries, state.mark)
    return true
  } catch (error) {
    if (!isLedgerStateError(error, 'duplicate_key')) throw error
    return false
  }
}
