import { ByteReader } from '@ledger-state/core'
import {
  type Bls,
  createPortableBls,
  EpochHistory,
  type EpochState,
  type LedgerHasher,
  readLedgerInfo,
  type SignedLedgerInfo,
  type SignedPower,
  versionOfWaypoint,
} from '@ledger-state/proof'

/** Whom a reader trusts: one point of the ledger, or the validators of an epoch. */
export interface Trust {
  /** A waypoint `version:hash`, as the network publishes it. */
  readonly waypoint?: string | undefined
  /** The validators of an epoch, such as an earlier read found them. They vouch for that epoch, and for those that follow. */
  readonly trustedValidators?: Omit<EpochState, 'bytes'> | undefined
  /** Another implementation of BLS than that in JavaScript. */
  readonly bls?: Bls | undefined
  /** Reads the ends of epochs that an answer leaves out, as one answer has about 1 MiB of them. */
  readonly readEndings?: ReadEndings | undefined
  /** Called with each epoch that is reached before the one that signed: whoever keeps its waypoint continues from there. */
  readonly onReached?: ((reached: ReachedEpoch) => void) | undefined
}

/**
 * Asks for ends of epochs, in order, the first of which has a waypoint.
 * @returns ledger infos with signatures in BCS, as many as one answer has
 */
export type ReadEndings = (waypoint: string) => Promise<readonly Uint8Array[]>

/** An epoch whose validators are believed, on the way to the one that signed. */
export interface ReachedEpoch {
  readonly epoch: bigint
  /** The waypoint from which its validators follow. */
  readonly waypoint: string
  /** The epoch whose validators signed what is verified. */
  readonly lastEpoch: bigint
}

/** Who signed a ledger info. */
export interface Signers {
  readonly epoch: bigint
  /** Voting power that signed, of all; undefined if the waypoint itself vouches. */
  readonly power: SignedPower | undefined
  /** How many validators signed, of all; undefined if the waypoint itself vouches. */
  readonly count: { readonly signed: number; readonly total: number } | undefined
  /** A waypoint from which the next read may continue: of the newest end of an epoch that is believed. */
  readonly waypoint: string | undefined
}

/** Remembers the keys of validators, which one answer shares with the next. */
const PORTABLE_BLS = createPortableBls()

const NO_BYTES = new Uint8Array(0)

/**
 * Checks that validators who follow from what is trusted signed a ledger info.
 * @param endings ledger infos in BCS that end epochs, from the trusted one on
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
    ? EpochHistory.ofValidators(hasher, bls, { ...trustedValidators, bytes: NO_BYTES }, -1n)
    : new EpochHistory(hasher, bls, waypoint === undefined ? [] : [waypoint])
  const first = endings.map(readEnding)
  history.believe(first)
  const last = (await followEpochs(history, trust, ledgerInfo)) ?? first.at(-1)
  const validators = last?.nextEpoch?.validators ?? trustedValidators?.validators
  const power = history.expectSigned(ledgerInfo)
  const count = power && validators && { signed: countBits(ledgerInfo.signers), total: validators.length }
  return { epoch: ledgerInfo.epoch, power, count, waypoint: history.newestWaypoint ?? waypoint }
}

/**
 * Believes the ends of epochs up to the one that signed, in as many reads as they need. Each has to bring an epoch, so reads come
 * to an end.
 * @returns the last that a read brought
 */
async function followEpochs(
  history: EpochHistory,
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
    history.believe(next)
    last = next.at(-1)
  }
}

function readEnding(bytes: Uint8Array): SignedLedgerInfo {
  return readLedgerInfo(new ByteReader(bytes))
}

/** No bit beyond the validators is set: `expectSigned` refuses that. */
function countBits(mask: Uint8Array): number {
  let count = 0
  for (const byte of mask) for (let rest = byte; rest > 0; rest &= rest - 1) count++
  return count
}
