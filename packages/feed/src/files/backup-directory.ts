import type { Buffer } from 'node:buffer'
import { Readable } from 'node:stream'
import { hexToBytes, isLedgerStateError, isU64 } from '@ledger-state/core'
import { pMapIterable } from 'p-map'
import { invalidBackup } from '../errors.js'
import type { EpochEndingEntry, SnapshotEntry, TransactionBackupEntry } from './backup-entries.js'
import type { BackupStorage, StoredObject } from './backup-storage.js'
import { type JsonLimits, parseBoundedJson } from './bounded-json.js'
import { gatherContent, gatherUpTo, readContent, unpack } from './compressed-file.js'
import { fetchAhead } from './fetch-ahead.js'
import { linesOf } from './lines.js'

/** Most bytes of a manifest, unpacked. Those of the largest backups list some thousands of chunks, in 1 MB. */
const MAX_MANIFEST_BYTES = 16 * 1024 * 1024
/** Limits of a manifest: a chunk has up to 8 values. */
const MANIFEST = { depth: 16, values: 400_000 }

/** Most bytes of a file with metadata, unpacked: about 100,000 lines. */
export const MAX_METADATA_BYTES = 16 * 1024 * 1024
/** Limits of a line of metadata. */
export const METADATA_LINE = { depth: 16, values: 1_000 }
/** Most lines of the metadata of a backup, an entry each. A network's has tens of thousands. */
const MOST_LINES = 500_000

/** Small objects that are read at once. In a bucket most of the time passes before the first byte of each. */
export const OBJECTS_AT_ONCE = 32
/** Most bytes of a manifest, as it is stored, that is fetched while others are. */
const SMALL_MANIFEST_BYTES = 1024 * 1024
/** Limits of the files with metadata that are fetched at once, as they are stored. They are unpacked one by one. */
const METADATA_AT_ONCE = { atFirst: OBJECTS_AT_ONCE, items: OBJECTS_AT_ONCE, bytes: MAX_METADATA_BYTES }

/** Names in manifests. A terminal would obey control characters in a message, and no storage has longer names. */
const FILE_NAME = /^[^\p{Cc}]{1,1024}$/u

const HASH = /^(?:0x)?[0-9a-fA-F]{64}$/

/** The folders that may have the files with metadata. */
const METADATA_FOLDERS = ['metadata', '']
/** Most listings of the files with metadata. A compaction removes them once, some minutes after it has written others. */
const MOST_LISTINGS = 4
/**
 * The backup tools begin each name with a letter or digit. Other names belong to other programs, which leave files next
 * to the files that they copy or edit: `._x.meta`, `.#x.meta`, `~$x.meta`.
 */
const METADATA_NAME = /^(?:metadata\/)?[A-Za-z0-9][\w.-]*\.meta(?:\.gz|\.zst)?$/
const SUFFIXES = ['', '.gz', '.zst']

export const TRANSACTION_MANIFEST = 'transaction.manifest'
export const STATE_MANIFEST = 'state.manifest'

/**
 * Path of a local file with an object of a backup, given its name in a manifest.
 * @throws `invalid_backup`
 */
export async function resolveBackupFile(storage: BackupStorage, handle: string): Promise<string> {
  return await storage.localFile(await resolveBackupName(storage, handle))
}

/** Whether a backup holds an object, compressed or not. */
async function hasBackupFile(storage: BackupStorage, handle: string): Promise<boolean> {
  return (await findObject(storage, handle)) !== undefined
}

/**
 * The name of an object, given its name in a manifest, which may lack the suffix of a compression.
 * @throws `invalid_backup`
 */
export async function resolveBackupName(storage: BackupStorage, handle: string): Promise<string> {
  return (await resolveBackupObject(storage, handle)).name
}

/** An object, given its name in a manifest. @throws as `resolveBackupName` */
export async function resolveBackupObject(storage: BackupStorage, handle: string): Promise<StoredObject> {
  const found = await findObject(storage, handle)
  if (!found) throw invalidBackup.missingFile(storage.placeOf(handle))
  return found
}

async function findObject(storage: BackupStorage, handle: string): Promise<StoredObject | undefined> {
  for (const suffix of SUFFIXES) {
    const found = await storage.find(handle + suffix)
    if (found) return found
  }
  return undefined
}

export interface BackupContents {
  /** Entries in ascending order of their first versions. */
  readonly transactions: readonly TransactionBackupEntry[]
  readonly snapshots: readonly SnapshotEntry[]
  /** Entries in ascending order of their first epochs, and of their last ones: none lies within another. */
  readonly endings: readonly EpochEndingEntry[]
}

