import type { SignedCheckpoint, StatePath } from '@ledger-state/proof'

/** Bytes after which an answer has no further epoch change. The client asks again, starting at the last one. */
export const MAX_ENDING_BYTES = 1 << 20

/** The tree of the state at a signed checkpoint. */
export interface ProofTree {
  readonly checkpoint: SignedCheckpoint
  /** The path of a state key in database form, in about 0.1 ms. */
  pathOf(stateKey: Uint8Array): StatePath
}

/** Values of a version of the state, under keys in database form. */
export interface ProvenState {
  readonly version: bigint
  /** Reads values in any order. `visit` takes undefined for a key that has none. */
  readEach(
    keys: readonly Uint8Array[],
    visit: (
      key: Uint8Array,
      value: { readonly value: Uint8Array; readonly annotation?: Uint8Array | undefined } | undefined,
    ) => void,
  ): Promise<void>
}

/** Paths of keys at ends of blocks that have no tree: they are computed from the values of the version. */
export interface BlockProofs {
  /** The word before the name of each hash. */
  readonly hashSalt: string
  /** The newest end of a block up to a version that has paths. */
  endUpTo(version: bigint): bigint | undefined
  /** The oldest such end above a version. */
  endAfter(version: bigint): bigint | undefined
  /**
   * The path of a state key; undefined if the version is no such end.
   * @param work `turn` is called between steps of a few milliseconds, `hold` with bytes before they are allocated
   */
  pathOf(
    state: ProvenState,
    stateKey: Uint8Array,
    work: { turn(): Promise<unknown>; hold(bytes: number): void },
  ): Promise<StatePath | undefined>
}

/** Range of the epoch changes that are asked for. */
export interface EndingsAsked {
  /** Version of the first ending; undefined for the oldest that is kept. */
  readonly version: bigint | undefined
  /** Epoch of the last ending at most. */
  readonly lastEpoch: bigint
  /** Bytes after which no further ending is added. */
  readonly maxBytes: number
}

/** Source of the proofs of reads. */
export interface StateProofs {
  /** The word before the name of each hash; undefined if there is no tree. */
  readonly hashSalt: string | undefined
  /** The versions that have a tree, the newest first. */
  readonly versions: readonly bigint[]
  /** The tree of a version; undefined if there is none. */
  at(version: bigint): ProofTree | undefined
  /** Proofs at ends of blocks; undefined if there are none. */
  readonly blocks?: BlockProofs | undefined
  /** Signed ledger infos that end epochs, in order. Undefined if no kept epoch ends at the version. */
  endings(asked: EndingsAsked): Promise<readonly Uint8Array[] | undefined>
}
