import type { RestItem } from './rest-page.js'

/**
 * Versions of the first page. Nodes give at most 100 a page unless their operators allow more; the queue asks for more
 * and accepts any number.
 */
const FIRST_PAGE_VERSIONS = 100
const MAX_PAGE_VERSIONS = 1_000
const MIN_PAGE_VERSIONS = 2
const MAX_PAGES_AHEAD = 32
/**
 * Pages in a row that were ready when taken, and with all pages ahead of them, before the queue requests one page less.
 * A commit takes many at once.
 */
const READY_PAGES = 64
/** Most bytes of answers that wait to be taken, in addition to the page that is due. */
const MAX_BYTES_AHEAD = 32 * 1024 * 1024
/** Time that decides the length of pages: a page that takes less may grow, a page that takes more shrinks. */
const QUICK_PAGE_MS = 1_000
const SLOW_PAGE_MS = 5_000

export interface PageRequest {
  readonly start: bigint
  /** Most versions to ask for. */
  readonly limit: number
  readonly signal: AbortSignal
  /**
   * Called when the answer has come, before it is proven, with its bytes, the time that it took, and the newest version
   * that the node had, if it told that.
   */
  onAnswer(bytes: number, milliseconds: number, latest: bigint | undefined): void
  /** Called with the number of bytes of each piece of the answer. */
  onBytes(bytes: number): void
  /** Called when the request has failed and is about to be repeated. Returns the limit to ask for then. */
  onFailure(): number
}

/** Requests a page. Resolves without items if the node has nothing there yet, or the signal is aborted. */
export type RequestPage = (request: PageRequest) => Promise<readonly RestItem[]>

const NO_ITEMS: Promise<readonly RestItem[]> = Promise.resolve([])

interface PageAhead {
  readonly start: bigint
  limit: number
  readonly cancel: AbortController
  items: Promise<readonly RestItem[]>
  /** Size and time of the answer, and the newest version of its node, once it has come, proven or not. */
  answer: { readonly bytes: number; readonly milliseconds: number; readonly latest: bigint | undefined } | undefined
  /** Bytes of the answer that have come. */
  received: number
  /** Whether its items can be taken. */
  isReady: boolean
}

/**
 * Pages of a node in order, several of them requested at once. Each page begins with the last version of the page
 * before, so that the two can be compared. The queue requests so far ahead that the caller need not wait, within a
 * bound of bytes, and makes pages longer as long as the node answers quickly.
 */
export class PageQueue {
  readonly #request: RequestPage
  readonly #signal: AbortSignal
  #pages: PageAhead[] = []
  /** Pages that are requested and not yet taken; one until the first has come. */
  #depth = 1
  #readyInRow = 0
  #limit = FIRST_PAGE_VERSIONS
  /** The longest page that the node gave when it had more. */
  #mostGiven = MAX_PAGE_VERSIONS
  /** Estimated bytes of an answer, from the last ones. */
  #pageBytes = 1

  /** @param signal ends all requests */
  constructor(request: RequestPage, signal: AbortSignal) {
    this.#request = request
    this.#signal = signal
  }

