import { existsSync } from 'node:fs'
import { isLedgerStateError } from '@ledger-state/core'
import type { AsyncStateWriter } from '@ledger-state/engine'
import {
  KNOWN_NETWORKS,
  type LedgerSource,
  type Network,
  openNetwork,
  openSource,
  type SourceOptions,
} from '@ledger-state/feed'
import {
  followSource,
  type IngestCounters,
  type IngestOptions,
  ingestSource,
  type KeptParts,
  verifySource,
} from '@ledger-state/ingest'
import { readSliceStatus } from '@ledger-state/slices'
import { type Compress, memoryBytes, type StateEngine } from '@ledger-state/state-engine'
import type { CommandInput } from '../config/command.js'
import { readHashSalt } from '../config/hash-salt.js'
import { readKeptParts, readRetainedTransactions } from '../config/kept-parts.js'
import { settings } from '../config/settings.js'
import { readSliceSettings, type SliceSettings, sliceSpecOf } from '../config/slice-settings.js'
import { noLedgerErrors, stoppedBy, usage, usageError, withAdvice } from '../errors.js'
import { auditStateRoot } from '../stores/audit-state-root.js'
import { keepTree, type TreeSettings, treeFolderOf } from '../stores/keep-tree.js'
import { openWriter } from '../stores/open-writer.js'
import { rememberFolder } from '../stores/remember-folder.js'
import type { StorePlace } from '../stores/store-place.js'
import { formatCount, formatDuration } from '../terminal/amounts.js'
import { writeNotice } from '../terminal/notice.js'
import { CLEARED_LINE, createProgressLine } from '../terminal/progress-line.js'
import { describeSlice } from '../terminal/slice-rows.js'
import type { Stop } from '../terminal/stop-signal.js'
import { describeTrustedState } from '../terminal/trusted-state.js'
import { expectNoBegunSlice } from './begin-sliced-replica.js'
import { ingestTableBytes } from './ingest-memory.js'
import { createIngestProgress } from './ingest-progress.js'
import { mergeWithProgress } from './merge-with-progress.js'
import { sliceOptionsOf } from './slice-options.js'
import { withWiderCommand } from './wider-slice.js'

export interface IngestSettings {
  readonly retain: bigint | undefined
  readonly assumeEmptyBase: boolean
  readonly chainId: number | undefined
  readonly keepTransactions: KeptParts
  /** Versions whose transactions stay after their state is pruned. */
  readonly retainTransactions: bigint | undefined
  /** Whether to write the index of holdings. */
  readonly holdings: boolean
  readonly compress: Compress
  /** Whether to compare the root of an imported state with the ledger's root. */
  readonly checkStateRoot: boolean
  /** Whether to refuse a window of a backup for which the disk is too small. */
  readonly checkDisk: boolean
  /** Slice to keep; undefined to keep everything, or the slice that the store already keeps. */
  readonly slice: SliceSettings | undefined
  readonly trees: TreeSettings
  readonly source: SourceSettings
}

export interface SourceSettings extends SourceOptions {
  /** URL of a backup that another node serves, which is used instead of the network's backups. */
  readonly backupOfNode?: string | undefined
}

export function parseIngestSettings(input: CommandInput): IngestSettings {
  const waypoints = input.get(settings.waypoints) ?? []
  const unsigned = input.get(settings.unsigned)
  const verify = input.get(settings.verify)
  if (waypoints.length > 0 && !verify) throw usageError('--waypoint and --no-verify contradict each other')
  if (waypoints.length > 0 && unsigned) throw usageError('--waypoint and --unsigned contradict each other')
  const backupOfNode = backupServedBy(input.get(settings.fromNode))
  const network = input.get(settings.network)
  const since = input.get(settings.since)
  const retain = input.get(settings.retain)
  return {
    retain,
    assumeEmptyBase: input.get(settings.assumeEmptyBase),
    chainId: input.get(settings.chainId) ?? network?.chainId,
    keepTransactions: readKeptParts(input),
    retainTransactions: readRetainedTransactions(input, retain),
    holdings: input.get(settings.holdings) === 'on',
    compress: input.get(settings.compress),
    checkStateRoot: input.get(settings.checkStateRoot),
    checkDisk: input.get(settings.checkDisk),
    slice: readSliceSettings(input),
    trees: { kept: input.get(settings.checkpointTrees), folder: input.get(settings.treeDir) },
    source: {
      keepFolder: input.get(settings.keepChunks),
      window: since && { since: since.bound, words: since.words },
      waypoints,
      unsigned,
      verify,
      headers: input.get(settings.followHeader),
      network: network && withBackup(network, backupOfNode),
      backupOfNode,
      hashSalt: readHashSalt(input),
      onNotice: notice,
    },
  }
}

