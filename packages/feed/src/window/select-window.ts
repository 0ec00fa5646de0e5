import { invalidArgument, invalidBackup } from '../errors.js'
import type { BackupContents } from '../files/backup-directory.js'
import type { SnapshotEntry, TransactionBackupEntry } from '../files/backup-entries.js'

/** The parts of a backup that a window needs. */
export interface BackupWindow {
  /** The state to begin with; undefined for the genesis. */
  readonly base: SnapshotEntry | undefined
  readonly transactions: readonly TransactionBackupEntry[]
  /** The first version of the transactions that are read. */
  readonly firstVersion: bigint
  /** The newest version within the window. */
  readonly lastVersion: bigint
}

/** The first version that a window of a backup can begin with; undefined if there is none. */
export function earliestBegin({
  transactions,
  snapshots,
}: Pick<BackupContents, 'transactions' | 'snapshots'>): bigint | undefined {
  return transactions[0]?.firstVersion === 0n ? 0n : oldestSnapshot(snapshots)?.version
}

/**
 * Whether a backup has the beginning of a window.
 * @param base version of the state; undefined for the genesis
 */
export function hasBase(
  { transactions, snapshots }: Pick<BackupContents, 'transactions' | 'snapshots'>,
  base: bigint | undefined,
): boolean {
  return base === undefined ? transactions[0]?.firstVersion === 0n : snapshots.some(({ version }) => version === base)
}

/**
 * Chooses the newest state at or before a version, and the transactions after it.
 * @param root of the backup, for messages
 * @param since not before `earliestBegin`
 * @throws `invalid_backup` naming versions that are missing; `invalid_argument` if the backup ends earlier
 */
export function selectWindow(
  root: string,
  { transactions, snapshots }: Pick<BackupContents, 'transactions' | 'snapshots'>,
  since: bigint,
  to: bigint | undefined,
): BackupWindow {
  const newest = newestVersion(transactions, snapshots)
  if (since > newest) throw invalidArgument.versionBeyondBackup(root, since, newest)
  const base = newestAtOrBefore(snapshots, since)
  const firstVersion = base ? base.version + 1n : 0n
  const upTo = to === undefined || to > newest ? newest : to
  const wanted = transactions.filter((entry) => entry.lastVersion >= firstVersion && entry.firstVersion <= upTo)
  return { base, transactions: wanted, firstVersion, lastVersion: reachedBy(root, wanted, firstVersion, upTo) }
}

/** The last version before a gap that entries reach, at most `upTo`. */
function reachedBy(
  root: string,
  entries: readonly TransactionBackupEntry[],
  firstVersion: bigint,
  upTo: bigint,
): bigint {
  let next = firstVersion
  for (const { firstVersion: first, lastVersion } of entries) {
    if (first > next) throw invalidBackup.missingVersions(root, next, first)
    if (lastVersion >= next) next = lastVersion + 1n
  }
  return next - 1n < upTo ? next - 1n : upTo
}

function newestVersion(transactions: readonly TransactionBackupEntry[], snapshots: readonly SnapshotEntry[]): bigint {
  const versions = [...transactions.map(({ lastVersion }) => lastVersion), ...snapshots.map(({ version }) => version)]
  return versions.reduce((newest, version) => (version > newest ? version : newest), 0n)
}

function newestAtOrBefore(snapshots: readonly SnapshotEntry[], version: bigint): SnapshotEntry | undefined {
  return snapshots.reduce<SnapshotEntry | undefined>(
    (best, entry) => (entry.version <= version && (!best || entry.version > best.version) ? entry : best),
    undefined,
  )
}

function oldestSnapshot(snapshots: readonly SnapshotEntry[]): SnapshotEntry | undefined {
  return snapshots.reduce<SnapshotEntry | undefined>(
    (best, entry) => (!best || entry.version < best.version ? entry : best),
    undefined,
  )
}
