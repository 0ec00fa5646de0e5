import { Buffer } from 'node:buffer'
import type { Stats } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename, dirname, resolve } from 'node:path'
import { invalidArgument } from '../errors.js'
import { type ContentStream, gatherContent, openContent, toContent } from '../files/compressed-file.js'
import { FolderStorage } from '../files/folder-storage.js'
import { descriptorOf, openPipe } from '../files/pipe.js'
import { MAX_RECORD_BYTES } from '../files/record-file.js'
import { KNOWN_NETWORKS } from '../networks/network.js'
import { openGenesis } from './genesis.js'
import { openLedgerFeed } from './ledger-feed.js'
import { openBackupPlace } from './open-backup.js'
import { openRemote } from './open-remote.js'
import type { LedgerSource, SourceOptions } from './source.js'

const GENESIS_TAG = 0x01
const OPENING_BRACE = 0x7b
const BYTE_ORDER_MARK = Buffer.from('\ufeff')
const SPACES: ReadonlySet<number | undefined> = new Set(Buffer.from(' \t\r\n'))
/** Most spaces before the first line of a feed. */
const MOST_SPACES = 4_096

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
  const stats = await statsOf(location)
  if (stats.isDirectory()) return await openFolder(location, options)
  if (options.window) throw invalidArgument.windowOfBackupOnly(location)
  const content = stats.isFile() ? await openContent(location) : await openPipeContent(location, stats, options.signal)
  try {
    return await openFile(location, content, stats.size, options)
  } catch (error) {
    content.close()
    throw error
  }
}

/** Opens a genesis blob or a ledger feed, which its first byte shows. */
async function openFile(
  path: string,
  content: ContentStream,
  size: number,
  options: SourceOptions,
): Promise<LedgerSource> {
  const { first, isEmpty, pieces } = await peekContent(content)
  if (isEmpty) throw invalidArgument.emptyFile(path)
  if (first === GENESIS_TAG && content.compression === 'none') {
    return await openGenesis(path, await gatherContent(pieces, path, MAX_RECORD_BYTES), options)
  }
  if (content.compression === 'none' && first !== OPENING_BRACE) throw invalidArgument.unknownFile(path)
  if (options.waypoints?.length) throw invalidArgument.waypointWithoutSignatures(path)
  return await openLedgerFeed({ path, content, pieces, size, hashSalt: options.hashSalt })
}

async function openFolder(path: string, options: SourceOptions): Promise<LedgerSource> {
  const folder = resolve(path)
  const above = () => ({ storage: new FolderStorage(dirname(folder)), name: basename(folder) })
  return await openBackupPlace({ storage: new FolderStorage(path), above }, options)
}

async function statsOf(path: string): Promise<Stats> {
  try {
    return await stat(path)
  } catch (cause) {
    const networks = KNOWN_NETWORKS.map(({ name }) => name)
    throw invalidArgument.unreadableSource(path, networks, cause)
  }
}

async function openPipeContent(path: string, stats: Stats, signal: AbortSignal | undefined): Promise<ContentStream> {
  const isPipe = stats.isFIFO() || (stats.isSocket() && descriptorOf(path) !== undefined)
  if (!isPipe) throw invalidArgument.unreadablePipe(path)
  return await toContent(await openPipe(path, signal), path)
}

/**
 * The first byte of a content behind a byte order mark and spaces, undefined if there is none; whether it has no byte at
 * all; and all of its pieces. Compressed content is not looked at.
 */
async function peekContent(content: ContentStream) {
  const rest = content.pieces()
  let held = Buffer.alloc(0)
  let first: number | undefined
  while (content.compression === 'none' && first === undefined && held.length < MOST_SPACES) {
    const next = await rest.next()
    if (next.done) break
    held = Buffer.concat([held, next.value])
    first = firstByteOf(held)
  }
  async function* pieces(): AsyncGenerator<Buffer, void> {
    if (held.length > 0) yield held
    yield* rest
  }
  return { first, isEmpty: content.compression === 'none' && held.length === 0, pieces: pieces() }
}

function firstByteOf(bytes: Buffer): number | undefined {
  const hasMark = bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK)
  return bytes.subarray(hasMark ? BYTE_ORDER_MARK.length : 0).find((byte) => !SPACES.has(byte))
}
