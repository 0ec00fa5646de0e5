import { Buffer } from 'node:buffer'
import { crc32 } from 'node:zlib'
import type { Truncation } from '@ledger-state/engine'
import { storeCorrupt } from '@ledger-state/engine/authoring'
import { openRecord, type RecordBuilder } from '../bytes/record.js'
import type { LmdbStore } from '../lmdb/lmdb-store.js'
import type { ReadOptions } from '../lmdb/table.js'

// For a store that was truncated, the database `meta` has:
//   truncations → the truncations of the ledger record: each u64 number | u64 version; | u32 CRC
//   reverting → while merged versions are being cut off: u64 newest version that was merged | u32 CRC

const TRUNCATIONS_KEY = Buffer.from('truncations')
const TRUNCATIONS_SEED = crc32(TRUNCATIONS_KEY)
const REVERTING_KEY = Buffer.from('reverting')
const REVERTING_SEED = crc32(REVERTING_KEY)
const TRUNCATION_LENGTH = 16

export const NO_TRUNCATIONS: readonly Truncation[] = []

export function putTruncations({ meta }: LmdbStore, builder: RecordBuilder, list: readonly Truncation[]): void {
  builder.begin()
  for (const { number, version } of list) builder.u64(BigInt(number)).u64(version)
  meta.putSync(TRUNCATIONS_KEY, builder.seal(TRUNCATIONS_SEED))
}

/** Reads the truncations of the ledger record. @throws `store_corrupt` */
export function getTruncations({ meta }: LmdbStore, options: ReadOptions = {}): readonly Truncation[] {
  const record = meta.getBinary(TRUNCATIONS_KEY, options)
  if (!record) return NO_TRUNCATIONS
  const content = openRecord(record, TRUNCATIONS_SEED, () => 'the list of truncations')
  if (content.length % TRUNCATION_LENGTH !== 0)
    throw storeCorrupt(`the list of truncations has ${content.length} bytes`)
  return Array.from({ length: content.length / TRUNCATION_LENGTH }, (_, place) => {
    const at = TRUNCATION_LENGTH * place
    return { number: Number(content.readBigUInt64BE(at)), version: content.readBigUInt64BE(at + 8) }
  })
}

/**
 * Puts the newest version that was merged before a truncation; undefined once everything that was cut off is removed.
 */
export function putReverting({ meta }: LmdbStore, builder: RecordBuilder, mergedVersion: bigint | undefined): void {
  if (mergedVersion === undefined) meta.removeSync(REVERTING_KEY)
  else meta.putSync(REVERTING_KEY, builder.begin().u64(mergedVersion).seal(REVERTING_SEED))
}

/**
 * Newest version that records may have, if not everything that was cut off is removed yet; otherwise undefined.
 * @throws `store_corrupt`
 */
export function getReverting({ meta }: Pick<LmdbStore, 'meta'>, options: ReadOptions = {}): bigint | undefined {
  const record = meta.getBinary(REVERTING_KEY, options)
  if (!record) return undefined
  const content = openRecord(record, REVERTING_SEED, () => 'the record of a truncation under way')
  if (content.length !== 8) throw storeCorrupt(`the record of a truncation under way has ${content.length} bytes`)
  return content.readBigUInt64BE(0)
}
