import type { BlockInfo, KeyedEntry, VersionWrites } from '@ledger-state/core'
import type { KeptTransaction, TrustedState, WholeTransaction } from '@ledger-state/records'
import type { PackedEpochChange } from '@ledger-state/records/epoch-change'
import type { Network } from '../networks/network.js'
import type { FetchPlan, PlanOptions, WantedWindow } from '../window/wanted-window.js'
import type { ReadStateValue } from '../wire/ledger-clock.js'
import type { SignedVersion } from './trusted-state.js'

/** Source of ledger data: an ordered stream of versions, which a state may precede. */
export interface LedgerSource {
  /** Kind of the source, in words for people. */
  readonly description: string
  /** Chain id; undefined until the source reports it. */
  readonly chainId: number | undefined
  /** The whole state at a version, if the source begins with one. */
  readonly base?: StateBase | undefined
  /**
   * Versions in order without gaps. Each is proven before it is yielded, as far as the source can prove it. Errors name
   * the place in the source.
   */
  versions(reading?: Reading): AsyncIterable<LedgerVersion>
  /** The place of the last yielded version, such as "line 7". */
  readonly position: string
  /**
   * The ledger's accumulator after the last yielded version. A later reading that begins with it in its `Reading`
   * proves that its versions belong to the same ledger. Undefined if the source proves nothing.
   */
  readonly mark: Uint8Array | undefined
  /**
   * The ledger's accumulator before the first version of the last reading, once that was yielded: a mark, too. Undefined for
   * version 0, and if the source does not know it.
   */
  readonly markBefore?: Uint8Array | undefined
  /**
   * The validators that verify the last yielded version, and the state that the source begins with. Undefined if
   * none do.
   */
  readonly trustedState?: TrustedState | undefined
  /**
   * Points between two versions up to which the source shows that validators signed the ledger. A store that holds
   * these versions from elsewhere compares its accumulator roots with them. Only in sources that carry signatures. They
   * come in order, except the point that has a checkpoint.
   * @throws `untrusted`
   */
  signedPoints?(reading: SignedRangeReading): AsyncIterable<SignedVersion>
  /** The epoch changes that were proven since the last call, in order. Only in sources that carry signatures. */
  takeEndings?(): readonly PackedEpochChange[]
  /** Hash of all writes up to a version, if the source is another store: see `WritesHash` of `@ledger-state/ingest`. */
  readonly checkpoint?: { readonly version: bigint; readonly writesHash: Uint8Array } | undefined
  /** The word before the names of the ledger's hashes; undefined if the source has no hashes. */
  readonly hashSalt?: string | undefined
  /** Whether the source is another store, which only deletes keys that exist. */
  readonly isStore?: boolean | undefined
  /** Whether the source gets further versions, for which it waits with the option `follow`. */
  readonly isLive?: boolean | undefined
  /**
   * Digest of the slice that the source keeps, if it is a store that keeps one: see `sliceDigest` of
   * `@ledger-state/ledger`.
   */
  readonly slice?: Uint8Array | undefined
  readonly progress: SourceProgress
  /** The remaining objects of a chosen window. Reads manifests, and large objects only to measure the speed. */
  plan?(options?: PlanOptions): Promise<FetchPlan>
  /** Releases files, threads and connections, even if reading has not ended. */
  close(): Promise<void>
}

/** Writes of a version, and the statements of its ledger about the state after it. */
export interface LedgerVersion extends VersionWrites {
  /**
   * Reads the transaction that made the version, for stores that keep it. Absent if the source does not carry
   * transactions.
   */
  readonly readTransaction?: (() => KeptTransaction) | undefined
  /**
   * Reads everything of the transaction that made the version, for stores that keep it, before the next version is
   * taken. Absent if the source does not carry transactions, or does not prove them.
   */
  readonly readWhole?: (() => WholeTransaction) | undefined
  /**
   * Root of the state after the last version of a block; undefined for other versions, and if the source does not carry
   * it.
   */
  readonly stateRoot?: Uint8Array | undefined
  /**
   * Root of the ledger's accumulator after the last version of a block, if the source proves it and carries no
   * signatures.
   */
  readonly accumulatorRoot?: Uint8Array | undefined
  /**
   * Proof that a signed ledger info commits to the state after this version, as `bytesToCheckpoint` of
   * `@ledger-state/proof` reads it. The last block of each chunk of a backup has one, if validators verify the
   * source.
   */
  readonly checkpoint?: Uint8Array | undefined
}

/** Versions of a store that are to be compared with signed ones. */
export interface SignedRangeReading {
  /** Version above which points are wanted. */
  readonly above: bigint
  /** Newest version that is wanted. */
  readonly upTo: bigint
  /** The validators that verify the newest signed version of the store. */
  readonly trustedState: TrustedState | undefined
  readonly chainId: number | undefined
  /**
   * Version above which a checkpoint of the state is wanted; reading it takes the transactions of one chunk, which must
   * lie wholly above. Undefined if none is wanted.
   */
  readonly checkpointAbove?: bigint | undefined
}