/** URL at which a node serves the folder of `--serve-backup`. */
function backupServedBy(node: string | undefined): string | undefined {
  return node && `${node.replace(/\/+$/, '')}/backup`
}

function withBackup(network: Network, backup: string | undefined): Network {
  return backup === undefined ? network : { ...network, backups: [backup] }
}

/**
 * Opens a source, or a backup of the network with that name. A signal stops the opening and later transfers.
 * @throws `stopped`, and as `openSource`
 */
export async function openToIngest(
  location: string,
  { backupOfNode, ...options }: SourceSettings,
  stop: Stop,
): Promise<LedgerSource> {
  const named = networkNamed(location, options.network)
  if (!named && backupOfNode !== undefined && location !== backupOfNode) throw usage.sourceBesideNode(location)
  try {
    const network = named && withBackup(named, backupOfNode)
    if (network) return await openNetwork(network, { ...options, hashSalt: network.hashSalt, signal: stop.signal })
    return await openSource(location, { ...options, signal: stop.signal })
  } catch (error) {
    throw asStopped(error, stop)
  }
}

/** The network that a location names, unless a file or folder has that name. */
function networkNamed(location: string, given: Network | undefined): Network | undefined {
  const network = given?.name === location ? given : KNOWN_NETWORKS.find(({ name }) => name === location)
  return network && !existsSync(location) ? network : undefined
}

/** Turns an error of a source that a signal ended into `stopped`, because it is not a fault of the source. */
function asStopped(error: unknown, stop: Stop): unknown {
  const signal = stop.by()
  return signal && isLedgerStateError(error, 'source_failed')
    ? stoppedBy(signal, 'run the same command again to resume')
    : error
}

