import { stat } from 'node:fs/promises'
import { basename, dirname, resolve } from 'node:path'
import { cannotOpen, unknownFile, waypointWithoutSignatures, windowOfBackupOnly } from '../errors.js'
import { openContent } from '../files/compressed-file.js'
import { FolderStorage } from '../files/folder-storage.js'
import { openGenesis } from './genesis.js'
import { openLedgerFeed } from './ledger-feed.js'
import { openBackupPlace } from './open-backup.js'
import { openRemote } from './open-remote.js'
import type { LedgerSource, SourceOptions } from './source.js'

const GENESIS_TAG = 0x01
const OPENING_BRACE = 0x7b

/**
 * Opens a source of ledger data. A location is the URL of a node's API, of another store's feed or of a bucket with a
 * backup; `s3://BUCKET/PREFIX` or `gs://BUCKET/PREFIX`; the backup service of a node (`backup+http://HOST:PORT`); or a
 * path of a backup's folder, a genesis blob or a ledger feed, which are recognised by their files or their first bytes.
 * @throws `invalid_argument` if it is missing or of no known kind; `invalid_feed`, `invalid_genesis`, `invalid_backup`,
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
  if (/^(?:s3|gs):\/\//.test(location)) {
    const { openBucketUri } = await import('./open-bucket.js')
    return await openBucketUri(location, options)
  }
  if (/^backup\+https?:\/\//.test(location)) {
    const { openBackupService } = await import('./open-service.js')
    return await openBackupService(location, options)
  }
  if (/^https?:\/\//.test(location)) return await openRemote(location, options)
  if (await isFolder(location)) return await openFolder(location, options)
  if (options.window) throw windowOfBackupOnly(location)
  const first = await firstByte(location)
  if (first === GENESIS_TAG) return await openGenesis(location, options)
  if (first !== 'compressed' && first !== OPENING_BRACE) throw unknownFile(location)
  if (options.waypoints?.length) throw waypointWithoutSignatures(location)
  return await openLedgerFeed(location)
}

async function openFolder(path: string, options: SourceOptions): Promise<LedgerSource> {
  const folder = resolve(path)
  const above = () => ({ storage: new FolderStorage(dirname(folder)), name: basename(folder) })
  return await openBackupPlace({ storage: new FolderStorage(path), above }, options)
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory()
  } catch (cause) {
    throw cannotOpen(`the source ${path}`, cause)
  }
}

/** First byte of a file; undefined if the file is empty. */
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