  /**
   * Takes the page that begins at a version.
   * @param last the last wanted version that the node is known to have: nothing is requested beyond it
   */
  async take(start: bigint, last: bigint): Promise<readonly RestItem[]> {
    if (this.#pages[0]?.start !== start) this.cancel()
    if (this.#pages.length === 0) this.#push(start)
    this.#fill(last)
    const page = this.#pages[0]!
    const isLate = !page.isReady && !this.#isProverBusy
    this.#readyInRow = this.#pages.every(({ isReady }) => isReady) ? this.#readyInRow + 1 : 0
    const items = await page.items
    if (this.#pages[0] === page) this.#pages.shift()
    this.#adapt(page, items, isLate, last)
    const end = items.at(-1)?.version
    if (end !== undefined && end < last && this.#pages.length === 0) this.#push(end)
    if (end !== undefined && this.#pages[0]?.start === end) this.#fill(last)
    return items
  }

  /** Gives up all requests ahead. */
  cancel(): void {
    this.#cancelFrom(0)
  }

  #cancelFrom(place: number): void {
    for (const { cancel } of this.#pages.splice(place)) cancel.abort()
  }

  /** Gives up the last requests if more bytes come than pages had before. One page ahead is always requested. */
  #boundBytes(): void {
    let bytes = this.#pages.reduce((sum, { received }, place) => sum + (place > 0 ? received : 0), 0)
    for (let place = this.#pages.length - 1; place > 1 && bytes > MAX_BYTES_AHEAD; place--) {
      bytes -= this.#pages[place]!.received
      this.#cancelFrom(place)
      this.#depth = place
    }
  }

  /** Whether answers wait for their proofs, so that more requests would bring nothing sooner. */
  get #isProverBusy(): boolean {
    return this.#pages.filter(({ answer, isReady }) => answer && !isReady).length > 1
  }

  #push(start: bigint): void {
    const cancel = new AbortController()
    const limit = this.#limit
    const signal = AbortSignal.any([this.#signal, cancel.signal])
    const page: PageAhead = { start, limit, cancel, items: NO_ITEMS, answer: undefined, received: 0, isReady: false }
    this.#pages.push(page)
    page.items = this.#request({
      start,
      limit,
      signal,
      onAnswer: (bytes, milliseconds, latest) => {
        page.answer = { bytes, milliseconds, latest }
      },
      onBytes: (bytes) => {
        page.received += bytes
        this.#boundBytes()
      },
      onFailure: () => this.#slowDown(page),
    })
    // Errors of the page are thrown when the page is taken.
    page.items.then(
      () => {
        page.isReady = true
      },
      () => {},
    )
  }

  /** Asks a node that fails for one page at a time, and for half the versions: the answer may have been too long. */
  #slowDown(page: PageAhead): number {
    const place = this.#pages.indexOf(page)
    if (place >= 0) this.#cancelFrom(place + 1)
    this.#depth = 1
    page.received = 0
    page.limit = Math.max(MIN_PAGE_VERSIONS, page.limit >> 1)
    this.#limit = page.limit
    return page.limit
  }

  #fill(last: bigint): void {
    const depth = Math.min(this.#depth, Math.max(2, Math.floor(MAX_BYTES_AHEAD / this.#pageBytes)))
    while (this.#pages.length < depth) {
      const { start, limit } = this.#pages.at(-1)!
      const next = start + BigInt(limit - 1)
      if (next >= last) return
      this.#push(next)
    }
  }

  #adapt({ limit, answer }: PageAhead, items: readonly RestItem[], isLate: boolean, last: bigint): void {
    if (!answer) return
    // Behind one address, a node may have less than the one that told the last version.
    const { bytes, milliseconds, latest = last } = answer
    this.#pageBytes = Math.max(bytes, this.#pageBytes / 2)
    // A page may be slow because pages before it share a narrow line.
    if (milliseconds > SLOW_PAGE_MS) this.#depth = Math.max(1, this.#depth >> 1)
    else if (isLate) this.#depth = Math.min(MAX_PAGES_AHEAD, this.#depth + Math.ceil(this.#depth / 2))
    else if (this.#readyInRow >= READY_PAGES) {
      this.#depth = Math.max(2, this.#depth - 1)
      this.#readyInRow = 0
    }
    const isCutShort = items.length < limit && (items.at(-1)?.version ?? latest) < latest
    if (isCutShort) this.#mostGiven = Math.max(2, items.length)
    if (milliseconds > SLOW_PAGE_MS) this.#limit = Math.max(MIN_PAGE_VERSIONS, limit >> 1)
    else if (milliseconds < QUICK_PAGE_MS) this.#limit *= 2
    this.#limit = Math.min(this.#limit, this.#mostGiven)
  }
}
