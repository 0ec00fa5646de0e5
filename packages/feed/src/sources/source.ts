import type { BlockInfo, KeptTransaction, KeyedEntry, VersionWrites } from '@ledger-state/core'
import type { Network } from '../networks/network.js'
import type { PackedEnding } from '../signatures/packed-ending.js'
import type { FetchPlan, PlanOptions, WantedWindow } from '../window/wanted-window.js'
import type { ReadValue } from '../wire/ledger-clock.js'
import type { SignedPoint, Vouching } from './vouching.js'

/** Source of ledger data: possibly a state to begin with, then an ordered stream of versions. */
export interface LedgerSource {
  /** What it was recognized as, for people. */
  readonly description: string
  /** Undefined until the source reports it. */
  readonly chainId: number | undefined
  /** The whole state at a version, in a source that begins with one. */
  readonly base?: StateBase | undefined
  /**
   * Versions in order without gaps. What the source can prove is proven before it is yielded. Errors name the place in the
   * source.
   */
  versions(reading?: Reading): AsyncIterable<LedgerVersion>
  /** The place of the version yielded last, such as "line 7". */
  readonly position: string
  /**
   * The ledger's accumulator after the version yielded last. Given back in a `Reading`, it proves that what follows belongs
   * to the same ledger. Undefined where the source proves nothing.
   */
  readonly mark: Uint8Array | undefined
  /** What vouches for the version yielded last, and for the state that the source begins with. Undefined where nothing does. */
  readonly vouching?: Vouching | undefined
  /**
   * Points between two versions up to which the source shows that validators signed the ledger. A store that holds
   * these versions from elsewhere compares its accumulator roots with them. Only in sources that carry signatures. They come in
   * order, but for that of a checkpoint.
   * @throws `untrusted`
   */
  signedPoints?(reading: SignedRangeReading): AsyncIterable<SignedPoint>
  /** The ends of epochs that were believed since the last call, in order. Only in sources that carry signatures. */
  takeEndings?(): readonly PackedEnding[]
  /** What another store was given up to a version, where the source is one: see `WritesHash` of `@ledger-state/ingest`. */
  readonly checkpoint?: { readonly version: bigint; readonly writesHash: Uint8Array } | undefined
  /** Whether the source is another store, whose deletions are of what was there. */
  readonly isStore?: boolean | undefined
  /** What another store keeps, where the source is one that keeps a slice: see `sliceDigest` of `@ledger-state/ledger`. */
  readonly slice?: Uint8Array | undefined
  readonly progress: SourceProgress
  /**
   * What is yet to be fetched, where a window was chosen. Reads manifests, and nothing large unless it is to measure.
   */
  plan?(options?: PlanOptions): Promise<FetchPlan>
  /** Releases files, threads and connections; reading need not have ended. */
  close(): Promise<void>
}

/** What a version wrote, and what its ledger says of the state after it. */
export interface LedgerVersion extends VersionWrites {
  /** Reads the transaction that made the version, for stores that keep it. Absent where the source does not carry transactions. */
  readonly readTransaction?: (() => KeptTransaction) | undefined
  /** Root of the state, which the last version of each block has; undefined also where the source does not carry it. */
  readonly stateRoot?: Uint8Array | undefined
  /**
   * Root of the accumulator of the ledger up to this version, which the last version of each block has where the source proves
   * it and carries no signatures.
   */
  readonly accumulatorRoot?: Uint8Array | undefined
  /**
   * What shows that a ledger info which validators signed commits to the state after this version: what `bytesToCheckpoint` of
   * `@ledger-state/proof` reads. The last block of each chunk of a backup has it, where something vouches for the source.
   */
  readonly checkpoint?: Uint8Array | undefined
}

/** Versions of a store that are to be compared with what validators signed. */
export interface SignedRangeReading {
  /** Version above which points are wanted. */
  readonly above: bigint
  /** Newest version that is wanted. */
  readonly upTo: bigint
  /** What vouches for the newest version of the store that is signed. */
  readonly vouching: Vouching | undefined
  readonly chainId: number | undefined
  /**
   * A point is to bring a checkpoint of the state, if the source has one that lies wholly above this version: it takes the
   * transactions of one chunk. Undefined where none is wanted.
   */
  readonly checkpointAbove?: bigint | undefined
}

