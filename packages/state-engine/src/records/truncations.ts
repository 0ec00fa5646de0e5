import { Buffer } from 'node:buffer'
import { crc32 } from 'node:zlib'
import type { Truncation } from '@ledger-state/engine'
import { storeCorrupt } from '@ledger-state/engine/authoring'
import { openRecord, type RecordBuilder } from '../bytes/record.js'
import type { LmdbStore } from '../lmdb/lmdb-store.js'
import type { ReadOptions } from '../lmdb/table.js'

// For a store that was truncated, the database `meta` has:
//   truncations → the truncations of the ledger record: each u64 number | u64 version; | u32 CRC

const TRUNCATIONS_KEY = Buffer.from('truncations')
const TRUNCATIONS_SEED = crc32(TRUNCATIONS_KEY)
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
