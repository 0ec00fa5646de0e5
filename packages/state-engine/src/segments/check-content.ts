import { MAX_KEY_LENGTH, MAX_VALUE_LENGTH } from '@ledger-state/engine'
import { MAX_ANNOTATION_LENGTH } from '@ledger-state/engine/authoring'
import { CONTENT_HEAD_LENGTH, DELETION_OPERATION, endAt, entryCountOf, operationLength } from './block-layout.js'
import { MOST_BLOCK_ENTRIES, MOST_ENTRY_WRITES } from './format.js'

/** No varint of a content is longer: it holds less than 2^53. */
const MOST_VARINT_BYTES = 8
const BEYOND = -1
/** Length of the longest value with the longest annotation, and with the byte that gives the length of this. */
const MOST_STORED_BYTES = MAX_VALUE_LENGTH + MAX_ANNOTATION_LENGTH + 1

/**
 * Follows each length in the content of a block, and returns why one leads outside; undefined if none does. Look-ups and
 * merges trust a content with the right checksum, which a file of somebody else may have on purpose: this comes before them.
 */
export function faultOfContent(content: Uint8Array): string | undefined {
  return new ContentCheck(content).fault()
}

class ContentCheck {
  readonly #content: Uint8Array
  #at = 0
  #end = 0

  constructor(content: Uint8Array) {
    this.#content = content
  }

  fault(): string | undefined {
    const content = this.#content
    if (content.length < CONTENT_HEAD_LENGTH) return 'the content of a block has no head'
    const width = content[1]!
    const count = entryCountOf(content, 0)
    if (width !== 2 && width !== 4) return `ends of entries have ${width} bytes`
    if (count === 0 || count > MOST_BLOCK_ENTRIES) return `a block has ${count} entries`
    const ends = CONTENT_HEAD_LENGTH + count
    const entries = ends + width * count
    this.#at = entries
    for (let entry = 0; entry < count; entry++) {
      this.#end = entries + endAt(content, ends, width, entry)
      if (this.#end > content.length || this.#end <= this.#at) return 'an entry of a block ends outside'
      const fault = this.#faultOfEntry(entry === 0)
      if (fault !== undefined) return fault
      if (this.#at !== this.#end) return 'an entry of a block is longer than its parts'
    }
    return this.#at === content.length ? undefined : 'something follows the entries of a block'
  }

  #faultOfEntry(isFirst: boolean): string | undefined {
    const key = this.#varint()
    if (key === BEYOND || (key === 0 && isFirst) || key > MAX_KEY_LENGTH + 1) return 'a key of a block is too long'
    this.#at += Math.max(0, key - 1)
    if (this.#at >= this.#end) return 'a key of a block ends outside'
    const count = this.#content[this.#at++]!
    if (count === 0 || count > MOST_ENTRY_WRITES) return `an entry of a block has ${count} writes`
    for (let write = 0; write < count; write++)
      if (this.#varint() === BEYOND) return 'a version of a block ends outside'
    const operations: number[] = []
    for (let write = 0; write < count; write++) {
      const operation = this.#varint()
      if (operation === BEYOND) return 'a length of a block ends outside'
      operations.push(operation)
    }
    return this.#faultOfValues(operations)
  }

  #faultOfValues(operations: readonly number[]): string | undefined {
    // Length of the value before; undefined without one.
    let before: number | undefined
    for (const operation of operations) {
      const end = this.#at + operationLength(operation)
      if (end > this.#end) return 'a value of a block ends outside'
      if (operation === DELETION_OPERATION) before = undefined
      else if ((operation & 1) === 1) before = operationLength(operation)
      else if (before === undefined) return 'a patch of a block has no value before it'
      else if (!this.#isPatch(end, before)) return 'a patch of a block leads outside of its value'
      if (before !== undefined && before > MOST_STORED_BYTES) return 'a value of a block is too long'
      this.#at = end
    }
    return undefined
  }

  /** Whether the bytes up to `end` are the patch of a value of this length. */
  #isPatch(end: number, length: number): boolean {
    const endOfEntry = this.#end
    this.#end = end
    let to = 0
    let isWhole = true
    while (isWhole && this.#at < end) {
      const skipped = this.#varint()
      const changed = skipped === BEYOND ? BEYOND : this.#varint()
      to += skipped + changed
      this.#at += Math.max(0, changed)
      isWhole = changed !== BEYOND && to <= length && this.#at <= end
    }
    this.#end = endOfEntry
    return isWhole
  }

  /** Reads a varint; `BEYOND` if it ends outside or is too long. */
  #varint(): number {
    let value = 0
    let unit = 1
    for (let length = 0; length < MOST_VARINT_BYTES && this.#at < this.#end; length++) {
      const byte = this.#content[this.#at++]!
      value += (byte & 127) * unit
      if (byte < 128) return value <= Number.MAX_SAFE_INTEGER ? value : BEYOND
      unit *= 128
    }
    return BEYOND
  }
}
