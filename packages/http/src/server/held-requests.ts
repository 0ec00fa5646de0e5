// A client that reads from several nodes names the newest version that it was shown. A node that is behind holds the
// request until it has that version, so that the ledger never goes back for this client.

const CHECK_MS = 10
const VERSION = /^\d{1,20}$/

export interface HoldLimits {
  /** How long a request is held for a version before it is answered 503, in milliseconds. Default 5 s. */
  readonly maxHoldMs: number
  /** Requests that are held for a version at one time; more are answered 503. Default 1,000. */
  readonly maxHeld: number
}

interface HeldRequest<Request> {
  readonly request: Request
  readonly version: bigint
  /** In milliseconds of `performance.now`. */
  readonly until: number
  readonly proceed: () => void
}

/** What becomes of requests besides that they proceed. */
export interface HeldRequestEnds<Request> {
  readonly isGone: (request: Request) => boolean
  /** The client left while the request was held. */
  readonly drop: (request: Request) => void
  readonly refuse: (request: Request, version: bigint) => void
}

/** The version that the header names; undefined where it names none. */
export function parseMinVersion(header: string | string[] | undefined): bigint | undefined {
  return typeof header === 'string' && VERSION.test(header) ? BigInt(header) : undefined
}

/** Requests that name a version which is not served yet. */
export class HeldRequests<Request> {
  readonly #limits: HoldLimits
  readonly #isServed: (version: bigint) => boolean
  readonly #ends: HeldRequestEnds<Request>
  #held: HeldRequest<Request>[] = []
  #timer: NodeJS.Timeout | undefined

  constructor(limits: HoldLimits, isServed: (version: bigint) => boolean, ends: HeldRequestEnds<Request>) {
    this.#limits = limits
    this.#isServed = isServed
    this.#ends = ends
  }

  /** Calls `proceed` when the version is served. A request for which that takes too long is refused. */
  hold(request: Request, version: bigint, proceed: () => void): void {
    const { maxHoldMs, maxHeld } = this.#limits
    if (this.#held.length >= maxHeld) {
      this.#ends.refuse(request, version)
      return
    }
    this.#held.push({ request, version, until: performance.now() + maxHoldMs, proceed })
    this.#timer ??= setInterval(() => this.#check(), CHECK_MS)
  }

  #check(): void {
    const now = performance.now()
    const waiting = this.#held
    this.#held = []
    for (const held of waiting) {
      const { request, version, until, proceed } = held
      if (this.#ends.isGone(request)) this.#ends.drop(request)
      else if (this.#isServed(version)) proceed()
      else if (now < until) this.#held.push(held)
      else this.#ends.refuse(request, version)
    }
    if (this.#held.length > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}