/**
 * Reads the metadata lines of a backup. Whoever compacts the backup replaces files with metadata by others: if one that
 * was listed is gone, they are listed again, and all of them are read.
 * @throws `invalid_backup` naming the file and the line
 */
export async function readBackupMetadata(storage: BackupStorage): Promise<BackupContents> {
  for (let listings = 1; ; listings++) {
    const files = await metadataFiles(storage)
    try {
      return await readMetadataFiles(storage, files)
    } catch (error) {
      if (listings === MOST_LISTINGS || !(await isAnyGone(storage, files, error))) throw error
    }
  }
}

/**
 * Whether a new listing lacks some of the files with metadata. An error of the network says nothing about them.
 * @param error the error of reading them
 */
async function isAnyGone(storage: BackupStorage, files: readonly StoredObject[], error: unknown): Promise<boolean> {
  if (isLedgerStateError(error, 'source_failed')) return false
  for (const folder of METADATA_FOLDERS) storage.forgetListing?.(folder)
  const names = new Set((await metadataFiles(storage)).map(({ name }) => name))
  return files.some(({ name }) => !names.has(name))
}

async function readMetadataFiles(storage: BackupStorage, listed: readonly StoredObject[]): Promise<BackupContents> {
  const transactions: TransactionBackupEntry[] = []
  const snapshots: SnapshotEntry[] = []
  const endings: EpochEndingEntry[] = []
  const fetch = async ({ name }: StoredObject) => {
    const path = storage.placeOf(name)
    return { path, stored: await gatherContent(storage.open(name), path, MAX_METADATA_BYTES) }
  }
  let lines = 0
  const files = Readable.from(listed)
  for await (const { path, stored } of fetchAhead(files, ({ bytes }) => bytes, fetch, METADATA_AT_ONCE)) {
    let at = 0
    for (const line of linesOf((await unpack(stored, path, MAX_METADATA_BYTES)).toString('utf8'))) {
      at++
      if (++lines > MOST_LINES) throw invalidBackup.tooManyLines(path, MOST_LINES)
      if (!/\S/.test(line)) continue
      const place = `${path}, line ${at}`
      const members = new ManifestMembers(parseJson(line, place, METADATA_LINE), place)
      const backup = members.optional('TransactionBackup')
      if (backup) {
        const [firstVersion, lastVersion] = [backup.version('first_version'), backup.version('last_version')]
        transactions.push({ firstVersion, lastVersion, manifest: backup.fileName('manifest') })
      }
      const snapshot = members.optional('StateSnapshotBackup')
      if (snapshot) snapshots.push({ version: snapshot.version('version'), manifest: snapshot.fileName('manifest') })
      const ending = members.optional('EpochEndingBackup')
      if (ending) {
        endings.push({
          firstEpoch: ending.version('first_epoch'),
          lastEpoch: ending.version('last_epoch'),
          firstVersion: ending.version('first_version'),
          lastVersion: ending.version('last_version'),
          manifest: ending.fileName('manifest'),
        })
      }
    }
  }
  transactions.sort((a, b) => (a.firstVersion < b.firstVersion ? -1 : a.firstVersion > b.firstVersion ? 1 : 0))
  return { transactions, snapshots, endings: outermost(endings) }
}

/**
 * The entries that lie in no other one, in the order of their epochs. Entries overlap while a backup is compacted; in a
 * hostile backup, 100,000 lines may name the same epochs.
 */
function outermost(entries: readonly EpochEndingEntry[]): EpochEndingEntry[] {
  const inOrder = entries.toSorted((a, b) => Number(a.firstEpoch - b.firstEpoch) || Number(b.lastEpoch - a.lastEpoch))
  const kept: EpochEndingEntry[] = []
  for (const entry of inOrder) {
    const before = kept.at(-1)
    if (!before || entry.lastEpoch > before.lastEpoch) kept.push(entry)
  }
  return kept
}

/** Content of a place of a backup: the whole backup, or one of its folders. */
export type BackupKind = 'backup' | 'state' | 'transactions'

/** Finds out from the files of a folder whether it is the root of a backup or one of the backup's folders. */
export async function recognizeBackup(storage: BackupStorage): Promise<BackupKind | undefined> {
  if ((await metadataFiles(storage)).length > 0) return 'backup'
  if (await hasBackupFile(storage, STATE_MANIFEST)) return 'state'
  return (await hasBackupFile(storage, TRANSACTION_MANIFEST)) ? 'transactions' : undefined
}

/**
 * The files with metadata. They lie in a separate folder, or, in older backups and copies of those, next to the other
 * folders.
 */
