import { JsonTextWriter } from '@ledger-state/bcs'
import { atOnce, ByteWriter, type Steps } from '@ledger-state/core'
import type { StoredValue } from '@ledger-state/ledger'
import type { AnswerBytes } from '../../admission/answer-bytes.js'
import type { ItemText, PrintItem } from '../../formats/item-text.js'
import type { PageBody, SteppedBody } from '../../formats/page-body.js'
import { PIECE_LENGTH } from '../../protocol/text-pieces.js'
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
    this.#begin().text(this.#toJson(item))
  }

  addInSteps(item: T): Steps<void> | undefined {
    const json = this.#toJson(item)
    if (json.length > PIECE_LENGTH) return this.#addLong(json)
    this.#begin().text(json)
    return undefined
  }

  end(): AnswerBytes {
    return this.#out.text(']')
  }

  *#addLong(json: string): Steps<void> {
    yield* this.#begin().textInSteps(json)
  }

  /** Begins the next item. */
  #begin(): AnswerBytes {
    if (!this.#isEmpty) this.#out.text(',')
    this.#isEmpty = false
    return this.#out
  }
}

/** Opens a JSON array of items that are JSON already. */
export function openJsonTexts(out: AnswerBytes): JsonArrayBody<string> {
  return new JsonArrayBody(out, (json) => json)
}

/** Text of the item that is printed now. All bodies share it: an item is printed and copied without a pause. */
const TEXT = new JsonTextWriter()
const COMMA = 0x2c

/** The JSON of a value that was printed in steps, or the error of printing it. */
type PrintedValue = { readonly json: Uint8Array } | { readonly error: unknown }

/** Items as a JSON array, after earlier bytes. Their short values are printed as bytes, without a text for each. */
export class PrintedArrayBody<T> implements PageBody<T>, SteppedBody<T>, ItemText {
  readonly json = TEXT
  readonly #out: AnswerBytes
  readonly #print: PrintItem<T>
  /** Values of the item that are too long for one step. */
  #long: StoredValue[] = []
  #printed: ReadonlyMap<StoredValue, PrintedValue> | undefined
  #isEmpty = true

  constructor(out: AnswerBytes, print: PrintItem<T>) {
    this.#out = out.text('[')
    this.#print = print
  }

  get length(): number {
    return this.#out.length
  }

  add(item: T): void {
    const steps = this.addInSteps(item)
    if (steps) atOnce(steps)
  }

  /** Same as `add`, in steps if a value of the item is long. */
  addInSteps(item: T): Steps<void> | undefined {
    this.#printItem(item)
    if (this.#long.length > 0) return this.#addLong(item)
    this.#take()
    return undefined
  }

  end(): AnswerBytes {
    return this.#out.text(']')
  }

  /** See `ItemText`. */
  value(stored: StoredValue): void {
    const printed = this.#printed?.get(stored)
    if (!printed) {
      if (!stored.appendJson(TEXT)) this.#long.push(stored)
      return
    }
    if ('error' in printed) throw printed.error
    this.#out.write(TEXT.written).write(printed.json)
    TEXT.length = 0
  }

  #printItem(item: T): void {
    TEXT.reset()
    if (!this.#isEmpty) TEXT.byte(COMMA)
    this.#print(item, this)
  }

  #take(): void {
    this.#out.write(TEXT.written)
    TEXT.reset()
    this.#isEmpty = false
  }

  /** Prints the long values in steps, and then the item again. */
  *#addLong(item: T): Steps<void> {
    const printed = new Map<StoredValue, PrintedValue>()
    for (const stored of this.#long) printed.set(stored, yield* printInSteps(stored))
    this.#long = []
    this.#printed = printed
    this.#printItem(item)
    this.#printed = undefined
    this.#take()
  }
}

function* printInSteps(stored: StoredValue): Steps<PrintedValue> {
  try {
    return { json: yield* stored.toJsonUtf8InSteps() }
  } catch (error) {
    return { error }
  }
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

/**
 * Items as a BCS map of keys to byte strings. Keys ascend in the order of their bytes. If a key is repeated, its last
 * value counts: no reader takes a map with a key twice.
 */
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
    const entries = this.#entries
      .toSorted((a, b) => Buffer.compare(a.key, b.key))
      .filter(({ key }, at, sorted) => at + 1 === sorted.length || Buffer.compare(key, sorted[at + 1]!.key) !== 0)
    out.write(new ByteWriter().uleb128(entries.length).toBytes())
    for (const { key, value } of entries) {
      if (turn.isSpent) await turn.nextTurn()
      out.write(key).write(new ByteWriter().uleb128(value.length).toBytes()).write(value)
    }
    return out
  }
}
