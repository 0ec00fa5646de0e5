import type { KeyedEntry } from '@ledger-state/core'

/** A part of a state. */
export interface PartOfState {
  readonly entries: readonly KeyedEntry[]
}

/** Facts about a source that slices need; every `LedgerSource` of `@ledger-state/feed` has them. */
export interface SliceableSource {
  /** Place in the source, for messages. */
  readonly position: string
  /** Digest of the slice that the source itself keeps; undefined if it has everything. */
  readonly slice?: Uint8Array | undefined
}

/** A source that begins with a state, which is read several times. */
export interface StateSource extends SliceableSource {
  readonly description: string
  readonly base?:
    | {
        /** Reads the state in the order of its keys, after a key or from its beginning. */
        parts(after: Uint8Array | undefined): AsyncIterable<PartOfState>
      }
    | undefined
  /** Releases the source. */
  close(): Promise<void>
}
