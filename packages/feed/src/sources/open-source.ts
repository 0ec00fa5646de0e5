import { stat } from 'node:fs/promises'
import { cannotOpen, unknownFile, unknownFolder, waypointWithoutSignatures } from '../errors.js'
import { hasBackupFile, isBackupRoot, STATE_MANIFEST, TRANSACTION_MANIFEST } from '../files/backup-directory.js'
import { openContent } from '../files/compressed-file.js'
import { FolderStorage } from '../files/folder-storage.js'
import { openGenesis } from './genesis.js'
import { openLedgerFeed } from './ledger-feed.js'
import { openRemote } from './open-remote.js'
import type { LedgerSource, SourceOptions } from './source.js'
import { openStateSnapshot } from './state-snapshot.js'
import { openBackup, openTransactionFolder } from './transaction-backup.js'

const GENESIS_TAG = 0x01
const OPENING_BRACE = 0x7b

/**
 * Opens a source of ledger data, whose kind its first bytes or its files tell: the URL of a node's API or of another store's feed, a folder of a
 * backup, a genesis blob or a ledger feed.
 * @throws `invalid_argument` where it is missing or of no known kind; `invalid_feed`, `invalid_genesis`, `invalid_backup`,
 *   `verification_failed`, `untrusted`, `source_failed`
 * @example
 * ```ts
 * import { writeFileSync } from 'node:fs'
 * import { feedHeaderLine, openSource, versionToFeedLine } from '@ledger-state/feed'
 *
 * const block = { height: 0n, epoch: 0n, timestampUsec: 0n }
 * const lines = [feedHeaderLine({ chainId: 4 }), versionToFeedLine({ version: 0n, block, writes: [] })]
 * writeFileSync('one.ndjson', `${lines.join('\n')}\n`)
 *
 * const source = await openSource('one.ndjson')
 * for await (const { version } of source.versions()) console.log(version) // 0n
 * await source.close()
 * ```
 */
export async function openSource(location: string, options: SourceOptions = {}): Promise<LedgerSource> {
  const kind = await recognize(location)
  if (options.waypoints?.length && (kind === 'feed' || kind === 'remote')) throw waypointWithoutSignatures(location)
  return SOURCES[kind](location, options)
}

const SOURCES = {
  remote: openRemote,
  state: openStateSnapshot,
  transactions: openTransactionFolder,
  backup: openBackup,
  feed: openLedgerFeed,
  genesis: openGenesis,
} satisfies Record<string, (location: string, options: SourceOptions) => Promise<LedgerSource>>

async function recognize(location: string): Promise<keyof typeof SOURCES> {
  if (/^https?:\/\//.test(location)) return 'remote'
  if (await isFolder(location)) {
    const storage = new FolderStorage(location)
    if (await hasBackupFile(storage, STATE_MANIFEST)) return 'state'
    if (await hasBackupFile(storage, TRANSACTION_MANIFEST)) return 'transactions'
    if (await isBackupRoot(storage)) return 'backup'
    throw unknownFolder(location, [TRANSACTION_MANIFEST, STATE_MANIFEST])
  }
  const first = await firstByte(location)
  if (first === 'compressed' || first === OPENING_BRACE) return 'feed'
  if (first === GENESIS_TAG) return 'genesis'
  throw unknownFile(location)
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory()
  } catch (cause) {
    throw cannotOpen(`the source ${path}`, cause)
  }
}

/** Undefined for an empty file. */
async function firstByte(path: string): Promise<number | 'compressed' | undefined> {
  const content = await openContent(path)
  try {
    if (content.compression !== 'none') return 'compressed'
    for await (const piece of content.pieces()) if (piece.length > 0) return piece[0]
    return undefined
  } finally {
    content.close()
  }
}
