import { isDeepStrictEqual } from 'node:util'
import type { KeptParts } from '@ledger-state/ingest'
import type { CommandInput } from '../config/command.js'
import { forwardSettings } from '../config/forward-settings.js'
import { readHashSalt } from '../config/hash-salt.js'
import { readKeptParts, readRetainedTransactions, readTransactionIndexes } from '../config/kept-parts.js'
import { limitsOfSettings } from '../config/limit-settings.js'
import type { Option } from '../config/option.js'
import { type ListenAddress, settings } from '../config/settings.js'
import { asksForSlice, readSliceSettings } from '../config/slice-settings.js'
import { usageError } from '../errors.js'
import type { NetworkWindow } from '../ingest/network-window.js'
import type { LogSettings } from '../observability/logger.js'
import { treeFolderOf } from '../stores/keep-tree.js'
import type { StorePlace } from '../stores/store-place.js'
import type { AuditProcessSettings } from './audit-process.js'
import type { FeedServerSettings } from './feed-server.js'
import type { ReaderSettings } from './reader.js'
import type { WriterSettings } from './writer.js'

/** The settings of each part of a node. */
export interface NodeSettings {
  readonly place: StorePlace
  /** Whether to create an empty store if there is none. */
  readonly create: boolean
  readonly listen: ListenAddress
  /** Address of the administration; undefined if it is switched off. */
  readonly adminListen: ListenAddress | undefined
  readonly readers: number
  readonly drainDelayMs: number
  readonly stopTimeoutMs: number
  /** Age of the newest block above which the node is not ready; undefined if any age is. */
  readonly maxLagMs: number | undefined
  readonly log: LogSettings
  readonly reader: ReaderSettings
  /** Settings for serving replicas; undefined if replicas are not served. */
  readonly feed: FeedServerSettings | undefined
  /** Settings of the audit; undefined if nothing is audited. */
  readonly audit: AuditProcessSettings | undefined
  /** Settings of the writer; undefined if it has nothing to write: no node to follow, and no window to keep. */
  readonly writer: WriterSettings | undefined
  /** The value of every setting, by its name. */
  readonly byName: Readonly<Record<string, unknown>>
}

/** Settings that take effect while the node runs. */
const AT_ONCE: ReadonlySet<string> = new Set(
  Object.values<Option<unknown>>(settings).flatMap(({ name, appliesAtOnce }) => (appliesAtOnce ? [name] : [])),
)

/** Names of the settings that differ. */
export function changedSettings(before: NodeSettings, after: NodeSettings): { atOnce: string[]; atRestart: string[] } {
  const names = Object.keys({ ...before.byName, ...after.byName })
  const changed = names.filter((name) => !isDeepStrictEqual(before.byName[name], after.byName[name]))
  return {
    atOnce: changed.filter((name) => AT_ONCE.has(name)),
    atRestart: changed.filter((name) => !AT_ONCE.has(name)),
  }
}

/** Settings of a running node after a change of its configuration. */
export interface RereadSettings {
  readonly all: NodeSettings
  /** The settings that are now in force: those that wait for a restart are as they were. */
  readonly atOnce: NodeSettings
}

/**
 * Reads the settings of a running node again.
 * @throws `usage` if they are wrong
 */
export function rereadSettings(input: CommandInput, read: (input: CommandInput) => NodeSettings): RereadSettings {
  const { all, atOnce } = input.reread()
  return { all: read(all), atOnce: read(atOnce) }
}

/** Settings that several parts share, or that follow from more than one option. */
interface SharedSettings {
  readonly place: StorePlace
  readonly log: LogSettings
  readonly stopTimeoutMs: number
  /** The recommended window of the network; undefined if it is not kept. */
  readonly window: NetworkWindow | undefined
  /** URL of the followed node; undefined if none is followed. */
  readonly follow: string | undefined
  readonly retain: bigint | undefined
}

/**
 * Derives the settings of a node's parts.
 * @throws `usage` if settings contradict each other
 */
export function nodeSettings(
  input: CommandInput,
  place: StorePlace,
  defaultRetain?: bigint,
  window?: NetworkWindow,
): NodeSettings {
  const shared: SharedSettings = {
    place,
    log: { level: input.get(settings.logLevel), format: input.get(settings.logFormat) },
    stopTimeoutMs: input.get(settings.stopTimeout),
    window,
    follow: followedUrl(input) ?? window?.network.nodes?.[0],
    retain: input.get(settings.retain) ?? defaultRetain,
  }
  if (place.kind === 'database') expectFolderNotNeeded(input)
  return {
    place,
    create: shared.follow !== undefined || window !== undefined || input.get(settings.create),
    listen: input.get(settings.listen),
    adminListen: input.get(settings.adminListen),
    readers: input.get(settings.readers),
    drainDelayMs: input.get(settings.drainDelay),
    stopTimeoutMs: shared.stopTimeoutMs,
    maxLagMs: input.get(settings.maxLag),
    log: shared.log,
    byName: {
      ...input.effective(),
      [settings.store.name]: place,
      [settings.followHeader.name]: input.get(settings.followHeader),
      [settings.forwardHeader.name]: input.get(settings.forwardHeader),
    },
    reader: readerSettings(input, shared),
    feed: feedSettings(input, shared),
    audit: auditSettings(input, shared),
    writer: writerSettings(input, shared),
  }
}