async function metadataFiles(storage: BackupStorage): Promise<StoredObject[]> {
  for (const folder of METADATA_FOLDERS) {
    const files: StoredObject[] = []
    for await (const file of storage.list(folder)) if (METADATA_NAME.test(file.name)) files.push(file)
    if (files.length > 0) return files.sort((a, b) => (a.name < b.name ? -1 : 1))
  }
  return []
}

export async function readManifest(storage: BackupStorage, handle: string): Promise<ManifestMembers> {
  return await readNamedManifest(storage, await resolveBackupName(storage, handle))
}

/**
 * Reads the manifests of entries, in their order. Several are fetched at once if they are small; one is unpacked and
 * parsed at a time, as a small file may hold much.
 */
export async function* readManifests<Entry extends { readonly manifest: string }>(
  storage: BackupStorage,
  entries: readonly Entry[],
): AsyncGenerator<{ readonly entry: Entry; readonly manifest: ManifestMembers }, void> {
  const fetch = async (entry: Entry) => {
    const name = await resolveBackupName(storage, entry.manifest)
    return { entry, name, stored: await gatherUpTo(storage.open(name), SMALL_MANIFEST_BYTES) }
  }
  for await (const { entry, name, stored } of pMapIterable(entries, fetch, { concurrency: OBJECTS_AT_ONCE })) {
    yield { entry, manifest: await readNamedManifest(storage, name, stored) }
  }
}

async function readNamedManifest(storage: BackupStorage, name: string, stored?: Buffer): Promise<ManifestMembers> {
  const path = storage.placeOf(name)
  const bytes = stored
    ? await unpack(stored, path, MAX_MANIFEST_BYTES)
    : await readContent(storage.open(name), path, MAX_MANIFEST_BYTES)
  return new ManifestMembers(parseJson(bytes.toString('utf8'), path, MANIFEST), path, bytes.length)
}

function parseJson(text: string, place: string, limits: JsonLimits): unknown {
  try {
    return parseBoundedJson(text, limits)
  } catch (cause) {
    throw invalidBackup.notJson(place, cause)
  }
}

/** Members of a JSON object, each read as the type that it must have. @throws `invalid_backup` */
export class ManifestMembers {
  readonly place: string
  /** Bytes of the text of a whole manifest; 0 of a part of it. */
  readonly bytes: number
  readonly #members: Readonly<Record<string, unknown>>

  constructor(value: unknown, place: string, bytes = 0) {
    this.place = place
    this.bytes = bytes
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalidBackup.notAnObject(place)
    this.#members = value as Readonly<Record<string, unknown>>
  }

  /** Versions and indexes are whole numbers in JSON, exact below 2^53. */
  version(name: string): bigint {
    const value = this.#members[name]
    if (typeof value !== 'number' || !Number.isSafeInteger(value) || !isU64(BigInt(value))) {
      throw invalidBackup.wrongMember(this.place, name, value, 'a whole number')
    }
    return BigInt(value)
  }

  text(name: string): string {
    const value = this.#members[name]
    if (typeof value !== 'string') throw invalidBackup.wrongMember(this.place, name, value, 'a text')
    return value
  }

  /** The name of a file within the backup, as messages and paths may have it. */
  fileName(name: string): string {
    const value = this.text(name)
    if (!FILE_NAME.test(value)) throw invalidBackup.notAName(this.place, name, value)
    if (value.startsWith('/') || value.split('/').includes('..')) throw invalidBackup.outsideBackup(this.place, value)
    return value
  }

  /** The bytes of a hash in hexadecimal digits, with or without 0x. */
  hash(name: string): Uint8Array {
    const value = this.text(name)
    if (!HASH.test(value))
      throw invalidBackup.wrongMember(this.place, name, value, 'the 64 hexadecimal digits of a hash')
    return hexToBytes(value)
  }

  optionalText(name: string): string | undefined {
    return (this.#members[name] ?? undefined) === undefined ? undefined : this.text(name)
  }

  optional(name: string): ManifestMembers | undefined {
    const value = this.#members[name]
    return value === undefined ? undefined : new ManifestMembers(value, `${this.place}, "${name}"`)
  }

  optionalTexts(name: string): readonly string[] | undefined {
    const value = this.#members[name] ?? undefined
    if (value === undefined) return undefined
    if (!Array.isArray(value) || !value.every((element) => typeof element === 'string')) {
      throw invalidBackup.wrongMember(this.place, name, value, 'an array of texts')
    }
    return value
  }

  list(name: string): ManifestMembers[] {
    const value = this.#members[name]
    if (!Array.isArray(value)) throw invalidBackup.wrongMember(this.place, name, value, 'an array')
    return value.map((element, at) => new ManifestMembers(element, `${this.place}, "${name}"[${at}]`))
  }
}
