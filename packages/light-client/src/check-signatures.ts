import { ByteReader } from '@ledger-state/core'
import {
  type Bls,
  createPortableBls,
  EpochChangeVerifier,
  type EpochState,
  type LedgerHasher,
  readLedgerInfo,
  type SignedLedgerInfo,
  type SignedPower,
  versionOfWaypoint,
} from '@ledger-state/proof'

/** The trust of a reader: one point of the ledger, or the validators of an epoch. */
export interface Trust {
  /** A waypoint `version:hash`, as the network publishes it. */
  readonly waypoint?: string | undefined
  /** Validators of an epoch, such as an earlier read found. They verify that epoch, and those that follow. */
  readonly trustedValidators?: Omit<EpochState, 'bytes'> | undefined
  /** Implementation of BLS signatures; by default the one in JavaScript. */
  readonly bls?: Bls | undefined
  /** Reads the epoch changes that an answer leaves out: one answer has about 1 MiB of them. */
  readonly readEndings?: ReadEndings | undefined
  /**
   * Called with each epoch on the way to the signing epoch. A caller that keeps its waypoint can continue from there.
   */
  readonly onReached?: ((reached: ReachedEpoch) => void) | undefined
}

/**
 * Asks a node for epoch changes, in order, starting with the one that has the given waypoint.
 * @returns ledger infos with signatures in BCS, as many as one answer has
 */
export type ReadEndings = (waypoint: string) => Promise<readonly Uint8Array[]>

/** A verified epoch on the way to the signing epoch. */
export interface ReachedEpoch {
  readonly epoch: bigint
  /** Waypoint from which the validators of the epoch follow. */
  readonly waypoint: string
  /** Epoch of the validators that signed the verified answer. */
  readonly lastEpoch: bigint
}

/** Who signed a ledger info. */
export interface Signers {
  readonly epoch: bigint
  /** Voting power that signed, and the total voting power; undefined if the waypoint is trusted. */
  readonly power: SignedPower | undefined
  /** Number of validators that signed, and of all; undefined if the waypoint is trusted. */
  readonly count: { readonly signed: number; readonly total: number } | undefined
  /** Waypoint from which the next read may continue: the waypoint of the newest verified epoch change. */
  readonly waypoint: string | undefined
}

/** BLS verifier that all answers share: it remembers the keys of validators. */
const PORTABLE_BLS = createPortableBls()

const NO_BYTES = new Uint8Array(0)

/**
 * Checks that a ledger info was signed by validators who follow from the reader's trust.
 * @param endings ledger infos in BCS that end epochs, starting with the trusted one
 * @throws `untrusted`; `invalid_bcs`, `invalid_argument`; as `readEndings`
 */
export async function checkSignatures(
  hasher: LedgerHasher,
  trust: Trust,
  endings: readonly Uint8Array[],
  ledgerInfo: SignedLedgerInfo,
): Promise<Signers> {
  const { waypoint, trustedValidators, bls = PORTABLE_BLS } = trust
  const history = trustedValidators
    ? EpochChangeVerifier.ofValidators(hasher, bls, { ...trustedValidators, bytes: NO_BYTES }, -1n)
    : new EpochChangeVerifier(hasher, bls, waypoint === undefined ? [] : [waypoint])
  const first = endings.map(readEnding)
  history.verify(first)
  const last = (await followEpochs(history, trust, ledgerInfo)) ?? first.at(-1)
  const validators = last?.nextEpoch?.validators ?? trustedValidators?.validators
  const power = history.expectSigned(ledgerInfo)
  const count = power && validators && { signed: countBits(ledgerInfo.signers), total: validators.length }
  return { epoch: ledgerInfo.epoch, power, count, waypoint: history.newestWaypoint ?? waypoint }
}

/**
 * Verifies the epoch changes up to the signing epoch, in as many reads as necessary. Each read must return at least one
 * epoch, so the reads come to an end.
 * @returns the epoch changes of the last read
 */
async function followEpochs(
  history: EpochChangeVerifier,
  { waypoint, trustedValidators, readEndings, onReached }: Trust,
  { epoch: lastEpoch, version }: SignedLedgerInfo,
): Promise<SignedLedgerInfo | undefined> {
  let last: SignedLedgerInfo | undefined
  for (;;) {
    const { epoch, newestWaypoint } = history
    const from = newestWaypoint ?? (trustedValidators ? undefined : waypoint)
    if (epoch !== undefined && newestWaypoint !== undefined) onReached?.({ epoch, waypoint: newestWaypoint, lastEpoch })
    const isThere = epoch === undefined ? from === undefined || versionOfWaypoint(from) === version : epoch >= lastEpoch
    if (isThere || from === undefined || !readEndings) return last
    const read = (await readEndings(from)).map(readEnding)
    const next = read.filter((info) => info.epoch < lastEpoch && info.epoch >= (epoch ?? 0n))
    if (next.length === 0) return last
    history.verify(next)
    last = next.at(-1)
  }
}

function readEnding(bytes: Uint8Array): SignedLedgerInfo {
  return readLedgerInfo(new ByteReader(bytes))
}

/** Counts the bits of a mask. `expectSigned` has refused bits beyond the validators. */
function countBits(mask: Uint8Array): number {
  let count = 0
  for (const byte of mask) for (let rest = byte; rest > 0; rest &= rest - 1) count++
  return count
}
