/** A write of a key as it is stored. Its bytes are valid until the next write is read. */
export interface StoredWrite {
  readonly version: bigint
  readonly key: Uint8Array
  /** Whether the key differs from the one of the write before. */
  readonly isNewKey: boolean
  /** Null for a deletion. */
  readonly value: Uint8Array | null
  readonly annotation: Uint8Array | undefined
}

/**
 * The writes of one state of a store that are in its files. They do not change, whatever the store does meanwhile: the
 * files stay on disk until `close`.
 */
export interface MergedWrites {
  /** The newest version that is in the files; undefined if there is none. */
  readonly last: bigint | undefined
  /** Number of all writes in the files. */
  readonly count: number
  /**
   * Reads the writes of versions in one pass over the files that have some: file by file, in the order of their keys,
   * the writes of each key in the order of their versions. Superseded writes from before the window may be among them.
   * @throws `store_corrupt`
   */
  writes(first: bigint, last: bigint): Iterable<StoredWrite>
  /** Closes the files of the writes. */
  close(): void
}