export interface IngestIntoOptions extends Omit<IngestOptions, 'progress' | 'onNotice' | 'signal' | 'only'> {
  readonly stop: Stop
  readonly slice?: SliceSettings | undefined
  /** Location of the source, as it was given. */
  readonly location: string
  /** Opens the source again, for a slice of a state. */
  readonly openAgain: () => Promise<LedgerSource>
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
export async function ingestInto(
  place: StorePlace,
  source: LedgerSource,
  {
    stop,
    untilStopped = false,
    reopen,
    checkStateRoot = false,
    trees,
    hashSalt,
    compress,
    slice,
    location,
    ...options
  }: IngestIntoOptions,
): Promise<void> {
  const began = performance.now()
  try {
    if (!slice) expectNoBegunSlice(place)
    const restoreFolder = place.kind === 'folder' ? rememberFolder(place.dataDir) : () => {}
    // A store that follows a node may be served meanwhile, and readers take as much memory as this process.
    const memtableBytes = reopen ? undefined : ingestTableBytes(memoryBytes())
    const engine = await openWriter(place, {
      compress,
      memtableBytes,
      part: options.range !== undefined,
    })
    let isIngested = false
    try {
      const progress = createIngestProgress(process.stderr, 'ingesting', reopen ? undefined : source)
      const only = slice && sliceOptionsOf(slice, place, options.openAgain)
      const how = { ...options, only, signal: stop.signal, progress, onNotice: notice }
      const ingesting = reopen ? followSource(engine, source, reopen, how) : ingestSource(engine, source, how)
      const counters = await ingesting.catch(async (error: unknown) => {
        throw isLedgerStateError(error, 'slice_mismatch') && slice
          ? await withWiderCommand(error, engine, place, location, sliceSpecOf(slice))
          : error
      })
      const what = `${describe(source, counters)} from the ${source.description} in ${durationSince(began)}`
      const { ledger } = engine
      const holds = ledger
        ? `the store holds versions ${ledger.oldestVersion} to ${ledger.latestVersion}`
        : 'the store is empty'
      const signal = stop.by()
      isIngested = ledger !== undefined || signal !== undefined
      if (!ledger && !signal) throw noLedgerErrors.nothingIngested(source.description)
      if (signal && !untilStopped) throw stoppedBy(signal, `${what}; ${holds}; run the same command again to resume`)
      if (memtableBytes && engine.kind === 'sync' && !signal) {
        await mergeWithProgress(engine, process.stderr)
        if (options.range) {
          notice('making one segment of all files: it can then be joined with other ranges')
          await engine.compact()
        }
      }
      notice(`${signal ? 'stopped' : 'ingested'}: ${what}; ${holds}`)
      const status = await readSliceStatus(engine)
      if (status) notice(describeSlice(status))
      if (checkStateRoot && !status && counters.entries > 0 && source.base?.stateRoot && !signal) {
        notice(await auditStateRoot(engine, place, { version: source.base.version, hashSalt, signal: stop.signal }))
      }
      if (trees && !signal) {
        const folder = treeFolderOf(place, trees.folder)
        const line = createProgressLine(process.stderr)
        const said = await keepTree(engine, place, { ...trees, folder, hashSalt, line, signal: stop.signal })
        if (said) notice(said)
      }
    } finally {
      // Runs before the lock is released, because another process may open the folder as soon as it is.
      if (!isIngested && isEmptyStore(engine)) restoreFolder()
      await engine.close()
    }
  } catch (error) {
    throw withAdvice(asStopped(error, stop))
  } finally {
    await source.close()
  }
}

/** Whether there is nothing to resume from: neither a version nor a part of an imported state. */
function isEmptyStore(engine: StateEngine | AsyncStateWriter): boolean {
  return engine.kind === 'sync' && !engine.ledger && engine.stats.keys === 0
}

/**
 * Reads and proves a source without a store, and prints its content on standard error.
 * @throws `stopped` if a signal cut it short
 */
export async function proveSource(
  source: LedgerSource,
  { stop, ...range }: { readonly from: bigint | undefined; readonly to: bigint | undefined; readonly stop: Stop },
): Promise<void> {
  const began = performance.now()
  const progress = createIngestProgress(process.stderr, 'proving', source)
  const verified = await verifySource(source, { ...range, signal: stop.signal, progress }).catch((error: unknown) => {
    throw asStopped(error, stop)
  })
  const { firstVersion, latestVersion, isProven, trustedState } = verified
  const covered = firstVersion === undefined ? '' : ` (${firstVersion} to ${latestVersion})`
  const what = `${describe(source, verified, covered)} in the ${source.description}, in ${durationSince(began)}`
  const signal = stop.by()
  if (signal) throw stoppedBy(signal, `${what}; the rest was not read`)
  if (trustedState && latestVersion === undefined) {
    notice(
      `sound: the validators of the epochs up to ${trustedState.epoch} are verified from the waypoint ${trustedState.waypoint}`,
    )
    return
  }
  const signed = trustedState ? `; signed ${describeTrustedState(trustedState)}` : ''
  notice(`${isProven ? 'sound' : 'read without proofs'}: ${what}${signed}`)
}

/** Describes the data read. `covered` is a text about the versions that follows their number. */
function describe({ base }: LedgerSource, { entries, versions, writes }: IngestCounters, covered = ''): string {
  const state = entries > 0 ? `a state of ${formatCount(entries)} entries at version ${base!.version}, ` : ''
  return `${state}${formatCount(versions)} versions${covered}, ${formatCount(writes)} writes`
}

function durationSince(began: number): string {
  return formatDuration((performance.now() - began) / 1_000)
}

export function notice(message: string): void {
  // Clears a line of progress that may be on the terminal.
  writeNotice(`${process.stderr.isTTY ? CLEARED_LINE : ''}${message}`)
}
