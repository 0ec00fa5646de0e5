import type { ServerResponse } from 'node:http'
import type { LedgerSummary } from '@ledger-state/engine'
import { clientLeft, type RequestError, versionNotReached } from '../errors.js'
import { type LedgerTest, type NearPlace, servesVersion } from './near-place.js'
import { Refusal } from './refusal.js'

// Interval of looks for a version. A client that reads from several nodes names the newest version that it has seen; a
// node that lacks this version holds the request until it is served, so that the ledger never goes back for the client.

const CHECK_MS = 10
/** Most versions, blocks or seconds by which one process may be behind another in some milliseconds. */
const MOST_BEHIND = 10_000n

export interface HoldLimits {
  /** Time for which a request is held for a version before it is answered 503, in milliseconds. */
  readonly maxHoldMs: number
  /** Most requests that are held for a version at one time; further ones are answered 503. */
  readonly maxHeld: number
}

interface HeldRequest {
  readonly response: ServerResponse
  readonly isIn: LedgerTest
  /** End of the wait, in milliseconds of `performance.now`. */
  readonly until: number
  readonly resolve: (isReached: boolean) => void
  readonly reject: (error: RequestError) => void
}

/** The ledger that requests wait for: they wait until it has their version. */
export interface ServedLedger {
  readonly info: LedgerSummary | undefined
}

/** Holds requests that name a version which is not served yet. */
export class HeldRequests {
  readonly #limits: HoldLimits
  readonly #ledger: ServedLedger
  readonly #refresh: (() => void) | undefined
  #held: HeldRequest[] = []
  #timer: NodeJS.Timeout | undefined

  /** @param refresh makes the ledger show what any process has shown; by default it shows that some time later */
  constructor(limits: HoldLimits, ledger: ServedLedger, refresh?: () => void) {
    this.#limits = limits
    this.#ledger = ledger
    this.#refresh = refresh
  }

  /**
   * Whether the version can be read. Also true if the ledger cannot be read: the request's answer then gives the
   * reason.
   */
  isServed(version: bigint): boolean {
    return this.isReached(servesVersion(version))
  }

  /** Whether the ledger has something. Also true if it cannot be read, as for `isServed`. */
  isReached(isIn: LedgerTest): boolean {
    try {
      return isIn(this.#ledger.info)
    } catch {
      return true
    }
  }

  /**
   * Holds a request until the version is served.
   * @throws `client_left`, `Refusal` if that takes too long, or if too many requests are held
   */
  async untilServed(response: ServerResponse, version: bigint): Promise<void> {
    if (!(await this.isServedInTime(response, version))) throw this.refusalFor(version)
  }

  /**
   * Holds a request until the version is served. Resolves with whether that came in time.
   * @throws `client_left`, `Refusal` if too many requests are held
   */
  async isServedInTime(response: ServerResponse, version: bigint): Promise<boolean> {
    return await this.isReachedInTime(response, version, servesVersion(version), this.#limits.maxHoldMs)
  }

  /**
   * Holds a request until the ledger has what its client has seen, for at most some milliseconds. Resolves with whether
   * that came in time.
   * @param version is named in the refusal
   * @throws `client_left`, `Refusal` if too many requests are held
   */
  async isReachedInTime(response: ServerResponse, version: bigint, isIn: LedgerTest, mostMs: number): Promise<boolean> {
    if (this.#isFull) throw this.refusalFor(version)
    return await this.#hold(response, isIn, mostMs)
  }

  /**
   * Holds a request until the ledger has a place a little above the latest, for at most some milliseconds. Returns
   * undefined if there is nothing to wait for, because the ledger has the place, or was refreshed and still does not have it;
   * if the place is too far above, or too many requests are held.
   * @throws `client_left`
   */
  untilNear(response: ServerResponse, place: NearPlace, mostMs: number): Promise<void> | undefined {
    if (this.isReached(place.isIn)) return undefined
    const isNear = this.isReached((ledger) => ledger !== undefined && place.distanceFrom(ledger) <= MOST_BEHIND)
    if (!isNear) return undefined
    if (this.#refresh) {
      this.#refresh()
      return undefined
    }
    return this.#isFull ? undefined : this.#hold(response, place.isIn, mostMs).then(() => {})
  }

  get #isFull(): boolean {
    return this.#held.length >= this.#limits.maxHeld
  }

  #hold(response: ServerResponse, isIn: LedgerTest, mostMs: number): Promise<boolean> {
    this.#timer ??= setInterval(() => this.#check(), CHECK_MS)
    const until = performance.now() + Math.min(mostMs, this.#limits.maxHoldMs)
    return new Promise((resolve, reject) => {
      this.#held.push({ response, isIn, until, resolve, reject })
    })
  }

  #check(): void {
    const now = performance.now()
    const waiting = this.#held
    this.#held = []
    for (const held of waiting) {
      const { response, isIn, until, resolve, reject } = held
      if (response.destroyed) reject(clientLeft())
      else if (this.isReached(isIn)) resolve(true)
      else if (now >= until) resolve(false)
      else this.#held.push(held)
    }
    if (this.#held.length > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  /** Reason to refuse a request whose version did not come in time. */
  refusalFor(version: bigint): Refusal {
    return new Refusal(versionNotReached(version, this.#ledger.info?.latestVersion))
  }
}
