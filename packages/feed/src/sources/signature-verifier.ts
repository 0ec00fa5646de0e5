import { DEFAULT_HASH_SALT, type LedgerHasher, type SignedLedgerInfo, versionOfWaypoint } from '@ledger-state/proof'
import type { TrustedState } from '@ledger-state/records'
import type { PackedEpochChange } from '@ledger-state/records/epoch-change'
import { notVerifiedNotice } from '../errors.js'
import type { BackupStorage } from '../files/backup-storage.js'
import { findKnownNetwork } from '../networks/network.js'
import type { SignedRangeReading, SourceOptions } from './source.js'
import type { SignedVersion } from './trusted-state.js'
import { VerifiedEpochs } from './verified-epochs.js'

/** Finds the validators that verify the ledger infos of a backup. */
export class SignatureVerifier {
  readonly #storage: BackupStorage
  readonly #hasher: LedgerHasher
  readonly #options: SourceOptions
  #epochs: VerifiedEpochs | undefined
  #isNoticed = false

  /** @param storage the backup, which has the epoch changes */
  constructor(storage: BackupStorage, hasher: LedgerHasher, options: SourceOptions) {
    this.#storage = storage
    this.#hasher = hasher
    this.#options = options
  }

  /** Whether a waypoint is trusted. Options and a store can name one before the chain id is known. */
  hasWaypoint(held: TrustedState | undefined, chainId: number | undefined): boolean {
    return trustedWaypoints(this.#options, held, chainId).length > 0
  }

  /** Version of the earliest waypoint that is trusted; undefined if none is. */
  earliestWaypoint(held: TrustedState | undefined, chainId: number | undefined): bigint | undefined {
    const versions = trustedWaypoints(this.#options, held, chainId).map(versionOfWaypoint)
    return versions.length === 0 ? undefined : versions.reduce((a, b) => (a < b ? a : b))
  }

  /**
   * Checks that a ledger info is signed by validators that follow from a trusted waypoint. If no waypoint is trusted,
   * it returns undefined, and gives one notice.
   * @param path the file of the ledger info
   * @param held the trusted state of the store, if the source continues one
   * @throws `untrusted`
   */
  async verify(
    path: string,
    info: SignedLedgerInfo,
    held: TrustedState | undefined,
    chainId: number | undefined,
  ): Promise<TrustedState | undefined> {
    const waypoints = trustedWaypoints(this.#options, held, chainId)
    if (waypoints.length === 0) {
      await this.#notice()
      return undefined
    }
    this.#epochs ??= await VerifiedEpochs.open(this.#storage, this.#hasher, waypoints)
    return continued(await this.#epochs.expectSigned(path, info), held)
  }

  /**
   * The epoch changes between two versions, each checked to be signed. Yields none if no waypoint is trusted.
   * @throws `untrusted`
   */
  async *endingsWithin({ above, upTo, trustedState, chainId }: SignedRangeReading): AsyncGenerator<SignedVersion> {
    const waypoints = trustedWaypoints(this.#options, trustedState, chainId)
    if (waypoints.length === 0) return
    this.#epochs ??= await VerifiedEpochs.open(this.#storage, this.#hasher, waypoints)
    for await (const point of this.#epochs.verifyUpTo(above, upTo)) {
      yield { ...point, trustedState: continued(point.trustedState, trustedState) }
    }
  }

  /** The epoch changes that were checked since the last call, in order, for a store to keep. */
  takeEndings(): readonly PackedEpochChange[] {
    return this.#epochs?.takeEndings() ?? []
  }

  /**
   * Checks all epoch changes in the backup.
   * @returns the trusted state of the newest epoch with known validators; undefined if no waypoint is trusted
   * @throws `untrusted`
   */
  async verifyAll(): Promise<TrustedState | undefined> {
    const waypoints = trustedWaypoints(this.#options, undefined, undefined)
    if (waypoints.length === 0) {
      await this.#notice()
      return undefined
    }
    this.#epochs = await VerifiedEpochs.open(this.#storage, this.#hasher, waypoints)
    return await this.#epochs.verifyAll()
  }

  async #notice(): Promise<void> {
    if (this.#isNoticed || this.#options.unsigned) return
    this.#isNoticed = true
    const first = await VerifiedEpochs.firstWaypoint(this.#storage, this.#hasher)
    this.#options.onNotice?.(notVerifiedNotice(this.#storage.root, first))
  }

  async close(): Promise<void> {
    await this.#epochs?.close()
  }
}

/** A trusted state that continues the store's names the waypoint from which the store's began. */
function continued(trustedState: TrustedState, held: TrustedState | undefined): TrustedState {
  return held && trustedState.waypoint === held.ending ? { ...trustedState, waypoint: held.waypoint } : trustedState
}

/**
 * The waypoints that are trusted for a source; empty if there are none.
 * @param held the trusted state of the store
 * @param chainId chain id of the source, if it is known
 */
function trustedWaypoints(
  { unsigned, waypoints = [], network, hashSalt = DEFAULT_HASH_SALT }: SourceOptions,
  held: TrustedState | undefined,
  chainId: number | undefined,
): readonly string[] {
  if (unsigned) return []
  if (held) return [...waypoints, held.ending]
  if (waypoints.length > 0) return waypoints
  if (network) return network.waypoints
  if (chainId === undefined) return []
  return findKnownNetwork(chainId, hashSalt)?.waypoints ?? []
}
