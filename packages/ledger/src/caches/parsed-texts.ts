import { SizedCache } from '@ledger-state/core'
import { decodeUtf8 } from '@ledger-state/core/bytes'
import { type CacheUse, cacheUse } from './cache-use.js'

/** UTF-16 units of a text that is kept. */
const LONGEST_KEPT_TEXT = 4_096
/** The text itself and, of a type, its canonical text; commas get a space there. */
const COPIES_OF_TEXT = 3

/**
 * Remembers what texts parse to. The same text gives the same object as long as it is kept, which lets the caches of
 * types and assets find it by identity.
 */
export class ParsedTexts<T extends {}> {
  readonly #parse: (text: string) => T
  readonly #heapSize: (parsed: T) => number
  readonly #parsed: SizedCache<T>

  /** `capacity` and the sizes in bytes of heap; `heapSize` counts all that is reachable from a parsed text. */
  constructor(capacity: number, parse: (text: string) => T, heapSize: (parsed: T) => number) {
    this.#parse = parse
    this.#heapSize = heapSize
    this.#parsed = new SizedCache(capacity)
  }

  /** Bytes of heap, as estimated. */
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

/** A copy of a text: V8 keeps the whole body of a request for a slice of it. */
function copyOfText(text: string): string {
  return decodeUtf8(ENCODER.encode(text))!
}
