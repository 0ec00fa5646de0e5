import { Buffer } from 'node:buffer'
import type { VersionWrites } from '@ledger-state/core'
import { duplicateKey } from '@ledger-state/state-engine/engine-kit'
import type { Client } from 'pg'
import { numberTooLarge } from '../errors.js'
import { hashKey } from '../read/look-ups.js'
import { LOOK_UP_AT, type LookUpAtRow } from '../read/questions.js'

const GREATEST = 2n ** 63n - 1n

/** A write as a row. */
export interface EntryRow {
  readonly hash: Buffer
  readonly key: Uint8Array
  readonly version: bigint
  readonly value: Uint8Array | null
}

/** @throws `invalid_argument` for numbers that PostgreSQL does not hold */
export function expectSmallNumbers(versions: readonly VersionWrites[]): void {
  for (const { version, block } of versions) {
    const numbers = { version, height: block?.height, epoch: block?.epoch, time: block?.timestampUsec }
    for (const [what, number] of Object.entries(numbers)) {
      if (number !== undefined && number > GREATEST) throw numberTooLarge(`a ${what} of the batch`, number)
    }
  }
}

/** @throws `duplicate_key` */
export function batchToRows(versions: readonly VersionWrites[]): EntryRow[] {
  const rows: EntryRow[] = []
  for (const { version, writes } of versions) {
    const seen = new Set<string>()
    for (const [key, value] of writes) {
      const hash = hashKey(key)
      rows.push({ hash, key, version, value })
      seen.add(hash.toString('latin1'))
    }
    if (seen.size !== writes.length) throw duplicateKey(version)
  }
  return rows
}

/** Leaves deletions of keys out that are not there: they are no writes. */
export async function withoutEmptyDeletions(client: Client, rows: readonly EntryRow[]): Promise<EntryRow[]> {
  const isThere = new Map<string, boolean>()
  const asked: EntryRow[] = []
  for (const row of rows) {
    const name = row.hash.toString('latin1')
    if (isThere.has(name)) continue
    isThere.set(name, false)
    if (row.value === null) asked.push(row)
  }
  if (asked.length > 0) {
    const before = String(asked[0]!.version - 1n)
    const values = [asked.map(({ hash }) => hash), before]
    const { rows: found } = await client.query<LookUpAtRow>(LOOK_UP_AT, values)
    for (const { key_hash } of found) isThere.set(key_hash.toString('latin1'), true)
  }
  return rows.filter(({ hash, value }) => {
    const name = hash.toString('latin1')
    const isWrite = value !== null || isThere.get(name) === true
    isThere.set(name, value !== null)
    return isWrite
  })
}

const INSERT_KEYS = `
INSERT INTO ledger_state.keys (key_hash, key)
SELECT * FROM unnest($1::bytea[], $2::bytea[]) ON CONFLICT (key_hash) DO NOTHING`
/** Of one statement. */
const PART_KEYS = 5_000
const PART_BYTES = 8 * 1024 * 1024

/** Inserts the keys that the store has not. */
export async function insertKeys(client: Client, rows: readonly EntryRow[]): Promise<void> {
  let hashes: Buffer[] = []
  let keys: Buffer[] = []
  let bytes = 0
  const flush = async () => {
    if (hashes.length > 0) await client.query({ name: 'insert keys', text: INSERT_KEYS, values: [hashes, keys] })
    hashes = []
    keys = []
    bytes = 0
  }
  // In the order of hashes, which is that of the index.
  for (const { hash, key } of [...rows].sort((a, b) => Buffer.compare(a.hash, b.hash))) {
    hashes.push(hash)
    keys.push(Buffer.from(key.buffer, key.byteOffset, key.length))
    bytes += key.length
    if (hashes.length === PART_KEYS || bytes > PART_BYTES) await flush()
  }
  await flush()
}
