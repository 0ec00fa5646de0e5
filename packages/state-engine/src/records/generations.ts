import { Buffer } from 'node:buffer'
import { crc32 } from 'node:zlib'
import { storeCorrupt } from '@ledger-state/engine/authoring'
import { counterSeed } from '../bytes/counter-key.js'
import { openRecord, type RecordBuilder } from '../bytes/record.js'
import type { LmdbStore } from '../lmdb/lmdb-store.js'
import type { ReadOptions } from '../lmdb/table.js'

// The database `generations` has a record for each merge, whose output is pruned as a whole:
//   u48 number → u64 up to | u48 first record number | u48 end | u48 records of `garbage` | u48 pairs | u48 payload | u32 CRC
// The merge that is under way has the same record in the database `meta`, under `merging`.

/** The output of a merge other than the records of `latest`. */
export interface Generation {
  /**
   * Newest version that was merged; 0 while the merge is under way. When it is the oldest version, nothing of the
   * generation is seen any more.
   */
  readonly upTo: bigint
  /** Number of the first record in the history log, or of the first one that a prune left. */
  readonly firstNumber: number
  /** Number after that of the last record in the history log. */
  readonly endNumber: number
  /** Number of records in the garbage list. */
  readonly garbageRecords: number
  /**
   * Number of superseded values in the chunks. While the generation is being dropped, it is an estimate of what is
   * left.
   */
  readonly pairs: number
  /** Number of bytes of the superseded values; an estimate, too, while the generation is being dropped. */
  readonly payloadBytes: number
}

const LENGTH = 8 + 5 * 6
const MERGING_KEY = Buffer.from('merging')
const MERGING_SEED = crc32(MERGING_KEY)

function encode(builder: RecordBuilder, generation: Generation, seed: number): Uint8Array {
  const { upTo, firstNumber, endNumber, garbageRecords, pairs, payloadBytes } = generation
  builder.begin().u64(upTo)
  for (const number of [firstNumber, endNumber, garbageRecords, pairs, payloadBytes]) builder.u48(number)
  return builder.seal(seed)
}

function decode(record: Buffer, seed: number, what: () => string): Generation {
  const content = openRecord(record, seed, what)
  if (content.length !== LENGTH) throw storeCorrupt(`${what()} has ${content.length} bytes`)
  const number = (place: number) => content.readUIntBE(8 + 6 * place, 6)
  return {
    upTo: content.readBigUInt64BE(0),
    firstNumber: number(0),
    endNumber: number(1),
    garbageRecords: number(2),
    pairs: number(3),
    payloadBytes: number(4),
  }
}

export function putGeneration(
  { generations }: LmdbStore,
  builder: RecordBuilder,
  number: number,
  generation: Generation,
): void {
  generations.putSync(number, encode(builder, generation, counterSeed(number)))
}

/** Decodes a record. @throws `store_corrupt` */
export function decodeGeneration(number: number, record: Buffer): Generation {
  return decode(record, counterSeed(number), () => `generation ${number}`)
}

/** Iterates over the generations that are left, the oldest first. @throws `store_corrupt` */
export function* listGenerations(
  { generations }: LmdbStore,
  options: ReadOptions = {},
): Generator<{ readonly number: number; readonly generation: Generation }> {
  for (const { key, value } of generations.getRange({ ...options, start: undefined, end: undefined })) {
    yield { number: key, generation: decodeGeneration(key, value) }
  }
}

/** Iterates over the generations below a number, the newest first. @throws `store_corrupt` */
export function* listGenerationsBack(
  { generations }: LmdbStore,
  below: number,
): Generator<{ readonly number: number; readonly generation: Generation }> {
  for (const { key, value } of generations.getRange({ start: below, end: undefined, reverse: true })) {
    yield { number: key, generation: decodeGeneration(key, value) }
  }
}

export function putMerging({ meta }: LmdbStore, builder: RecordBuilder, generation: Generation | undefined): void {
  if (generation) meta.putSync(MERGING_KEY, encode(builder, generation, MERGING_SEED))
  else meta.removeSync(MERGING_KEY)
}

/** The output so far of a merge that is not finished; undefined if there is none. @throws `store_corrupt` */
export function getMerging({ meta }: LmdbStore, options: ReadOptions = {}): Generation | undefined {
  const record = meta.getBinary(MERGING_KEY, options)
  return record && decode(record, MERGING_SEED, () => 'the record of a merge under way')
}
