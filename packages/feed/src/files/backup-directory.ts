import { isU64 } from '@ledger-state/core'
import { pMapIterable } from 'p-map'
import { missingFile, notAnObject, notJson, outsideBackup, wrongMember } from '../errors.js'
import type { EpochEndingEntry, SnapshotEntry, TransactionBackupEntry } from './backup-entries.js'
import type { BackupStorage } from './backup-storage.js'
import { readContent } from './compressed-file.js'

/** Most bytes of a manifest. Those of the largest backups list some thousands of chunks. */
const MAX_MANIFEST_BYTES = 64 * 1024 * 1024

/** Small objects that are read at once. In a bucket most of the time passes before the first byte of each. */
export const OBJECTS_AT_ONCE = 32

const METADATA_FOLDER = 'metadata'
const METADATA_NAME = /\.meta(\.gz|\.zst)?$/
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
  return (await findName(storage, handle)) !== undefined
}

/**
 * The name of an object, given its name in a manifest, which may lack the suffix of a compression.
 * @throws `invalid_backup`
 */
export async function resolveBackupName(storage: BackupStorage, handle: string): Promise<string> {
  if (handle.startsWith('/') || handle.split('/').includes('..')) throw outsideBackup(storage.root, handle)
  const name = await findName(storage, handle)
  if (name === undefined) throw missingFile(storage.placeOf(handle))
  return name
}

async function findName(storage: BackupStorage, handle: string): Promise<string | undefined> {
  for (const suffix of SUFFIXES) if (await storage.find(handle + suffix)) return handle + suffix
  return undefined
}

export interface BackupContents {
  /** Entries in ascending order of their first versions. */
  readonly transactions: readonly TransactionBackupEntry[]
  readonly snapshots: readonly SnapshotEntry[]
  /** Entries in ascending order of their first epochs. */
  readonly endings: readonly EpochEndingEntry[]
}

/** Reads the metadata lines of a backup. @throws `invalid_backup` naming the file and the line */
export async function readBackupMetadata(storage: BackupStorage): Promise<BackupContents> {
  const transactions: TransactionBackupEntry[] = []
  const snapshots: SnapshotEntry[] = []
  const endings: EpochEndingEntry[] = []
  const read = async (name: string) => ({ path: storage.placeOf(name), text: await readText(storage, name) })
  for await (const { path, text } of pMapIterable(await metadataFiles(storage), read, {
    concurrency: OBJECTS_AT_ONCE,
  })) {
    for (const [at, line] of text.split('\n').entries()) {
      if (line.trim() === '') continue
      const members = new ManifestMembers(parseJson(line, `${path}, line ${at + 1}`), `${path}, line ${at + 1}`)
      const backup = members.optional('TransactionBackup')
      if (backup) {
        const [firstVersion, lastVersion] = [backup.version('first_version'), backup.version('last_version')]
        transactions.push({ firstVersion, lastVersion, manifest: backup.text('manifest') })
      }
      const snapshot = members.optional('StateSnapshotBackup')
      if (snapshot) snapshots.push({ version: snapshot.version('version'), manifest: snapshot.text('manifest') })
      const ending = members.optional('EpochEndingBackup')
      if (ending) {
        endings.push({
          firstEpoch: ending.version('first_epoch'),
          lastEpoch: ending.version('last_epoch'),
          firstVersion: ending.version('first_version'),
          lastVersion: ending.version('last_version'),
          manifest: ending.text('manifest'),
        })
      }
    }
  }
  transactions.sort((a, b) => (a.firstVersion < b.firstVersion ? -1 : a.firstVersion > b.firstVersion ? 1 : 0))
  endings.sort((a, b) => (a.firstEpoch < b.firstEpoch ? -1 : a.firstEpoch > b.firstEpoch ? 1 : 0))
  return { transactions, snapshots, endings }
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
async function metadataFiles(storage: BackupStorage): Promise<string[]> {
  for (const folder of [METADATA_FOLDER, '']) {
    const names: string[] = []
    for await (const { name } of storage.list(folder)) if (METADATA_NAME.test(name)) names.push(name)
    if (names.length > 0) return names.sort()
  }
  return []
}

export async function readManifest(storage: BackupStorage, handle: string): Promise<ManifestMembers> {
  const name = await resolveBackupName(storage, handle)
  const path = storage.placeOf(name)
  return new ManifestMembers(parseJson(await readText(storage, name), path), path)
}

async function readText(storage: BackupStorage, name: string): Promise<string> {
  return (await readContent(storage.open(name), storage.placeOf(name), MAX_MANIFEST_BYTES)).toString('utf8')
}

function parseJson(text: string, place: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw notJson(place, cause)
  }
}

/** Members of a JSON object, each read as the type that it must have. @throws `invalid_backup` */
export class ManifestMembers {
  readonly place: string
  readonly #members: Readonly<Record<string, unknown>>

  constructor(value: unknown, place: string) {
    this.place = place
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw notAnObject(place)
    this.#members = value as Readonly<Record<string, unknown>>
  }

  /** Versions and indexes are whole numbers in JSON, exact below 2^53. */
  version(name: string): bigint {
    const value = this.#members[name]
    if (typeof value !== 'number' || !Number.isSafeInteger(value) || !isU64(BigInt(value))) {
      throw wrongMember(this.place, name, value, 'a whole number')
    }
    return BigInt(value)
  }

  text(name: string): string {
    const value = this.#members[name]
    if (typeof value !== 'string') throw wrongMember(this.place, name, value, 'a text')
    return value
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
      throw wrongMember(this.place, name, value, 'an array of texts')
    }
    return value
  }

  list(name: string): ManifestMembers[] {
    const value = this.#members[name]
    if (!Array.isArray(value)) throw wrongMember(this.place, name, value, 'an array')
    return value.map((element, at) => new ManifestMembers(element, `${this.place}, "${name}"[${at}]`))
  }
}
