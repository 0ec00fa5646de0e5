import { isSameLedger, type LedgerSummary } from '@ledger-state/engine'
import type { ServedLedger } from '../admission/held-requests.js'

/** Interval of looks at the ledger while streams wait. */
const LOOK_MS = 25

interface Waiting {
  readonly known: LedgerSummary
  /** Time at which the wait ends in any case, in milliseconds of `performance.now`. */
  readonly until: number
  readonly isOver: () => boolean
  readonly resolve: () => void
}

/** Lets streams wait for changes of the ledger. */
export class LedgerTicks {
  readonly #ledger: ServedLedger
  #waiting: Waiting[] = []
  #timer: NodeJS.Timeout | undefined

  constructor(ledger: ServedLedger) {
    this.#ledger = ledger
  }

  /** Resolves when the ledger differs from a known one, after a time, or when `isOver` returns true. */
  change(known: LedgerSummary, milliseconds: number, isOver: () => boolean): Promise<void> {
    this.#timer ??= setInterval(() => this.#look(), LOOK_MS)
    return new Promise((resolve) => {
      this.#waiting.push({ known, until: performance.now() + milliseconds, isOver, resolve })
    })
  }

  #look(): void {
    const now = performance.now()
    const ledger = this.#read()
    const waiting = this.#waiting
    this.#waiting = []
    for (const one of waiting) {
      if ((ledger && !isSameLedger(ledger, one.known)) || now >= one.until || one.isOver()) one.resolve()
      else this.#waiting.push(one)
    }
    if (this.#waiting.length > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #read(): LedgerSummary | undefined {
    try {
      return this.#ledger.info
    } catch {
      // A stream that reads the ledger finds the reason.
      return undefined
    }
  }
}
