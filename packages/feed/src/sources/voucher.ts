import { withoutVouching } from '../errors.js'
import { findKnownNetwork } from '../networks/known-networks.js'
import { DEFAULT_HASH_SALT, type LedgerHasher } from '../proof/ledger-hasher.js'
import type { SignedLedgerInfo } from '../wire/ledger-info.js'
import type { SourceOptions } from './source.js'
import { TrustedEpochs } from './trusted-epochs.js'
import type { Vouching } from './vouching.js'

/** Finds out what vouches for the ledger infos of a backup. */
export class Voucher {
  readonly #root: string
  readonly #hasher: LedgerHasher
  readonly #options: SourceOptions
  #epochs: TrustedEpochs | undefined
  #isNoticed = false

  /** @param root of the backup, which has the ends of epochs */
  constructor(root: string, hasher: LedgerHasher, options: SourceOptions) {
    this.#root = root
    this.#hasher = hasher
    this.#options = options
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
    this.#epochs ??= await TrustedEpochs.open(this.#root, this.#hasher, waypoints)
    const vouching = await this.#epochs.expectSigned(path, info)
    return held && vouching.waypoint === held.ending ? { ...vouching, waypoint: held.waypoint } : vouching
  }

  /**
   * Believes all ends of epochs in the backup.
   * @returns what vouches for the newest epoch whose validators are known; undefined where no waypoint is trusted
   * @throws `untrusted`
   */
  async vouchForAll(): Promise<Vouching | undefined> {
    const waypoints = trustedWaypoints(this.#options, undefined, undefined)
    if (waypoints.length > 0) return await (await TrustedEpochs.open(this.#root, this.#hasher, waypoints)).believeAll()
    await this.#notice()
    return undefined
  }

  async #notice(): Promise<void> {
    if (this.#isNoticed || this.#options.unsigned) return
    this.#isNoticed = true
    const first = await TrustedEpochs.firstWaypoint(this.#root, this.#hasher)
    this.#options.onNotice?.(withoutVouching(this.#root, first))
  }
}

/**
 * The waypoints that are trusted for a source; none where nothing vouches for it.
 * @param held what vouches for what the store holds
 * @param chainId of the source, where it is known
 */
function trustedWaypoints(
  { unsigned, waypoints = [], hashSalt = DEFAULT_HASH_SALT }: SourceOptions,
  held: Vouching | undefined,
  chainId: number | undefined,
): readonly string[] {
  if (unsigned) return []
  if (held) return [...waypoints, held.ending]
  if (waypoints.length > 0 || chainId === undefined) return waypoints
  return findKnownNetwork(chainId, hashSalt)?.waypoints ?? []
}
