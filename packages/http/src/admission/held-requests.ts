import type { LedgerInfo } from '@ledger-state/engine'
import { clientLeft, type RequestError, versionNotReached } from '../errors.js'

// A client that reads from several nodes names the newest version that it has seen. A node that lacks this version holds
// the request until the version is served, so that the ledger never goes back for this client.

const CHECK_MS = 10

export interface HoldLimits {
  /** How long a request is held for a version before it is answered 503, in milliseconds. */
  readonly maxHoldMs: number
  /** Requests that are held for a version at one time; more are answered 503. */
  readonly maxHeld: number
}

/** What becomes of a held request: one of the two functions is called, once. */
export interface Holdable {
  /** Whether the client has left. */
  readonly isGone: () => boolean
  /** The version is served. */
  readonly proceed: () => void
  /** The client left, the version took too long, or too many requests are held. */
  readonly refuse: (error: RequestError) => void
}

interface HeldRequest {
  readonly request: Holdable
  readonly version: bigint
  /** Time in milliseconds of `performance.now`. */
  readonly until: number
}

/** Holds requests that name a version which is not served yet. */
export class HeldRequests {
  readonly #limits: HoldLimits
  readonly #ledger: { readonly info: LedgerInfo | undefined }
  #held: HeldRequest[] = []
  #timer: NodeJS.Timeout | undefined

  constructor(limits: HoldLimits, ledger: { readonly info: LedgerInfo | undefined }) {
    this.#limits = limits
    this.#ledger = ledger
  }

  /** Whether the version can be read. Also true where the ledger cannot be read: the answer to the request says why. */
  isServed(version: bigint): boolean {
    try {
      const latest = this.#ledger.info?.latestVersion
      return latest !== undefined && latest >= version
    } catch {
      return true
    }
  }

  /** Lets the request proceed when the version is served, or refuses it when that takes too long. */
  hold(version: bigint, request: Holdable): void {
    const { maxHoldMs, maxHeld } = this.#limits
    if (this.#held.length >= maxHeld) {
      this.#refuse(request, version)
      return
    }
    this.#held.push({ request, version, until: performance.now() + maxHoldMs })
    this.#timer ??= setInterval(() => this.#check(), CHECK_MS)
  }

  #check(): void {
    const now = performance.now()
    const waiting = this.#held
    this.#held = []
    for (const held of waiting) {
      const { request, version, until } = held
      if (request.isGone()) request.refuse(clientLeft())
      else if (this.isServed(version)) request.proceed()
      else if (now < until) this.#held.push(held)
      else this.#refuse(request, version)
    }
    if (this.#held.length > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #refuse(request: Holdable, version: bigint): void {
    request.refuse(versionNotReached(version, this.#ledger.info?.latestVersion))
  }
}
