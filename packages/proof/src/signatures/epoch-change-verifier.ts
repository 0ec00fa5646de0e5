import { bytesToHexDigits } from '@ledger-state/core'
import { untrusted } from '../errors.js'
import type { LedgerHasher } from '../hashes/ledger-hasher.js'
import type { EpochState, SignedLedgerInfo } from '../ledger/ledger-info.js'
import { computeWaypoint, versionOfWaypoint } from '../ledger/waypoint.js'
import type { Bls, SignedStatement } from './bls.js'
import { readClaim, type SignedPower } from './validator-set.js'

/** Number of epoch changes with signatures checked in one batch: larger batches save hardly anything. */
export const ENDINGS_AT_ONCE = 64
/** Bytes of epoch changes that are held for one batch. One of 150 validators has 16 kB. */
export const ENDING_BYTES_AT_ONCE = 4 * 1024 * 1024

/**
 * Most keys outside all trusted sets that claims checked together may have. An untrusted epoch change may announce
 * thousands of keys, and checking one takes 2 ms in JavaScript.
 */
const MOST_NEW_KEYS = 64

/** A verified epoch change: the validators of its `nextEpoch` sign the following ledger infos. */
interface VerifiedEpochChange {
  readonly version: bigint
  readonly nextEpoch: EpochState
  /** Ledger info that ends the epoch; undefined if the validators are trusted themselves. */
  readonly info: SignedLedgerInfo | undefined
}

/**
 * The validator sets that follow from trusted waypoints. An epoch change is trusted if it has a trusted waypoint,
 * or if a quorum of the validators that the previous end announced signed it. See docs/ledger-formats.md, "Signatures".
 */
export class EpochChangeVerifier {
  readonly #hasher: LedgerHasher
  readonly #bls: Bls
  readonly #waypoints: ReadonlyMap<bigint, string>
  #newest: VerifiedEpochChange | undefined
  /**
   * Number of claims that are checked together next. It doubles with each sound batch, so the work for claims of
   * strangers is at most twice the work for sound ones.
   */
  #atOnce = 1

  /** @param waypoints each `version:hash`. @throws `invalid_argument` */
  constructor(hasher: LedgerHasher, bls: Bls, waypoints: readonly string[]) {
    this.#hasher = hasher
    this.#bls = bls
    this.#waypoints = new Map(waypoints.map((waypoint) => [versionOfWaypoint(waypoint), waypoint]))
  }

  /**
   * Makes the history of a reader who trusts the validators of an epoch.
   * @param after the last version of the previous epoch
   */
  static ofValidators(hasher: LedgerHasher, bls: Bls, validators: EpochState, after: bigint): EpochChangeVerifier {
    const history = new EpochChangeVerifier(hasher, bls, [])
    history.#newest = { version: after, nextEpoch: validators, info: undefined }
    return history
  }

  /** Newest epoch with known validators; undefined before the first verified epoch change. */
  get epoch(): bigint | undefined {
    return this.#newest?.nextEpoch.epoch
  }

