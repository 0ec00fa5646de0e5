import { stat } from 'node:fs/promises'
import { LedgerStateError } from '@ledger-state/core'
import { hasBackupFile, isBackupRoot, STATE_MANIFEST, TRANSACTION_MANIFEST } from './backup-directory.js'
import { openContent } from './compressed-file.js'
import { openGenesis } from './genesis.js'
import { openLedgerFeed } from './ledger-feed.js'
import { openRestNode } from './rest-node.js'
import type { LedgerSource, SourceOptions } from './source.js'
import { openStateSnapshot } from './state-snapshot.js'
import { openBackup, openTransactionFolder } from './transaction-backup.js'

const GENESIS_TAG = 0x01
const OPENING_BRACE = 0x7b

/**
 * Opens a source of ledger data, told apart by looking at it: the URL of a node's API, a folder of a backup, a genesis
 * blob or a ledger feed.
 * @throws `invalid_argument` where it is missing or nothing that is known; `invalid_feed`, `invalid_genesis`,
 *   `invalid_backup`, `verification_failed`, `source_failed`
 */
export async function openSource(location: string, options: SourceOptions = {}): Promise<LedgerSource> {
  const kind = await recognize(location)
  if (options.waypoint !== undefined && kind !== 'genesis') {
    const message = `a waypoint is compared with that of a genesis blob, and ${location} is none`
    throw new LedgerStateError('invalid_argument', message)
  }
  return SOURCES[kind](location, options)
}

const SOURCES = {
  rest: openRestNode,
  state: openStateSnapshot,
  transactions: openTransactionFolder,
  backup: openBackup,
  feed: openLedgerFeed,
  genesis: openGenesis,
} satisfies Record<string, (location: string, options: SourceOptions) => Promise<LedgerSource>>

async function recognize(location: string): Promise<keyof typeof SOURCES> {
  if (/^https?:\/\//.test(location)) return 'rest'
  if (await isFolder(location)) {
    if (hasBackupFile(location, STATE_MANIFEST)) return 'state'
    if (hasBackupFile(location, TRANSACTION_MANIFEST)) return 'transactions'
    if (await isBackupRoot(location)) return 'backup'
    const message = `${location} is no backup: it has no metadata (*.meta), ${TRANSACTION_MANIFEST} or ${STATE_MANIFEST}`
    throw new LedgerStateError('invalid_argument', message)
  }
  const first = await firstByte(location)
  if (first === 'compressed' || first === OPENING_BRACE) return 'feed'
  if (first === GENESIS_TAG) return 'genesis'
  const message = `${location} is neither a genesis blob nor a ledger feed (NDJSON, plain, gzip or zstd)`
  throw new LedgerStateError('invalid_argument', message)
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory()
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new LedgerStateError('invalid_argument', `the source ${path} cannot be read: ${why}`, {}, { cause })
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
