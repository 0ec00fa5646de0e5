import { randomBytes } from 'node:crypto'
import { rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join, posix } from 'node:path'
import type { Readable } from 'node:stream'
import { isLedgerStateError } from '@ledger-state/core'
import {
  isPresent,
  makeFolderNow,
  makeTemporaryFolder,
  moveDurably,
  type TemporaryFolder,
} from '@ledger-state/core/files'
import { spillFailed } from '../errors.js'
import { MAX_METADATA_BYTES, readManifest, resolveBackupName } from '../files/backup-directory.js'
import type { EpochEndingEntry, SnapshotEntry, TransactionBackupEntry, VersionRange } from '../files/backup-entries.js'
import type { BackupStorage, ByteRange, StoredObject } from '../files/backup-storage.js'
import { readRegularFile } from '../files/regular-file.js'
import { streamToFile } from '../files/stream-to-file.js'
import { addRange, parseRanges, rangesToLines } from './kept-ranges.js'

const DRAFTS_PREFIX = 'ledger-state-drafts-'

/**
 * A backup that keeps the objects it fetches in a folder. The folder is a backup, too: its metadata list exactly the
 * completely read objects. Objects that are kept are not fetched again. Several processes may keep objects in one folder.
 */
export class KeepingStorage implements BackupStorage {
  readonly root: string
  readonly #inner: BackupStorage
  readonly #folder: string
  readonly #copies = new Map<string, Promise<string>>()
  readonly #ranges = new Map<string, VersionRange[]>()
  #drafts: TemporaryFolder | undefined

  constructor(inner: BackupStorage, folder: string) {
    this.root = inner.root
    this.#inner = inner
    this.#folder = folder
  }

  get fetchedBytes(): number | undefined {
    return this.#inner.fetchedBytes
  }

  placeOf(name: string): string {
    return this.#inner.placeOf(name)
  }

  list(folder: string): AsyncIterable<StoredObject> {
    return this.#inner.list(folder)
  }

  forgetListing(folder: string): void {
    this.#inner.forgetListing?.(folder)
  }

  async find(name: string): Promise<StoredObject | undefined> {
    return await this.#inner.find(name)
  }

  open(name: string, range?: ByteRange): Readable {
    return this.#inner.open(name, range)
  }

  /**
   * Path of the kept object, which is fetched unless it is there.
   * @throws as the stream of `open`, and `spill_failed`
   */
  async localFile(name: string): Promise<string> {
    const held = this.#copies.get(name)
    if (held) return await held
    const made = this.#copy(name)
    this.#copies.set(name, made)
    try {
      return await made
    } finally {
      this.#copies.delete(name)
    }
  }

  async release(): Promise<void> {}

  async keepTransactions({ manifest }: TransactionBackupEntry, range: VersionRange): Promise<void> {
    const folder = posix.dirname(manifest)
    const name = `metadata/${folder}.meta`
    const read = addRange(this.#ranges.get(folder) ?? [], range)
    this.#ranges.set(folder, read)
    // Each time from the disk: another process may have added to it.
    const before = parseRanges(await this.#readKept(name))
    const ranges = read.reduce(addRange, before)
    if (ranges === before) return
    await this.#keepObject(manifest)
    await this.#writeKept(name, rangesToLines(ranges, manifest))
  }

  async keepSnapshot({ version, manifest }: SnapshotEntry, epoch: bigint): Promise<void> {
    const members = await readManifest(this.#inner, manifest)
    const chunks = members.list('chunks').flatMap((chunk) => [chunk.fileName('blobs'), chunk.fileName('proof')])
    if (!(await this.#holds([...chunks, members.fileName('proof')]))) return
    await this.#keepObject(manifest)
    const entry = { epoch: Number(epoch), version: Number(version), manifest }
    await this.#writeKept(
      `metadata/${posix.dirname(manifest)}.meta`,
      `${JSON.stringify({ StateSnapshotBackup: entry })}\n`,
    )
  }

  async keepEndings({ manifest, ...entry }: EpochEndingEntry): Promise<void> {
    const members = await readManifest(this.#inner, manifest)
    if (!(await this.#holds(members.list('chunks').map((chunk) => chunk.fileName('ledger_infos'))))) return
    await this.#keepObject(manifest)
    const line = {
      first_epoch: Number(entry.firstEpoch),
      last_epoch: Number(entry.lastEpoch),
      first_version: Number(entry.firstVersion),
      last_version: Number(entry.lastVersion),
      manifest,
    }
    await this.#writeKept(
      `metadata/${posix.dirname(manifest)}.meta`,
      `${JSON.stringify({ EpochEndingBackup: line })}\n`,
    )
  }

  async close(): Promise<void> {
    await this.#inner.close()
    await Promise.allSettled(this.#copies.values())
    await this.#drafts?.remove()
    this.#drafts = undefined
  }

  async #copy(name: string): Promise<string> {
    const path = join(this.#folder, name)
    const listed = await this.find(name)
    const kept = await sizeOf(path)
    if (kept !== undefined && (kept === listed?.bytes || listed?.isEstimate)) return path
    await this.#put(path, async (draft) => await streamToFile(this.#inner.open(name), draft))
    return path
  }

  /** Makes a file, which appears as a whole, whatever other processes do with the same one. */
  async #put(path: string, write: (draft: string) => Promise<void>): Promise<void> {
    let draft: string | undefined
    try {
      makeFolderNow(dirname(path))
      this.#drafts ??= makeTemporaryFolder(this.#folder, DRAFTS_PREFIX)
      draft = join(this.#drafts.path, randomBytes(6).toString('hex'))
      await write(draft)
      // A loss of power must leave no empty file that counts as kept.
      await moveDurably(draft, path)
    } catch (cause) {
      if (draft !== undefined) await rm(draft, { force: true })
      throw isLedgerStateError(cause) ? cause : spillFailed.cannotKeep(path, cause)
    }
  }

  /**
   * Keeps an object.
   * @param handle of the object, as manifests name it
   */
  async #keepObject(handle: string): Promise<void> {
    await this.localFile(await resolveBackupName(this.#inner, handle))
  }

  async #holds(handles: readonly string[]): Promise<boolean> {
    for (const handle of handles) {
      const name = await resolveBackupName(this.#inner, handle)
      if ((await sizeOf(join(this.#folder, name))) === undefined) return false
    }
    return true
  }

  /** @throws `spill_failed` if the file cannot be read: replacing it would forget what it lists */
  async #readKept(name: string): Promise<string> {
    const path = join(this.#folder, name)
    if (!isPresent(path)) return ''
    try {
      return (await readRegularFile(path, MAX_METADATA_BYTES)).toString('utf8')
    } catch (cause) {
      throw spillFailed.cannotRead(path, cause)
    }
  }

  async #writeKept(name: string, text: string): Promise<void> {
    await this.#put(join(this.#folder, name), async (draft) => await writeFile(draft, text))
  }
}

async function sizeOf(path: string): Promise<number | undefined> {
  try {
    const stats = await stat(path)
    return stats.isFile() ? stats.size : undefined
  } catch {
    return undefined
  }
}
