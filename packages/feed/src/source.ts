import type { BlockInfo, VersionWrites } from '@ledger-state/core'

/** Where ledger data comes from: maybe a state to begin with, then an ordered stream of versions. */
export interface LedgerSource {
  /** What it was recognized as, for people. */
  readonly description: string
  /** Undefined as long as the source has not told. */
  readonly chainId: number | undefined
  /** The whole state at a version, in a source that begins with one. */
  readonly base?: StateBase | undefined
  /**
   * Versions in order without gaps. Errors name the place in the source. What is proven is proven before it is yielded.
   */
  versions(reading?: Reading): AsyncIterable<VersionWrites>
  /** Where the version yielded last stands, such as "line 7". */
  readonly position: string
  /**
   * The ledger's accumulator behind the version yielded last: given back in a `Reading`, it proves that what
   * follows belongs to the same ledger. Undefined where the source proves nothing.
   */
  readonly mark: Uint8Array | undefined
  readonly progress: SourceProgress
  /** Lets go of the source; reading need not have ended. */
  close(): Promise<void>
}

/** Where a reader of versions stands, and how it waits. */
export interface Reading {
  /** First version wanted, by default the first that there is; versions before may come first. */
  readonly version?: bigint | undefined
  /** State values as of the version before, for what versions tell only in relation to it. */
  readonly read?: ((key: Uint8Array) => Uint8Array | undefined) | undefined
  /** `mark` of a source, as of the newest version held, if one is kept. */
  readonly mark?: Uint8Array | undefined
  /** Ends waiting for a live source; the stream then ends. */
  readonly signal?: AbortSignal | undefined
  /** Awaited where a live source has nothing more for now. */
  readonly onIdle?: (() => Promise<void>) | undefined
}

export interface StateBase {
  readonly version: bigint
  /** Whether what is not in it was not there; not so in one that was exported from a store with an assumed base. */
  readonly complete: boolean
  /** Entries of the state. May be gone on with: behind `part.mark`, as it was given. */
  parts(after: Uint8Array | undefined): AsyncIterable<StatePart>
  /** Known when all parts were read. @throws `invalid_backup` where the state does not tell */
  describe(): StateDescription
}

export interface StatePart {
  readonly entries: readonly StateEntryRecord[]
  /** Where the next part begins. */
  readonly mark: Uint8Array
}

export interface StateEntryRecord {
  readonly key: Uint8Array
  /** The version that wrote the value; that of the state where the source does not tell. */
  readonly version: bigint
  readonly value: Uint8Array
}

export interface StateDescription {
  readonly chainId: number
  readonly block: BlockInfo
  /** As `LedgerSource.mark`, behind the version of the state. */
  readonly mark: Uint8Array | undefined
}

export interface SourceProgress {
  /** Bytes, versions or entries, as `unit` says. */
  readonly done: number
  readonly total: number
  readonly unit: 'bytes' | 'versions' | 'entries'
}

export interface SourceOptions {
  /** Computes hashes and checks them against those that the source carries; true by default. */
  readonly verify?: boolean | undefined
  /** Word before the names of hashes, `APTOS::` by default. */
  readonly hashSalt?: string | undefined
  /** `version:hash` that a genesis has to have. */
  readonly waypoint?: string | undefined
  /** Whether a live source is waited for when it has nothing new, forever. */
  readonly follow?: boolean | undefined
  /** Told what a live source meets: it is being waited for, asked again. */
  readonly onNotice?: ((message: string) => void) | undefined
}