  /**
   * Waypoint of the newest epoch change that is trusted. A reader who trusts it can continue from there. Undefined
   * before one is trusted.
   */
  get newestWaypoint(): string | undefined {
    const info = this.#newest?.info
    return info && computeWaypoint(this.#hasher, info)
  }

  /** Whether one of the trusted waypoints names this version. */
  hasWaypointAt(version: bigint): boolean {
    return this.#waypoints.has(version)
  }

  /**
   * Checks successive epoch changes, and trusts all of them or none. If signatures are checked in JavaScript,
   * many at once take half of the time of one by one. Keys of a set are used only after the ending that announces it
   * was checked, or if they are few.
   * @returns the voting power that signed each; undefined if a waypoint verifies it
   * @throws `untrusted` naming the first epoch that is not signed
   */
  verify(endings: readonly SignedLedgerInfo[]): (SignedPower | undefined)[] {
    let newest = this.#newest
    const powers: (SignedPower | undefined)[] = []
    let batch = new ClaimBatch(this.#atOnce)
    for (const ending of endings) {
      const { epoch, version, nextEpoch } = ending
      if (nextEpoch?.epoch !== epoch + 1n || nextEpoch.validators.length === 0)
        throw untrusted.notAnEnding(epoch, version)
      if (newest && (epoch !== newest.nextEpoch.epoch || version <= newest.version)) {
        throw untrusted.endingOutOfOrder(epoch, version, newest.nextEpoch.epoch, newest.version)
      }
      let power: SignedPower | undefined
      if (!this.#hasTrustedWaypoint(ending)) {
        if (!newest) throw untrusted.epochNotKnown(epoch, version)
        const { signed, total, statement } = this.#readClaim(ending, newest.nextEpoch)
        if (!batch.add({ epoch, statement }, newest.nextEpoch)) {
          this.#expectBatch(batch)
          batch = new ClaimBatch(this.#atOnce)
          batch.add({ epoch, statement }, newest.nextEpoch)
        }
        power = { signed, total }
      }
      powers.push(power)
      newest = { version, nextEpoch, info: ending }
    }
    this.#expectBatch(batch)
    this.#newest = newest
    return powers
  }

  /**
   * Checks that a ledger info has a trusted waypoint, or that a quorum of its epoch's validators signed it.
   * @returns the power that signed; undefined if the waypoint suffices
   * @throws `untrusted`
   */
  expectSigned(info: SignedLedgerInfo): SignedPower | undefined {
    if (this.#hasTrustedWaypoint(info)) return undefined
    if (this.epoch !== info.epoch) throw untrusted.epochNotKnown(info.epoch, info.version)
    const { signed, total, statement } = this.#readClaim(info, this.#newest!.nextEpoch)
    this.#expectSignatures([{ epoch: info.epoch, statement }])
    return { signed, total }
  }

  /**
   * Whether a trusted waypoint verifies a ledger info.
   * @throws `untrusted` if a waypoint names its version, and has another hash
   */
  #hasTrustedWaypoint(info: SignedLedgerInfo): boolean {
    const trusted = this.#waypoints.get(info.version)
    if (trusted === undefined) return false
    const found = computeWaypoint(this.#hasher, info)
    if (found !== trusted) throw untrusted.otherTrustedWaypoint(info.epoch, found, trusted)
    return true
  }

  #readClaim(info: SignedLedgerInfo, validators: EpochState) {
    return readClaim(info, validators, this.#hasher.seed('LedgerInfo'))
  }

  #expectBatch({ claims }: ClaimBatch): void {
    this.#expectSignatures(claims)
    if (claims.length === this.#atOnce) this.#atOnce = Math.min(2 * this.#atOnce, ENDINGS_AT_ONCE)
  }

  /**
   * Checks the signatures of all claims together. If that fails, it checks each claim separately, to name the epoch.
   */
  #expectSignatures(claims: readonly EpochClaim[]): void {
    if (claims.length === 0) return
    if (this.#bls.verifyAll(claims.map(({ statement }) => statement))) return
    const bad = claims.find(({ statement }) => !this.#bls.verifyAll([statement]))
    throw untrusted.badSignature((bad ?? claims[0]!).epoch)
  }
}

interface EpochClaim {
  readonly epoch: bigint
  readonly statement: SignedStatement
}

/** Claims of successive epochs that are checked together. The first one is of validators who are trusted. */
class ClaimBatch {
  readonly claims: EpochClaim[] = []
  readonly #most: number
  #keys: Set<string> | undefined
  #newKeys = 0

  constructor(most: number) {
    this.#most = most
  }

  /** Adds a claim of the validators of an epoch. Returns false if the batch has to be checked before. */
  add(claim: EpochClaim, { validators }: EpochState): boolean {
    if (this.claims.length > 0 && !this.#hasRoomFor(claim)) return false
    this.#keys ??= new Set(validators.map(({ publicKey }) => bytesToHexDigits(publicKey)))
    this.claims.push(claim)
    return true
  }

  #hasRoomFor({ statement: { publicKeys } }: EpochClaim): boolean {
    if (this.claims.length >= this.#most) return false
    for (const bytes of publicKeys) {
      const key = bytesToHexDigits(bytes)
      if (this.#keys!.has(key)) continue
      if (++this.#newKeys > MOST_NEW_KEYS) return false
      this.#keys!.add(key)
    }
    return true
  }
}
