import type { BlockInfo } from '@ledger-state/core'

/** Numbers of a key: its chunk, where it starts there, and its length. */
export const KEY_WIDTH = 3
/**
 * Numbers of a write: its key, its base, and the chunk, the start and the length of its bytes. A write that is its own
 * base has its value as bytes. Others have the patch that turns the value of their base, an earlier write of the key,
 * into theirs.
 */
export const WRITE_WIDTH = 5
/** Base of a deletion. */
export const DELETED = 0xffffffff

/** A block by its first and last version. */
export interface ExportedBlock extends BlockInfo {
  readonly firstVersion: bigint
  readonly lastVersion: bigint
}

/** The writes of consecutive versions in a few buffers, which a thread gets without a copy. Each key is there once. */
export interface PackedWrites {
  readonly first: bigint
  /** Bytes of keys, values and patches. */
  readonly chunks: readonly Uint8Array<ArrayBuffer>[]
  /** `KEY_WIDTH` numbers of each key, in the order of their first writes. */
  readonly keys: Uint32Array<ArrayBuffer>
  /** `WRITE_WIDTH` numbers of each write. */
  readonly writes: Uint32Array<ArrayBuffer>
  /** Number of writes of each version. */
  readonly counts: Uint32Array<ArrayBuffer>
  /** Time of the block of each version, in microseconds. */
  readonly times: BigInt64Array<ArrayBuffer>
  /** Blocks that ended before a version of the range. */
  readonly blocks: readonly ExportedBlock[]
}

/** The buffers of packed writes. */
export function buffersOf({ chunks, keys, writes, counts, times }: PackedWrites): ArrayBuffer[] {
  return [...chunks, keys, writes, counts, times].map(({ buffer }) => buffer)
}
