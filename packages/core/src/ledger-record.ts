/**
 * Place of a block in its chain. A store gets it with the first version of the block; the block ends before the first
 * version of the next one.
 */
export interface BlockInfo {
  readonly height: bigint
  readonly epoch: bigint
  /** Time of the block in microseconds since the Unix epoch. */
  readonly timestampUsec: bigint
}

/** Whether height, epoch and time of two blocks are equal. */
export function isSameBlock(a: BlockInfo, b: BlockInfo): boolean {
  return a.height === b.height && a.epoch === b.epoch && a.timestampUsec === b.timestampUsec
}

/**
 * One write: a value, or `null` for a deletion. A value may have an annotation of up to 31 bytes, which stores keep
 * with it. The arrays must not be changed while the record is in use.
 */
export type Write = readonly [key: Uint8Array, value: Uint8Array | null, annotation?: Uint8Array | undefined]

/** Everything that one ledger version wrote. Sources deliver these records, and stores commit them. */
export interface VersionWrites {
  readonly version: bigint
  /** The block that begins with this version; undefined if none does. */
  readonly block?: BlockInfo | undefined
  /** The writes, in any order. No key occurs twice. */
  readonly writes: readonly Write[]
}

/** A key, its value, and the version that wrote it. */
export interface KeyedEntry {
  readonly key: Uint8Array
  /** The version that wrote the value. */
  readonly version: bigint
  readonly value: Uint8Array
  /** The annotation that the write kept with the value. */
  readonly annotation?: Uint8Array | undefined
}
