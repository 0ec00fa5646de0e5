import { ByteReader, ByteWriter } from '@ledger-state/core'

// Layout of a store's counts of the data that its slice leaves out: u8 1 | u64 keys, bytes, writes, bytes of writes

/** Counts of the data that a slice has left out since its store began. Bytes include keys and values. */
export interface SliceLeftOut {
  /** Keys of the state that the store began with. */
  readonly keys: number
  /** Bytes of these keys and their values. */
  readonly bytes: number
  /** Writes of the versions after it, deletions included. */
  readonly writes: number
  /** Bytes of these writes. */
  readonly writtenBytes: number
}

const LAYOUT = 1

/** Encodes the value under `SLICE_LEFT_OUT_KEY`; `decodeSliceLeftOut` reads it. */
export function encodeSliceLeftOut({ keys, bytes, writes, writtenBytes }: SliceLeftOut): Uint8Array {
  const writer = new ByteWriter().u8(LAYOUT)
  for (const count of [keys, bytes, writes, writtenBytes]) writer.u64(BigInt(count))
  return writer.toBytes()
}

/**
 * Reads the value under `SLICE_LEFT_OUT_KEY`.
 * @throws `invalid_bcs`
 */
export function decodeSliceLeftOut(value: Uint8Array): SliceLeftOut {
  const reader = new ByteReader(value)
  const layout = reader.readU8()
  if (layout !== LAYOUT) throw reader.fault(`unknown layout ${layout} of the counts of a slice`, 0)
  const count = (): number => Number(reader.readU64())
  return { keys: count(), bytes: count(), writes: count(), writtenBytes: count() }
}
