import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { isU64 } from '@ledger-state/core'
import { missingFile, notAnObject, notJson, outsideBackup, wrongMember } from '../errors.js'
import { readContent } from './compressed-file.js'

/** Manifests of the largest backups list some thousands of chunks. */
const MAX_MANIFEST_BYTES = 64 * 1024 * 1024

const METADATA_FOLDER = 'metadata'
const METADATA_NAME = /\.meta(\.gz|\.zst)?$/
const SUFFIXES = ['', '.gz', '.zst']

export const TRANSACTION_MANIFEST = 'transaction.manifest'
export const STATE_MANIFEST = 'state.manifest'
export const EPOCH_ENDING_MANIFEST = 'epoch_ending.manifest'

/** A file of a backup, from the name in a manifest, which may lack the suffix of its compression. */
export function resolveBackupFile(root: string, handle: string): string {
  if (handle.startsWith('/') || handle.split('/').includes('..')) throw outsideBackup(root, handle)
  const path = SUFFIXES.map((suffix) => join(root, handle + suffix)).find((candidate) => existsSync(candidate))
  if (!path) throw missingFile(join(root, handle))
  return path
}

/** Whether a folder holds the file, in whatever compression. */
export function hasBackupFile(root: string, handle: string): boolean {
  return SUFFIXES.some((suffix) => existsSync(join(root, handle + suffix)))
}

export interface TransactionBackupEntry {
  readonly firstVersion: bigint
  readonly lastVersion: bigint
  readonly manifest: string
}

export interface SnapshotEntry {
  readonly version: bigint
  readonly manifest: string
}

/** Ledger infos that end epochs. */
export interface EpochEndingEntry {
  readonly firstEpoch: bigint
  readonly lastEpoch: bigint
  /** Version with which the first epoch ends, and the last one. */
  readonly firstVersion: bigint
  readonly lastVersion: bigint
  readonly manifest: string
}

export interface BackupContents {
  /** Entries in ascending order of their first versions. */
  readonly transactions: readonly TransactionBackupEntry[]
  readonly snapshots: readonly SnapshotEntry[]
  /** Entries in ascending order of their first epochs. */
  readonly endings: readonly EpochEndingEntry[]
}

/** Reads the metadata lines of a backup. @throws `invalid_backup` naming the file and the line */
export async function readBackupMetadata(root: string): Promise<BackupContents> {
  const transactions: TransactionBackupEntry[] = []
  const snapshots: SnapshotEntry[] = []
  const endings: EpochEndingEntry[] = []
  for (const path of await metadataFiles(root)) {
    const text = (await readContent(path, MAX_MANIFEST_BYTES)).toString('utf8')
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

/** Whether a folder looks like the root of a backup. */
export async function isBackupRoot(path: string): Promise<boolean> {
  return (await metadataFiles(path)).length > 0
}

/** Metadata is in a folder of its own, or, in older backups and copies of them, beside the other folders. */
async function metadataFiles(root: string): Promise<string[]> {
  for (const folder of [join(root, METADATA_FOLDER), root]) {
    if (!existsSync(folder)) continue
    const names = (await readdir(folder)).filter((name) => METADATA_NAME.test(name)).sort()
    if (names.length > 0) return names.map((name) => join(folder, name))
  }
  return []
}

export async function readManifest(root: string, handle: string): Promise<ManifestMembers> {
  const path = resolveBackupFile(root, handle)
  const text = (await readContent(path, MAX_MANIFEST_BYTES)).toString('utf8')
  return new ManifestMembers(parseJson(text, path), path)
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

  list(name: string): ManifestMembers[] {
    const value = this.#members[name]
    if (!Array.isArray(value)) throw wrongMember(this.place, name, value, 'an array')
    return value.map((element, at) => new ManifestMembers(element, `${this.place}, "${name}"[${at}]`))
  }
}