/** Position from which versions are read, and how a live source waits. */
export interface Reading {
  /** First version wanted, by default the first of the source; versions before it may be yielded, too. */
  readonly version?: bigint | undefined
  /** State values as of the version before: what a version says of its block is relative to them. */
  readonly read?: ReadValue | undefined
  /**
   * `mark` of a source, as of the newest version held, or of an earlier one where that of the newest is not known; if one was kept. A
   * source that is proven from its mark on then reads the versions between as well.
   */
  readonly mark?: Uint8Array | undefined
  /** What vouches for the newest version of the store that is signed: the source continues from there. */
  readonly vouching?: Vouching | undefined
  /** Ends waiting for a live source; the stream then ends. */
  readonly signal?: AbortSignal | undefined
  /** Awaited when a live source has nothing more for now. */
  readonly onIdle?: (() => Promise<void>) | undefined
}

/** The whole state at a version, in parts. */
export interface StateBase {
  readonly version: bigint
  /** Whether a key that is not in it had no value; false for the export of a store that began on an assumed empty base. */
  readonly complete: boolean
  /** Root of the state; undefined where the source does not carry it. */
  readonly stateRoot?: Uint8Array | undefined
  /** Same as that of a `LedgerVersion`, of the whole state; known once all parts were read. */
  readonly checkpoint?: Uint8Array | undefined
  /** Entries of the state. @param after `mark` of a part: reading resumes after that part */
  parts(after: Uint8Array | undefined): AsyncIterable<StatePart>
  /** Known once all parts were read. @throws `invalid_backup` if the state lacks a part of the description */
  describe(): StateDescription
}

/** Some thousands of entries of a state, in the order of the source. */
export interface StatePart {
  /** The version of an entry is that of the state where the source does not say which version wrote it. */
  readonly entries: readonly KeyedEntry[]
  /** Place at which the next part begins. */
  readonly mark: Uint8Array
}

/** What a state says of its ledger, apart from the entries. */
export interface StateDescription {
  readonly chainId: number
  readonly block: BlockInfo
  /** Same as `LedgerSource.mark`, after the version of the state. */
  readonly mark: Uint8Array | undefined
}

/** How much of a source was read. */
export interface SourceProgress {
  /** Bytes, versions or entries, as `unit` says. */
  readonly done: number
  readonly total: number
  readonly unit: 'bytes' | 'versions' | 'entries'
  /** Bytes that came from elsewhere so far; undefined of what lies on this machine. */
  readonly fetchedBytes?: number | undefined
}

/** How a source is read and proven. */
export interface SourceOptions {
  /** Computes hashes and compares them with those that the source carries; true by default. */
  readonly verify?: boolean | undefined
  /** The word before the name of each hash, `APTOS::` by default. */
  readonly hashSalt?: string | undefined
  /**
   * Points of the ledger that are trusted, each `version:hash`. What the source holds must be signed by validators that follow
   * from one of them. By default those of the known network whose chain id the source has; of other networks nothing vouches.
   */
  readonly waypoints?: readonly string[] | undefined
  /** The network that the source is of: its waypoints are trusted where `waypoints` names none. */
  readonly network?: Network | undefined
  /** The part of a backup that is wanted; by default all of its transactions. */
  readonly window?: WantedWindow | undefined
  /** Folder in which a source keeps what it need not ask for again, such as metadata, and copies while they are needed; by default the temporary folder has the copies alone. */
  readonly sourceFolder?: string | undefined
  /** Folder in which the objects of a backup that are fetched are kept, as a separate backup; by default they are not kept. */
  readonly keepFolder?: string | undefined
  /** Takes a backup that holds nothing but ends of epochs, to prove their validators; false by default. */
  readonly endingsAlone?: boolean | undefined
  /** Takes a source whose signatures are not there, or not to be checked. Nothing vouches for it then. */
  readonly unsigned?: boolean | undefined
  /** Whether chunks of a backup and pages of a node are proven in a thread other than the caller's; true by default. */
  readonly thread?: boolean | undefined
  /** Whether to wait for a live source that has nothing new, without end. */
  readonly follow?: boolean | undefined
  /** Ends the opening of a source that does not answer, and transfers out of a bucket, which then throw `source_failed`. */
  readonly signal?: AbortSignal | undefined
  /** Sent with every request to a node or a bucket, such as `authorization`; no message repeats them. Redirects are then not followed. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Whether requests to a bucket carry no account, although the environment has credentials of one. */
  readonly isAnonymous?: boolean | undefined
  /** Receives one line for people: what a source does not prove, or why it is asked again. */
  readonly onNotice?: ((message: string) => void) | undefined
}
