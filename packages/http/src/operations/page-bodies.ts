import { ByteWriter } from '@ledger-state/core'
import type { PageBody } from './paging.js'

/** Items as an array of JSON. */
export class JsonArrayBody<T> implements PageBody<T> {
  readonly #toJson: (item: T) => string
  readonly #items: string[] = []
  #length = 0

  constructor(toJson: (item: T) => string) {
    this.#toJson = toJson
  }

  get length(): number {
    return this.#length
  }

  add(item: T): void {
    const json = this.#toJson(item)
    this.#length += json.length
    this.#items.push(json)
  }

  toBytes(): Uint8Array {
    return Buffer.from(`[${this.#items.join(',')}]`)
  }
}

export interface BcsMapEntry {
  readonly key: Uint8Array
  readonly value: Uint8Array
}

/** Items as a BCS map of keys to byte strings. Keys ascend in the order of their bytes. */
export class BcsMapBody<T> implements PageBody<T> {
  readonly #toEntry: (item: T) => BcsMapEntry
  readonly #entries: BcsMapEntry[] = []
  #length = 0

  constructor(toEntry: (item: T) => BcsMapEntry) {
    this.#toEntry = toEntry
  }

  get length(): number {
    return this.#length
  }

  add(item: T): void {
    const entry = this.#toEntry(item)
    this.#length += entry.key.length + entry.value.length
    this.#entries.push(entry)
  }

  toBytes(): Uint8Array {
    const entries = this.#entries.toSorted((a, b) => Buffer.compare(a.key, b.key))
    const writer = new ByteWriter().uleb128(entries.length)
    for (const { key, value } of entries) writer.bytes(key).byteString(value)
    return writer.toBytes()
  }
}
