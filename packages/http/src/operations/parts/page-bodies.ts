import { ByteWriter } from '@ledger-state/core'
import type { AnswerBytes } from '../../admission/answer-bytes.js'
import type { PageBody } from '../../formats/page-body.js'
import type { OperationRequest } from './operation.js'
import { TurnBudget } from './turn-budget.js'

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

  end(): AnswerBytes {
    return this.#out.text(']')
  }
}

/** Opens a JSON array of items that are JSON already. */
export function openJsonTexts(out: AnswerBytes): JsonArrayBody<string> {
  return new JsonArrayBody(out, (json) => json)
}

/** Items as a BCS vector. */
export class BcsVectorBody<T> implements PageBody<T> {
  readonly #out: AnswerBytes
  readonly #toBcs: (item: T) => Uint8Array
  #count = 0

  constructor(out: AnswerBytes, toBcs: (item: T) => Uint8Array) {
    this.#out = out
    this.#toBcs = toBcs
  }

  get length(): number {
    return this.#out.length
  }

  add(item: T): void {
    this.#out.write(this.#toBcs(item))
    this.#count++
  }

  end(): AnswerBytes {
    return this.#out.prefix(new ByteWriter().uleb128(this.#count).toBytes())
  }
}

export interface BcsMapEntry {
  readonly key: Uint8Array
  readonly value: Uint8Array
}

/** Items as a BCS map of keys to byte strings. Keys ascend in the order of their bytes. */
export class BcsMapBody implements PageBody<BcsMapEntry> {
  readonly #request: OperationRequest
  readonly #entries: BcsMapEntry[] = []
  #length = 0

  constructor(request: OperationRequest) {
    this.#request = request
  }

  get length(): number {
    return this.#length
  }

  add(entry: BcsMapEntry): void {
    const bytes = entry.key.length + entry.value.length
    this.#request.hold(bytes)
    this.#length += bytes
    this.#entries.push(entry)
  }

  async end(): Promise<AnswerBytes> {
    const turn = new TurnBudget(this.#request)
    const out = this.#request.openBody()
    const entries = this.#entries.toSorted((a, b) => Buffer.compare(a.key, b.key))
    out.write(new ByteWriter().uleb128(entries.length).toBytes())
    for (const { key, value } of entries) {
      if (turn.isSpent) await turn.nextTurn()
      out.write(key).write(new ByteWriter().uleb128(value.length).toBytes()).write(value)
    }
    return out
  }
}
