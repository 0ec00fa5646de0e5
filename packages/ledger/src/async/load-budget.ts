import { readTooLarge } from '../errors.js'

/** Memory that an entry takes in addition to its bytes. */
const ENTRY_SIZE = 128
/** Assumed size of a value until it has come; larger than any value on today's chains. */
const EXPECTED_VALUE = 1 << 20
/** Assumed size of a page until it has come; engines end a page with the item that exceeds this. */
const EXPECTED_PAGE = 4 << 20
/** Bytes that may always be asked for at once, however small the budget is: a balance is in several values. */
const LEAST_AT_ONCE = 16 << 20

/**
 * Bounds the bytes that one read loads, in all and at once. It asks for no more at once than would fit if every value
 * were large, so that a read of a thousand large values is refused after the first of them have come.
 */
export class LoadBudget {
  readonly #mostBytes: number
  readonly #mostAtOnce: number
  #bytes = 0
  #expected = 0
  readonly #waiting: (() => void)[] = []

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes
    this.#mostAtOnce = Math.max(mostBytes, LEAST_AT_ONCE)
  }

  /** Number of values that may be asked for at once. */
  get valuesAtOnce(): number {
    return Math.floor(this.#mostAtOnce / EXPECTED_VALUE)
  }

  /**
   * Asks for values as soon as earlier ones leave room.
   * @throws `read_too_large` if they have used up the budget
   */
  values<T>(count: number, ask: () => Promise<T>): Promise<T> {
    return this.#ask(count * EXPECTED_VALUE, ask)
  }

  /** Asks for a page, as `values` does for values. */
  page<T>(ask: () => Promise<T>): Promise<T> {
    return this.#ask(EXPECTED_PAGE, ask)
  }

  async #ask<T>(expected: number, ask: () => Promise<T>): Promise<T> {
    // Requests of one tick go out in one round, so this waits only if it must.
    while (this.#expected + expected > this.#mostAtOnce) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
    this.#expectRoom()
    this.#expected += expected
    try {
      return await ask()
    } finally {
      this.#expected -= expected
      for (const proceed of this.#waiting.splice(0)) proceed()
    }
  }

  /**
   * Charges loaded bytes.
   * @throws `read_too_large`
   */
  spend(bytes: number): void {
    this.#bytes += bytes + ENTRY_SIZE
    this.#expectRoom()
  }

  #expectRoom(): void {
    if (this.#bytes > this.#mostBytes) throw readTooLarge.tooManyBytes(this.#mostBytes)
  }
}
