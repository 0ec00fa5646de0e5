/** Place of a block in its chain. A block is written with its first version and ends where the next begins. */
export interface BlockInfo {
  readonly height: bigint
  readonly epoch: bigint
  /** Microseconds since the Unix epoch. */
  readonly timestampUsec: bigint
}

/** Whether height, epoch and time of two blocks are equal. */
export function isSameBlock(a: BlockInfo, b: BlockInfo): boolean {
  return a.height === b.height && a.epoch === b.epoch && a.timestampUsec === b.timestampUsec
}

/**
 * One write: a value, or `null` for a deletion. A value may have an annotation of up to 31 bytes, which stores keep with
 * it. None of the arrays may change while the record is in use.
 */
export type Write = readonly [key: Uint8Array, value: Uint8Array | null, annotation?: Uint8Array | undefined]

/** Everything that one ledger version wrote: the unit in which sources deliver and stores commit. */
export interface VersionWrites {
  readonly version: bigint
  /** Present on the first version of a block, and only there. */
  readonly block?: BlockInfo | undefined
  /** No key twice; order does not matter. */
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
