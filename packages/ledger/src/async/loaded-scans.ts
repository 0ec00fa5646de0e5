import { type KeyedEntry, partitionPoint } from '@ledger-state/core'
import { bytesToHexDigits, compareBytes, copyBytes, keyAfter } from '@ledger-state/core/bytes'
import type { AsyncStateView } from '@ledger-state/engine'
import type { Lacks } from './lacks.js'
import type { LoadBudget } from './load-budget.js'

/** Entries of the first page of a prefix; each further page has twice as many as the previous one. */
const FIRST_PAGE = 64
const LARGEST_PAGE = 65_536
/** Most pages that one round loads; the next round loads the others. */
const PAGES_A_ROUND = 64

/** Entries with keys from `from` to before `end`, without a gap. Undefined `end`: to the end of the prefix. */
interface LoadedRange {
  readonly from: Uint8Array
  readonly end: Uint8Array | undefined
  readonly entries: readonly KeyedEntry[]
}

interface LackedPage {
  readonly prefix: Uint8Array
  readonly from: Uint8Array
  readonly limit: number
}

/** Loaded parts of the scans of one version, by their prefixes. */
export class LoadedScans {
  readonly #lacks: Lacks
  readonly #ranges = new Map<string, LoadedRange[]>()
  readonly #lacked = new Map<string, LackedPage>()

  constructor(lacks: Lacks) {
    this.#lacks = lacks
  }

  get isLacking(): boolean {
    return this.#lacked.size > 0
  }

  /** Scans the loaded part. Stops at its end, and notes the missing rest. */
  *scan(prefix: Uint8Array, start: Uint8Array, limit: number): Generator<KeyedEntry> {
    const ranges = this.#rangesOf(bytesToHexDigits(prefix))
    let from = compareBytes(start, prefix) < 0 ? prefix : start
    let left = limit
    while (left > 0) {
      const at = from
      const range = ranges.find((one) => isWithin(at, one))
      if (!range) {
        this.#lack(prefix, from, left)
        return
      }
      for (let index = indexAtOrAfter(range.entries, from); index < range.entries.length && left > 0; index++) {
        left--
        yield range.entries[index]!
      }
      if (range.end === undefined) return
      from = range.end
    }
  }

  /** Loads the missing data. */
  load(view: AsyncStateView, budget: LoadBudget): Promise<void>[] {
    const pages = [...this.#lacked.values()].slice(0, PAGES_A_ROUND)
    this.#lacked.clear()
    return pages.map((page) => this.#loadPage(view, page, budget))
  }

  async #loadPage(view: AsyncStateView, { prefix, from, limit }: LackedPage, budget: LoadBudget): Promise<void> {
    const { entries, next } = await budget.page(async () => {
      const page = await view.scan(prefix, { start: from, limit })
      for (const { key, value } of page.entries) budget.spend(key.length + value.length)
      return page
    })
    const end = next ?? (entries.length < limit ? undefined : keyAfter(entries.at(-1)!.key))
    this.#rangesOf(bytesToHexDigits(prefix)).push({ from, end, entries })
  }

  #lack(prefix: Uint8Array, from: Uint8Array, wanted: number): void {
    this.#lacks.count++
    const text = bytesToHexDigits(prefix)
    const grown = Math.min(FIRST_PAGE * 2 ** this.#rangesOf(text).length, LARGEST_PAGE)
    const limit = wanted === Number.POSITIVE_INFINITY ? grown : Math.min(Math.max(wanted, grown), LARGEST_PAGE)
    this.#lacked.set(`${prefix.length}:${text}${bytesToHexDigits(from)}`, {
      prefix: copyBytes(prefix),
      from: copyBytes(from),
      limit,
    })
  }

  #rangesOf(prefix: string): LoadedRange[] {
    const known = this.#ranges.get(prefix)
    if (known) return known
    const ranges: LoadedRange[] = []
    this.#ranges.set(prefix, ranges)
    return ranges
  }
}

function isWithin(key: Uint8Array, { from, end }: LoadedRange): boolean {
  return compareBytes(from, key) <= 0 && (end === undefined || compareBytes(key, end) < 0)
}

function indexAtOrAfter(entries: readonly KeyedEntry[], key: Uint8Array): number {
  return partitionPoint(entries, (entry) => compareBytes(entry.key, key) < 0)
}