/** First version to read, and the behaviour of a live source. */
export interface Reading {
  /** First version wanted, by default the first of the source. Earlier versions may be yielded, too. */
  readonly version?: bigint | undefined
  /** Reads state values as of the version before. Sources need them to find out the block of a version. */
  readonly read?: ReadStateValue | undefined
  /**
   * `mark` of a source after the newest version of the store, or after an earlier version if the mark of the newest is
   * not known. A source that is proven after the mark also reads the versions between.
   */
  readonly mark?: Uint8Array | undefined
  /** The validators that verify the newest signed version of the store. The source continues from them. */
  readonly trustedState?: TrustedState | undefined
  /** Stops the waiting for a live source; the stream then ends. */
  readonly signal?: AbortSignal | undefined
  /** Called, and awaited, when a live source has nothing more for now. */
  readonly onIdle?: (() => Promise<void>) | undefined
}

/** The whole state at a version, in parts. */
export interface StateBase {
  readonly version: bigint
  /** Whether keys that are not in it had no value. False for the export of a store that began with an unknown base. */
  readonly complete: boolean
  /** Root of the state; undefined if the source does not carry it. */
  readonly stateRoot?: Uint8Array | undefined
  /** Checkpoint of the whole state, as in `LedgerVersion`; known once all parts were read. */
  readonly checkpoint?: Uint8Array | undefined
  /**
   * Parts of the state.
   * @param after `mark` of a part: reading resumes after that part
   */
  parts(after: Uint8Array | undefined): AsyncIterable<StatePart>
  /**
   * Describes the state, once all parts were read.
   * @throws `invalid_backup` if the state lacks a part of the description
   */
  describe(): StateDescription
}

/** A part of a state: some thousands of its entries, in the order of the source. */
export interface StatePart {
  /** Entries. If the source does not say which version wrote an entry, the entry has the version of the state. */
  readonly entries: readonly KeyedEntry[]
  /** Place at which the next part begins. */
  readonly mark: Uint8Array
}

/** Description of a state apart from its entries. */
export interface StateDescription {
  readonly chainId: number
  readonly block: BlockInfo
  /** `LedgerSource.mark` after the version of the state. */
  readonly mark: Uint8Array | undefined
}

/** Progress of reading a source. */
export interface SourceProgress {
  /** Bytes, versions or entries, as `unit` says. */
  readonly done: number
  readonly total: number
  readonly unit: 'bytes' | 'versions' | 'entries'
  /** Bytes fetched from elsewhere so far; undefined if the source is on this machine. */
  readonly fetchedBytes?: number | undefined
}

/** Options for reading and proving a source. */
export interface SourceOptions {
  /** Whether to compute hashes and compare them with those that the source carries; true by default. */
  readonly verify?: boolean | undefined
  /** The word before the name of each hash, `APTOS::` by default. */
  readonly hashSalt?: string | undefined
  /**
   * Points of the ledger that are trusted, each `version:hash`. The data of the source must be signed by validators
   * that follow from one of them. By default, the waypoints of the known network with the chain id of the source;
   * nothing verifies other networks.
   */
  readonly waypoints?: readonly string[] | undefined
  /** The network of the source. Its waypoints are trusted if `waypoints` names none. */
  readonly network?: Network | undefined
  /** The part of a backup that is wanted; by default all of its transactions. */
  readonly window?: WantedWindow | undefined
  /**
   * Folder in which a source keeps data that it need not fetch again, such as metadata, and copies while they are
   * needed. By default only copies are made, in the temporary folder.
   */
  readonly sourceFolder?: string | undefined
  /** Folder that keeps the fetched objects of a backup, as a separate backup. By default they are not kept. */
  readonly keepFolder?: string | undefined
  /** Whether to accept a backup that holds nothing but epoch changes, to prove their validators; false by default. */
  readonly endingsAlone?: boolean | undefined
  /** Whether to accept a source without checking signatures. Nothing verifies it then. */
  readonly unsigned?: boolean | undefined
  /** Whether chunks of a backup and pages of a node are proven in another thread; true by default. */
  readonly thread?: boolean | undefined
  /** Whether to wait, without end, for new versions of a live source (`isLive`). Other sources end as without it. */
  readonly follow?: boolean | undefined
  /** Stops opening a source, and transfers from a bucket; both then throw `source_failed`. */
  readonly signal?: AbortSignal | undefined
  /**
   * Headers sent with every request to a node or a bucket, such as `authorization`. Messages do not repeat them, and
   * redirects are not followed.
   */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Whether requests to a bucket carry no account, even if the environment has credentials. */
  readonly isAnonymous?: boolean | undefined
  /** Called with a line for people: it says which data a source does not prove, or why it is asked again. */
  readonly onNotice?: ((message: string) => void) | undefined
}
