import { isLedgerStateError } from '@ledger-state/core'
import type { AsyncStateWriter } from '@ledger-state/engine'
import type { LedgerSource } from '@ledger-state/feed'
import { followSource, type IngestOptions, ingestSource } from '@ledger-state/ingest'
import { readSliceStatus } from '@ledger-state/slices'
import { type Compress, memoryBytes, type StateEngine } from '@ledger-state/state-engine'
import { type SliceSettings, sliceSpecOf } from '../config/slice-settings.js'
import { noLedgerErrors, stoppedBy } from '../errors.js'
import { auditStateRoot } from '../stores/audit-state-root.js'
import { auditedStore } from '../stores/audited-store.js'
import { isEmptyStore } from '../stores/is-empty-store.js'
import { keepTree, type TreeSettings, treeFolderOf } from '../stores/keep-tree.js'
import { openWriter } from '../stores/open-writer.js'
import { rememberFolder } from '../stores/remember-folder.js'
import type { StorePlace } from '../stores/store-place.js'
import { createProgressLine } from '../terminal/progress-line.js'
import { describeSlice } from '../terminal/slice-rows.js'
import type { Stop } from '../terminal/stop-signal.js'
import { closeOnStop, untilStopOf } from '../until-stop.js'
import { expectNoBegunSlice } from './begin-sliced-replica.js'
import { ingestTableBytes } from './ingest-memory.js'
import { describeIngested, durationSince, notice } from './ingest-notice.js'
import { createIngestProgress } from './ingest-progress.js'
import { mergeWithProgress } from './merge-with-progress.js'
import { asStopped } from './open-to-ingest.js'
import { sliceOptionsOf } from './slice-options.js'
import { withWiderCommand } from './wider-slice.js'
import { SOURCES_FOLDER } from './window-of-backup.js'

export interface IngestIntoOptions extends Omit<IngestOptions, 'progress' | 'onNotice' | 'signal' | 'only'> {
  readonly stop: Stop
  readonly slice?: SliceSettings | undefined
  /** Location of the source, as it was given. */
  readonly location: string
  /** Opens the source again, for a slice of a state. */
  readonly openAgain: (() => Promise<LedgerSource>) | undefined
  /** Whether to compare the root of an imported state with the ledger's root; false by default. */
  readonly checkStateRoot?: boolean
  /** Trees of signed checkpoints to keep; none by default. */
  readonly trees?: TreeSettings
  readonly hashSalt?: string | undefined
  readonly compress?: Compress
  /** Whether a signal ends it in order, as with a followed node, or cuts it short. */
  readonly untilStopped?: boolean
  /** Opens a followed source again, after an answer that ended it. */
  readonly reopen?: (() => Promise<LedgerSource>) | undefined
}

/**
 * Ingests a source into a store, and prints the result on standard error.
 * @throws `stopped` if a signal cut it short
 */
export async function ingestInto(place: StorePlace, source: LedgerSource, options: IngestIntoOptions): Promise<void> {
  const { stop, untilStopped = false, reopen, compress, slice, range } = options
  try {
    if (!slice) expectNoBegunSlice(place)
    const restoreFolder = place.kind === 'folder' ? rememberFolder(place.dataDir, SOURCES_FOLDER) : () => {}
    // A store that follows a node may be served meanwhile, and readers take as much memory as this process.
    const memtableBytes = reopen ? undefined : ingestTableBytes(memoryBytes())
    const engine = await openWriter(place, { compress, memtableBytes, part: range !== undefined })
    let isIngested = false
    try {
      const { counters, report } = await readSource(engine, place, source, options)
      const signal = stop.by()
      isIngested = engine.ledger !== undefined || signal !== undefined
      if (!isIngested) throw noLedgerErrors.nothingIngested(source.description)
      if (signal && !untilStopped) throw stoppedBy(signal, `${report}; run the same command again to resume`)
      if (memtableBytes && engine.kind === 'sync' && !signal) {
        const left = `${report}, not merged yet; run the same command again to merge them`
        await untilStopOf(stop, left, () => mergeFiles(engine, range !== undefined, stop.signal))
      }
      notice(`${signal ? 'stopped' : 'ingested'}: ${report}`)
      const status = await readSliceStatus(engine)
      if (status) notice(describeSlice(status))
      if (!signal && !status && counters.entries > 0) await checkImportedState(engine, place, source, options)
      if (!signal) await keepTreeOfState(engine, place, options)
    } finally {
      // Runs before the lock is released, because another process may open the folder as soon as it is.
      if (!isIngested && engine.kind === 'sync' && (await isEmptyStore(engine).catch(() => false))) restoreFolder()
      await engine.close()
    }
  } catch (error) {
    throw asStopped(error, stop)
  } finally {
    await source.close()
  }
}

