import { badSignature, endingOutOfOrder, epochNotKnown, notAnEnding, otherTrustedWaypoint } from '../errors.js'
import type { LedgerHasher } from '../hashes/ledger-hasher.js'
import type { EpochState, SignedLedgerInfo } from '../ledger/ledger-info.js'
import { computeWaypoint, versionOfWaypoint } from '../ledger/waypoint.js'
import type { Bls, SignedStatement } from './bls.js'
import { readClaim, type SignedPower } from './validator-set.js'

/** Endings whose signatures are checked together: more bring hardly anything. */
export const ENDINGS_AT_ONCE = 64

/** What is believed of the end of an epoch: the validators of its `nextEpoch` sign what follows. */
interface BelievedEnding {
  readonly version: bigint
  readonly nextEpoch: EpochState
  /** Undefined if the validators are trusted themselves. */
  readonly info: SignedLedgerInfo | undefined
}

/**
 * The validator sets that follow from trusted waypoints. An ending of an epoch is believed if it has a trusted waypoint, or
 * if a quorum of the validators that the ending before announced signed it. See docs/ledger-formats.md, "Signatures".
 */
export class EpochHistory {
  readonly #hasher: LedgerHasher
  readonly #bls: Bls
  readonly #waypoints: ReadonlyMap<bigint, string>
  #newest: BelievedEnding | undefined

  /** @param waypoints each `version:hash`. @throws `invalid_argument` */
  constructor(hasher: LedgerHasher, bls: Bls, waypoints: readonly string[]) {
    this.#hasher = hasher
    this.#bls = bls
    this.#waypoints = new Map(waypoints.map((waypoint) => [versionOfWaypoint(waypoint), waypoint]))
  }

  /**
   * The history of a reader who trusts the validators of an epoch.
   * @param after the version with which the epoch before ended
   */
  static ofValidators(hasher: LedgerHasher, bls: Bls, validators: EpochState, after: bigint): EpochHistory {
    const history = new EpochHistory(hasher, bls, [])
    history.#newest = { version: after, nextEpoch: validators, info: undefined }
    return history
  }

  /** The newest epoch whose validators are known; undefined before an ending is believed. */
  get epoch(): bigint | undefined {
    return this.#newest?.nextEpoch.epoch
  }

  /**
   * The waypoint of the newest ending that is believed. Whoever trusts it can continue from there. Undefined before an ending is
   * believed.
   */
  get newestWaypoint(): string | undefined {
    const info = this.#newest?.info
    return info && computeWaypoint(this.#hasher, info)
  }

  /** Whether a trusted waypoint names a version. */
  hasWaypointAt(version: bigint): boolean {
    return this.#waypoints.has(version)
  }

  /**
   * Believes the endings of epochs that follow each other, all of them or none. Many at once take half of the time of one by
   * one where signatures are checked in JavaScript.
   * @returns the power that signed each; undefined if a waypoint vouches
   * @throws `untrusted` naming the first epoch that is not signed
   */
  believe(endings: readonly SignedLedgerInfo[]): (SignedPower | undefined)[] {
    let newest = this.#newest
    const powers: (SignedPower | undefined)[] = []
    const statements: { readonly epoch: bigint; readonly statement: SignedStatement }[] = []
    for (const ending of endings) {
      const { epoch, version, nextEpoch } = ending
      if (nextEpoch?.epoch !== epoch + 1n || nextEpoch.validators.length === 0) throw notAnEnding(epoch, version)
      if (newest && (epoch !== newest.nextEpoch.epoch || version <= newest.version)) {
        throw endingOutOfOrder(epoch, version, newest.nextEpoch.epoch, newest.version)
      }
      let power: SignedPower | undefined
      if (!this.#hasTrustedWaypoint(ending)) {
        if (!newest) throw epochNotKnown(epoch, version)
        const { signed, total, statement } = this.#readClaim(ending, newest.nextEpoch)
        statements.push({ epoch, statement })
        power = { signed, total }
      }
      powers.push(power)
      newest = { version, nextEpoch, info: ending }
    }
    this.#expectSignatures(statements)
    this.#newest = newest
    return powers
  }

  /**
   * Expects that a ledger info has a trusted waypoint, or that a quorum of its epoch's validators signed it.
   * @returns the power that signed; undefined if the waypoint alone vouches
   * @throws `untrusted`
   */
  expectSigned(info: SignedLedgerInfo): SignedPower | undefined {
    if (this.#hasTrustedWaypoint(info)) return undefined
    if (this.epoch !== info.epoch) throw epochNotKnown(info.epoch, info.version)
    const { signed, total, statement } = this.#readClaim(info, this.#newest!.nextEpoch)
    this.#expectSignatures([{ epoch: info.epoch, statement }])
    return { signed, total }
  }

  /** @throws `untrusted` where a waypoint names the version, and it is another one */
  #hasTrustedWaypoint(info: SignedLedgerInfo): boolean {
    const trusted = this.#waypoints.get(info.version)
    if (trusted === undefined) return false
    const found = computeWaypoint(this.#hasher, info)
    if (found !== trusted) throw otherTrustedWaypoint(info.epoch, found, trusted)
    return true
  }

  #readClaim(info: SignedLedgerInfo, validators: EpochState) {
    return readClaim(info, validators, this.#hasher.seed('LedgerInfo'))
  }

  /** One check of all; if it fails, each by itself, to name the epoch. */
  #expectSignatures(claims: readonly { readonly epoch: bigint; readonly statement: SignedStatement }[]): void {
    if (this.#bls.verifyAll(claims.map(({ statement }) => statement))) return
    const bad = claims.find(({ statement }) => !this.#bls.verifyAll([statement]))
    throw badSignature((bad ?? claims[0]!).epoch)
  }
}