/** @throws `usage` */
function readerSettings(input: CommandInput, { place, log, stopTimeoutMs, window }: SharedSettings): ReaderSettings {
  const output = { json: input.get(settings.json), bcs: input.get(settings.bcs) }
  if (!output.json && !output.bcs) throw usageError('--no-json and --no-bcs together leave no format for answers')
  return {
    place,
    headerWord: input.get(settings.headerWord),
    compatibleHeaders: input.get(settings.compatibleHeaders),
    leastGasEstimate: input.get(settings.leastGasEstimate),
    output,
    archivalEndpoint: input.get(settings.archivalEndpoint) ?? window?.network.nodes?.[0],
    network: input.get(settings.network)?.name,
    forward: forwardSettings(
      input.get(settings.forward) ?? [],
      input.get(settings.forwardPruned),
      input.get(settings.forwardHeader) ?? {},
    ),
    ...limitsOfSettings((setting) => input.get(setting)),
    explorer: input.get(settings.explorer),
    requireSigned: input.get(settings.requireSigned),
    treeFolder: treeFolderOf(place, input.get(settings.treeDir)),
    auditReadiness: input.get(settings.auditReadiness),
    views: input.get(settings.views),
    viewFilter: input.get(settings.viewFilter),
    viewBudget: input.get(settings.viewBudget),
    stopTimeoutMs,
    log,
  }
}

/** @throws `usage` */
function feedSettings(input: CommandInput, { place, log }: SharedSettings): FeedServerSettings | undefined {
  const listen = input.get(settings.serveFeed)
  const backupFolder = input.get(settings.serveBackup)
  if (backupFolder !== undefined && !listen) throw usageError('--serve-backup needs the address of --serve-feed')
  return listen && place.kind === 'folder' ? { dataDir: place.dataDir, listen, backupFolder, log } : undefined
}

function auditSettings(input: CommandInput, { place, log }: SharedSettings): AuditProcessSettings | undefined {
  if (!input.get(settings.audit) || place.kind !== 'folder') return undefined
  return {
    dataDir: place.dataDir,
    share: input.get(settings.auditShare) / 100,
    proofsBudget: input.get(settings.proofsBudget),
    hashSalt: readHashSalt(input),
    log,
  }
}

/**
 * Parts of transactions that a node keeps by default; undefined for the default of `IngestOptions`. A slice of another
 * node's store begins with a snapshot, from which it takes no whole transactions. By that default it would continue
 * without them.
 */
function defaultKeptParts(input: CommandInput): KeptParts | undefined {
  return input.get(settings.replicaOf) !== undefined && asksForSlice(input) ? 'whole' : undefined
}

/** @throws `usage` */
function writerSettings(input: CommandInput, shared: SharedSettings): WriterSettings | undefined {
  const { place, log, window, follow, retain } = shared
  if (follow === undefined && retain === undefined && window === undefined) return undefined
  return {
    place,
    follow,
    followHeaders: input.get(settings.followHeader),
    retain: retain?.toString(),
    hashSalt: readHashSalt(input),
    verify: input.get(settings.verify),
    keepTransactions: readKeptParts(input) ?? defaultKeptParts(input),
    transactionIndexes: readTransactionIndexes(input),
    retainTransactions: readRetainedTransactions(input, retain)?.toString(),
    holdings: input.get(settings.holdings) === 'on',
    compress: input.get(settings.compress),
    slice: readSliceSettings(input),
    window,
    trees: {
      kept: input.get(settings.checkpointTrees),
      folder: treeFolderOf(place, input.get(settings.treeDir)),
    },
    log,
  }
}

/**
 * Checks settings that need a folder: replication copies the files of a folder, while a slice of them goes into any
 * store.
 * @throws `usage`
 */
function expectFolderNotNeeded(input: CommandInput): void {
  if (input.get(settings.audit))
    throw usageError('--audit is for stores in a folder; check --state-root audits a version of any store')
  for (const option of [settings.replicaOf, settings.serveFeed]) {
    if (option === settings.replicaOf && asksForSlice(input)) continue
    if (input.get<unknown>(option) !== undefined)
      throw usageError(`--${option.name} is for stores in a folder; the servers of --store replicate by themselves`)
  }
}

/**
 * URL of the followed node. A replica follows its source as any follower does.
 * @throws `usage` if two sources are named
 */
function followedUrl(input: CommandInput): string | undefined {
  const [follow, replicaOf] = [input.get(settings.follow), input.get(settings.replicaOf)]
  if (follow !== undefined && replicaOf !== undefined)
    throw usageError('--follow and --replica-of name two sources, but a store has only one')
  return follow ?? replicaOf
}
