import { readTooLarge } from '../errors.js'

/** Memory that an entry takes in addition to its bytes. */
const ENTRY_SIZE = 128
/** What a value is taken for until it is there: more than any that a chain of today takes. */
const EXPECTED_VALUE = 1 << 20
/** What a page is taken for: engines end one with the item that passes this. */
const EXPECTED_PAGE = 4 << 20
/** So much may be asked for at once however small the budget is: a balance is in several values. */
const LEAST_AT_ONCE = 16 << 20

/**
 * Bounds what one read loads: all in all, and at any moment. Only as much is asked for at once as would fit if every value
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

  /** Values that may be asked for at once. */
  get valuesAtOnce(): number {
    return Math.floor(this.#mostAtOnce / EXPECTED_VALUE)
  }

  /** Asks for values as soon as those before leave room. @throws `read_too_large` if they have used up the budget */
  values<T>(count: number, ask: () => Promise<T>): Promise<T> {
    return this.#ask(count * EXPECTED_VALUE, ask)
  }

  /** Same as `values`, for a page. */
  page<T>(ask: () => Promise<T>): Promise<T> {
    return this.#ask(EXPECTED_PAGE, ask)
  }

  async #ask<T>(expected: number, ask: () => Promise<T>): Promise<T> {
    // What is asked for in one tick goes in one round, so this waits only where it must.
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

  /** @throws `read_too_large` */
  spend(bytes: number): void {
    this.#bytes += bytes + ENTRY_SIZE
    this.#expectRoom()
  }

  #expectRoom(): void {
    if (this.#bytes > this.#mostBytes) throw readTooLarge(this.#mostBytes)
  }
}
