import { SizedCache } from '@ledger-state/core'
import { decodeUtf8 } from '@ledger-state/core/bytes'
import { type CacheUse, cacheUse } from './cache-use.js'

/** Most UTF-16 units of a text that is kept. */
const LONGEST_KEPT_TEXT = 4_096
/** Copies of a text: the text itself and, for a type, its canonical text, in which a space follows each comma. */
const COPIES_OF_TEXT = 3

/**
 * Remembers parsed texts. While a text is kept, it always gives the same object, so that the caches of types and assets
 * can find the object by identity.
 */
export class ParsedTexts<T extends {}> {
  readonly #parse: (text: string) => T
  readonly #heapSize: (parsed: T) => number
  readonly #parsed: SizedCache<T>

  /**
   * @param capacity and the sizes are bytes of heap
   * @param heapSize counts all that is reachable from a parsed text
   */
  constructor(capacity: number, parse: (text: string) => T, heapSize: (parsed: T) => number) {
    this.#parse = parse
    this.#heapSize = heapSize
    this.#parsed = new SizedCache(capacity)
  }

  /** Estimated bytes of heap. */
  get size(): number {
    return this.#parsed.size
  }

  get use(): CacheUse {
    return cacheUse(this.#parsed)
  }

  parse(text: string): T {
    if (text.length > LONGEST_KEPT_TEXT) return this.#parse(text)
    const known = this.#parsed.get(text)
    if (known) return known
    const copy = copyOfText(text)
    const parsed = this.#parse(copy)
    this.#parsed.set(copy, parsed, COPIES_OF_TEXT * copy.length + this.#heapSize(parsed))
    return parsed
  }
}

const ENCODER = new TextEncoder()

/** A copy of a text. For a slice of a request's body, V8 would keep the whole body. */
function copyOfText(text: string): string {
  return decodeUtf8(ENCODER.encode(text))!
}
