import { DEFAULT_HASH_SALT, type LedgerHasher, type SignedLedgerInfo, versionOfWaypoint } from '@ledger-state/proof'
import { withoutVouching } from '../errors.js'
import type { BackupStorage } from '../files/backup-storage.js'
import { findKnownNetwork } from '../networks/network.js'
import type { PackedEnding } from '../signatures/packed-ending.js'
import type { SignedRangeReading, SourceOptions } from './source.js'
import { TrustedEpochs } from './trusted-epochs.js'
import type { SignedPoint, Vouching } from './vouching.js'

/** Finds out what vouches for the ledger infos of a backup. */
export class Voucher {
  readonly #storage: BackupStorage
  readonly #hasher: LedgerHasher
  readonly #options: SourceOptions
  #epochs: TrustedEpochs | undefined
  #isNoticed = false

  /** @param storage of the backup, which has the ends of epochs */
  constructor(storage: BackupStorage, hasher: LedgerHasher, options: SourceOptions) {
    this.#storage = storage
    this.#hasher = hasher
    this.#options = options
  }

  /** Whether waypoints are trusted that were given for the source, whatever its chain id is. */
  get isTold(): boolean {
    return trustedWaypoints(this.#options, undefined, undefined).length > 0
  }

  /** Version of the earliest waypoint that is trusted; undefined where none is. */
  earliestWaypoint(held: Vouching | undefined, chainId: number | undefined): bigint | undefined {
    const versions = trustedWaypoints(this.#options, held, chainId).map(versionOfWaypoint)
    return versions.length === 0 ? undefined : versions.reduce((a, b) => (a < b ? a : b))
  }

  /**
   * Expects that a ledger info is signed where a waypoint is trusted. Where none is, one notice says so, once.
   * @param path the file of the ledger info
   * @param held what vouches for the store, where the source continues one
   * @throws `untrusted`
   */
  async vouch(
    path: string,
    info: SignedLedgerInfo,
    held: Vouching | undefined,
    chainId: number | undefined,
  ): Promise<Vouching | undefined> {
    const waypoints = trustedWaypoints(this.#options, held, chainId)
    if (waypoints.length === 0) {
      await this.#notice()
      return undefined
    }
    this.#epochs ??= await TrustedEpochs.open(this.#storage, this.#hasher, waypoints)
    return continued(await this.#epochs.expectSigned(path, info), held)
  }

  /**
   * The ends of epochs between two versions, each signed; none where no waypoint is trusted.
   * @throws `untrusted`
   */
  async *endingsWithin({ above, upTo, vouching, chainId }: SignedRangeReading): AsyncGenerator<SignedPoint> {
    const waypoints = trustedWaypoints(this.#options, vouching, chainId)
    if (waypoints.length === 0) return
    this.#epochs ??= await TrustedEpochs.open(this.#storage, this.#hasher, waypoints)
    for await (const point of this.#epochs.believeUpTo(above, upTo)) {
      yield { ...point, vouching: continued(point.vouching, vouching) }
    }
  }

  /** The ends of epochs that were believed since the last call, in order, for a store to keep. */
  takeEndings(): readonly PackedEnding[] {
    return this.#epochs?.takeEndings() ?? []
  }

  /**
   * Believes all ends of epochs in the backup.
   * @returns what vouches for the newest epoch whose validators are known; undefined where no waypoint is trusted
   * @throws `untrusted`
   */
  async vouchForAll(): Promise<Vouching | undefined> {
    const waypoints = trustedWaypoints(this.#options, undefined, undefined)
    if (waypoints.length === 0) {
      await this.#notice()
      return undefined
    }
    this.#epochs = await TrustedEpochs.open(this.#storage, this.#hasher, waypoints)
    return await this.#epochs.believeAll()
  }

  async #notice(): Promise<void> {
    if (this.#isNoticed || this.#options.unsigned) return
    this.#isNoticed = true
    const first = await TrustedEpochs.firstWaypoint(this.#storage, this.#hasher)
    this.#options.onNotice?.(withoutVouching(this.#storage.root, first))
  }
}

/** A vouching that continues what the store held names the waypoint from which that began. */
function continued(vouching: Vouching, held: Vouching | undefined): Vouching {
  return held && vouching.waypoint === held.ending ? { ...vouching, waypoint: held.waypoint } : vouching
}

/**
 * The waypoints that are trusted for a source; none where nothing vouches for it.
 * @param held what vouches for what the store holds
 * @param chainId of the source, where it is known
 */
function trustedWaypoints(
  { unsigned, waypoints = [], network, hashSalt = DEFAULT_HASH_SALT }: SourceOptions,
  held: Vouching | undefined,
  chainId: number | undefined,
): readonly string[] {
  if (unsigned) return []
  if (held) return [...waypoints, held.ending]
  if (waypoints.length > 0) return waypoints
  if (network) return network.waypoints
  if (chainId === undefined) return []
  return findKnownNetwork(chainId, hashSalt)?.waypoints ?? []
}
