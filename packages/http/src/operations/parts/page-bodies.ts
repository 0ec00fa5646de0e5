import { ByteWriter } from '@ledger-state/core'
import type { AnswerBytes } from '../../admission/answer-bytes.js'
import type { PageBody } from '../../formats/page-body.js'
import type { OperationRequest } from './operation.js'

/** Items as a JSON array, after earlier bytes. */
export class JsonArrayBody<T> implements PageBody<T> {
  readonly #out: AnswerBytes
  readonly #toJson: (item: T) => string
  #isEmpty = true

  constructor(out: AnswerBytes, toJson: (item: T) => string) {
    this.#out = out.text('[')
    this.#toJson = toJson
  }

  get length(): number {
    return this.#out.length
  }

  add(item: T): void {
    const json = this.#toJson(item)
    if (!this.#isEmpty) this.#out.text(',')
    this.#out.text(json)
    this.#isEmpty = false
  }

  toBytes(): Uint8Array {
    return this.#out.text(']').bytes
  }
}

/** Items as a BCS vector. */
export class BcsVectorBody<T> implements PageBody<T> {
  readonly #request: OperationRequest
  readonly #toBcs: (item: T) => Uint8Array
  readonly #items: Uint8Array[] = []
  #length = 0

  constructor(request: OperationRequest, toBcs: (item: T) => Uint8Array) {
    this.#request = request
    this.#toBcs = toBcs
  }

  get length(): number {
    return this.#length
  }

  add(item: T): void {
    const bytes = this.#toBcs(item)
    // Counted twice: as it was read, and in the answer.
    this.#request.hold(2 * bytes.length)
    this.#length += bytes.length
    this.#items.push(bytes)
  }

  toBytes(): Uint8Array {
    const count = new ByteWriter().uleb128(this.#items.length).toBytes()
    return Buffer.concat([count, ...this.#items])
  }
}

export interface BcsMapEntry {
  readonly key: Uint8Array
  readonly value: Uint8Array
}

/** Items as a BCS map of keys to byte strings. Keys ascend in the order of their bytes. */
export class BcsMapBody<T> implements PageBody<T> {
  readonly #request: OperationRequest
  readonly #toEntry: (item: T) => BcsMapEntry
  readonly #entries: BcsMapEntry[] = []
  #length = 0

  constructor(request: OperationRequest, toEntry: (item: T) => BcsMapEntry) {
    this.#request = request
    this.#toEntry = toEntry
  }

  get length(): number {
    return this.#length
  }

  add(item: T): void {
    const entry = this.#toEntry(item)
    const bytes = entry.key.length + entry.value.length
    // Counted twice: as it was read, and in the answer.
    this.#request.hold(2 * bytes)
    this.#length += bytes
    this.#entries.push(entry)
  }

  toBytes(): Uint8Array {
    const entries = this.#entries.toSorted((a, b) => Buffer.compare(a.key, b.key))
    const writer = new ByteWriter().uleb128(entries.length)
    for (const { key, value } of entries) writer.bytes(key).byteString(value)
    return writer.toBytes()
  }
}
