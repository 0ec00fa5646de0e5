import type { Network, SourceOptions } from '@ledger-state/feed'
import type { KeptParts } from '@ledger-state/ingest'
import type { TransactionIndex } from '@ledger-state/records'
import type { Compress } from '@ledger-state/state-engine'
import type { CommandInput } from '../config/command.js'
import { readHashSalt } from '../config/hash-salt.js'
import { readKeptParts, readRetainedTransactions, readTransactionIndexes } from '../config/kept-parts.js'
import { settings } from '../config/settings.js'
import { readSliceSettings, type SliceSettings } from '../config/slice-settings.js'
import { usageError } from '../errors.js'
import type { TreeSettings } from '../stores/keep-tree.js'
import { notice } from './ingest-notice.js'

export interface IngestSettings {
  readonly retain: bigint | undefined
  readonly assumeEmptyBase: boolean
  readonly chainId: number | undefined
  readonly keepTransactions: KeptParts | undefined
  readonly transactionIndexes: readonly TransactionIndex[] | undefined
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
    transactionIndexes: readTransactionIndexes(input),
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

/** The network with another place of its backup. */
export function withBackup(network: Network, backup: string | undefined): Network {
  return backup === undefined ? network : { ...network, backups: [backup] }
}
