import type { ServerResponse } from 'node:http'
import type { LedgerSummary } from '@ledger-state/engine'
import { clientLeft, type RequestError, versionNotReached } from '../errors.js'

// Interval of looks for a version. A client that reads from several nodes names the newest version that it has seen; a
// node that lacks this version holds the request until it is served, so that the ledger never goes back for the client.

const CHECK_MS = 10

export interface HoldLimits {
  /** Time for which a request is held for a version before it is answered 503, in milliseconds. */
  readonly maxHoldMs: number
  /** Most requests that are held for a version at one time; further ones are answered 503. */
  readonly maxHeld: number
}

interface HeldRequest<T> {
  readonly owner: T
  readonly version: bigint
  readonly proceed: () => void
  readonly onLate: (() => void) | undefined
  /** End of the wait, in milliseconds of `performance.now`. */
  readonly until: number
}

/** The ledger that requests wait for: they wait until it has their version. */
export interface ServedLedger {
  readonly info: LedgerSummary | undefined
}

/** Holds requests that name a version which is not served yet. */
export class HeldRequests<T extends { readonly response: ServerResponse }> {
  readonly #limits: HoldLimits
  readonly #ledger: ServedLedger
  readonly #refuse: (owner: T, error: RequestError) => void
  #held: HeldRequest<T>[] = []
  #timer: NodeJS.Timeout | undefined

  /**
   * @param refuse answers a request if its client left, if its version took too long, or if there is no place for it
   */
  constructor(limits: HoldLimits, ledger: ServedLedger, refuse: (owner: T, error: RequestError) => void) {
    this.#limits = limits
    this.#ledger = ledger
    this.#refuse = refuse
  }

  /**
   * Whether the version can be read. Also true if the ledger cannot be read: the request's answer then gives the
   * reason.
   */
  isServed(version: bigint): boolean {
    try {
      const latest = this.#ledger.info?.latestVersion
      return latest !== undefined && latest >= version
    } catch {
      return true
    }
  }

  /**
   * Lets the request proceed once the version is served, or refuses it if that takes too long.
   * @param onLate called if it takes too long
   */
  hold(owner: T, version: bigint, proceed: () => void, onLate?: () => void): void {
    const { maxHoldMs, maxHeld } = this.#limits
    if (this.#held.length >= maxHeld) {
      this.#refuseFor(version, owner)
      return
    }
    this.#held.push({ owner, version, proceed, onLate, until: performance.now() + maxHoldMs })
    this.#timer ??= setInterval(() => this.#check(), CHECK_MS)
  }

  #check(): void {
    const now = performance.now()
    const waiting = this.#held
    this.#held = []
    for (const held of waiting) {
      const { owner, version, proceed, until, onLate } = held
      if (owner.response.destroyed) this.#refuse(owner, clientLeft())
      else if (this.isServed(version)) proceed()
      else if (now < until) this.#held.push(held)
      else {
        onLate?.()
        this.#refuseFor(version, owner)
      }
    }
    if (this.#held.length > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #refuseFor(version: bigint, owner: T): void {
    this.#refuse(owner, versionNotReached(version, this.#ledger.info?.latestVersion))
  }
}