type Writer = StateEngine | AsyncStateWriter

/** Reads the source to its end, or until it is stopped. Returns counts, and a line about them and the store. */
async function readSource(engine: Writer, place: StorePlace, source: LedgerSource, options: IngestIntoOptions) {
  const { stop, reopen, slice, location, openAgain } = options
  const began = performance.now()
  const progress = createIngestProgress(process.stderr, 'ingesting', reopen ? undefined : source)
  const only = slice && sliceOptionsOf(slice, place, openAgain)
  const how = { ...options, only, signal: stop.signal, progress, onNotice: notice }
  const ingesting = reopen ? followSource(engine, source, reopen, how) : ingestSource(engine, source, how)
  const counters = await ingesting.catch(async (error: unknown) => {
    throw isLedgerStateError(error, 'slice_mismatch') && slice
      ? await withWiderCommand(error, engine, place, location, sliceSpecOf(slice))
      : error
  })
  const { ledger } = engine
  const holds = ledger
    ? `the store holds versions ${ledger.oldestVersion} to ${ledger.latestVersion}`
    : 'the store is empty'
  const read = `${describeIngested(source, counters)} from the ${source.description} in ${durationSince(began)}`
  return { counters, report: `${read}; ${holds}` }
}

/** Merges everything into files, and for a range of versions into one file. */
async function mergeFiles(engine: StateEngine, isRange: boolean, signal: AbortSignal): Promise<void> {
  closeOnStop(signal, engine)
  await mergeWithProgress(engine, process.stderr)
  if (!isRange) return
  notice('merging all files into one segment, so that it can be joined with other ranges')
  await engine.compact()
}

/**
 * Compares the root of an imported state with the ledger's root, if that is asked for. If the state is pruned, all later
 * states come from the oldest one in the window, whose root is then compared.
 */
async function checkImportedState(
  engine: Writer,
  place: StorePlace,
  { base }: LedgerSource,
  { checkStateRoot = false, hashSalt, stop }: IngestIntoOptions,
): Promise<void> {
  if (!checkStateRoot || !base?.stateRoot) return
  const store = await auditedStore(engine)
  const isPruned = base.version < store.ledger!.oldestVersion
  const version = isPruned ? await store.oldestRootVersion() : base.version
  if (isPruned) {
    const instead =
      version === undefined ? 'no later one has a root to compare' : `version ${version} is compared instead`
    notice(`the imported state of version ${base.version} is pruned (--retain): ${instead}`)
  }
  if (version === undefined) return
  const left = 'the imported state is in the store, but was not checked; ledger-state check --state-root checks it'
  await untilStopOf(stop, left, async (signal) =>
    notice(await auditStateRoot(engine, place, { version, hashSalt, signal })),
  )
}

/** Makes the tree of the newest signed checkpoint, if it is to be kept. */
async function keepTreeOfState(
  engine: Writer,
  place: StorePlace,
  { trees, hashSalt, stop }: IngestIntoOptions,
): Promise<void> {
  if (!trees) return
  const folder = treeFolderOf(place, trees.folder)
  const line = createProgressLine(process.stderr)
  const left = 'everything is in the store, but its tree was not built; ledger-state trust keep-tree builds it'
  const said = await untilStopOf(stop, left, (signal) =>
    keepTree(engine, place, { ...trees, folder, hashSalt, line, signal }),
  )
  if (said) notice(said)
}
