import { parseU64 } from '@ledger-state/core'
import { clientLeft, versionNotReached } from '../errors.js'
import { parsePart } from '../operations/request-parts.js'
import { refuse, sendError } from './answer-writer.js'
import type { Exchange, ServiceContext } from './exchange.js'
import type { HoldLimits } from './request-listener-options.js'

// A client that reads from several nodes names the newest version that it was shown. A node that is behind holds the
// request until it has that version, so that the ledger never goes back for this client.

const CHECK_MS = 10

interface HeldRequest {
  readonly exchange: Exchange
  readonly version: bigint
  /** Time in milliseconds of `performance.now`. */
  readonly until: number
  readonly proceed: () => void
}

/** The version that a header names; undefined where the request has none. @throws `invalid_request` where it names none */
export function parseMinVersion(name: string, header: string | string[] | undefined): bigint | undefined {
  return header === undefined ? undefined : parsePart(`header \`${name}\``, () => parseU64(String(header)))
}

/** Requests that name a version which is not served yet. */
export class HeldRequests {
  readonly #limits: HoldLimits
  readonly #ledger: ServiceContext['ledger']
  #held: HeldRequest[] = []
  #timer: NodeJS.Timeout | undefined

  constructor(limits: HoldLimits, ledger: ServiceContext['ledger']) {
    this.#limits = limits
    this.#ledger = ledger
  }

  /** Also where the ledger cannot be read: the answer to the request says why. */
  isServed(version: bigint): boolean {
    try {
      const latest = this.#ledger.info?.latestVersion
      return latest !== undefined && latest >= version
    } catch {
      return true
    }
  }

  /** Calls `proceed` when the version is served. A request for which that takes too long is refused. */
  hold(exchange: Exchange, version: bigint, proceed: () => void): void {
    const { maxHoldMs, maxHeld } = this.#limits
    if (this.#held.length >= maxHeld) {
      this.#refuse(exchange, version)
      return
    }
    this.#held.push({ exchange, version, until: performance.now() + maxHoldMs, proceed })
    this.#timer ??= setInterval(() => this.#check(), CHECK_MS)
  }

  #check(): void {
    const now = performance.now()
    const waiting = this.#held
    this.#held = []
    for (const held of waiting) {
      const { exchange, version, until, proceed } = held
      if (exchange.response.destroyed) sendError(exchange, clientLeft())
      else if (this.isServed(version)) proceed()
      else if (now < until) this.#held.push(held)
      else this.#refuse(exchange, version)
    }
    if (this.#held.length > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #refuse(exchange: Exchange, version: bigint): void {
    refuse(exchange, versionNotReached(version, this.#ledger.info?.latestVersion))
  }
}
