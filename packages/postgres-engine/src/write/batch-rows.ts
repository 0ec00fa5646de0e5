import type { Buffer } from 'node:buffer'
import type { VersionWrites } from '@ledger-state/core'
import { duplicateKey, valueToStored } from '@ledger-state/engine/authoring'
import type { Client } from 'pg'
import { invalidArgument } from '../errors.js'
import { EXISTING_KEYS } from '../read/questions.js'
import { hashTextToBytes, keyToHashText } from '../schema/key-hash.js'
import { toByteaArray } from '../sql/bytea-array.js'
import type { EntryRow, KeyRow } from './copy-rows.js'

const GREATEST = 2n ** 63n - 1n

/** Checks that PostgreSQL can store the numbers of versions. @throws `invalid_argument` */
export function expectSmallNumbers(versions: readonly VersionWrites[]): void {
  for (const { version, block } of versions) {
    expectSmall('version', version)
    if (!block) continue
    expectSmall('height', block.height)
    expectSmall('epoch', block.epoch)
    expectSmall('time', block.timestampUsec)
  }
}

function expectSmall(what: string, number: bigint): void {
  if (number > GREATEST) throw invalidArgument.numberTooLarge(`a ${what} of the batch`, number)
}

/** Makes rows of a batch, in the order of the versions. @throws `duplicate_key` */
export function batchToRows(versions: readonly VersionWrites[]): EntryRow[] {
  const rows: EntryRow[] = []
  for (const { version, writes } of versions) {
    const seen = new Set<string>()
    for (const [key, value, annotation] of writes) {
      const hashText = keyToHashText(key)
      rows.push({ hashText, key, version, value: value && valueToStored(value, annotation) })
      seen.add(hashText)
    }
    if (seen.size !== writes.length) throw duplicateKey(version)
  }
  return rows
}

/** Leaves out deletions of keys that do not exist: they are not writes. `rows` must be in the order of the versions. */
export async function withoutEmptyDeletions(client: Client, rows: readonly EntryRow[]): Promise<EntryRow[]> {
  // Only keys that the batch deletes matter here.
  const deleted = new Set<string>()
  for (const { value, hashText } of rows) if (value === null) deleted.add(hashText)
  if (deleted.size === 0) return [...rows]
  const isThere = new Map<string, boolean>()
  const asked: Buffer[] = []
  for (const { value, hashText } of rows) {
    if (!deleted.has(hashText) || isThere.has(hashText)) continue
    isThere.set(hashText, false)
    if (value === null) asked.push(hashTextToBytes(hashText))
  }
  if (asked.length > 0) {
    const values = [toByteaArray(asked), String(rows[0]!.version - 1n)]
    const { rows: found } = await client.query<{ key_hash: Buffer }>({
      name: 'existing keys',
      text: EXISTING_KEYS,
      values,
    })
    for (const { key_hash } of found) isThere.set(key_hash.toString('latin1'), true)
  }
  return rows.filter(({ hashText, value }) => {
    if (!deleted.has(hashText)) return true
    const isWrite = value !== null || isThere.get(hashText) === true
    isThere.set(hashText, value !== null)
    return isWrite
  })
}

const INSERT_KEYS = `
INSERT INTO ledger_state.keys (key_hash, key)
SELECT * FROM unnest($1::bytea[], $2::bytea[]) ON CONFLICT (key_hash) DO NOTHING`
/** Most keys of one statement. */
const PART_KEYS = 5_000
const PART_BYTES = 8 * 1024 * 1024

/** Inserts the keys that the store does not have yet. */
export async function insertKeys(client: Client, rows: readonly KeyRow[]): Promise<void> {
  let hashes: Buffer[] = []
  let keys: Uint8Array[] = []
  let bytes = 0
  const flush = async () => {
    if (hashes.length === 0) return
    const values = [toByteaArray(hashes), toByteaArray(keys)]
    hashes = []
    keys = []
    bytes = 0
    await client.query({ name: 'insert keys', text: INSERT_KEYS, values })
  }
  for (const { hashText, key } of rows) {
    hashes.push(hashTextToBytes(hashText))
    keys.push(key)
    bytes += key.length
    if (hashes.length === PART_KEYS || bytes > PART_BYTES) await flush()
  }
  await flush()
}
