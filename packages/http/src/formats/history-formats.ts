import type { JsonTextWriter } from '@ledger-state/bcs'
import type { LedgerStateError } from '@ledger-state/core'
import { type Change, ChangeSampler, formatTimestamp, isUnreadable, type SampledRange } from '@ledger-state/ledger'
import type { AnswerBytes } from '../admission/answer-bytes.js'
import type { Turn } from '../admission/turn-queue.js'
import { errorToReply } from '../protocol/error-reply.js'
import { csvCell } from './csv-cell.js'
import { type ItemText, NULL, type PrintItem } from './item-text.js'
import type { PageBody } from './page-body.js'
import { TRANSACTION_COLUMNS, type TransactionOf, transactionMember, transactionToCsv } from './transaction-formats.js'

const VERSION = Buffer.from('{"version":')
const TIMESTAMP = Buffer.from(',"timestamp":')
const ERROR = Buffer.from('"error":')
const COMMA = 0x2c
const END = 0x7d

/**
 * Returns a function that prints changes with a value in a member. The time is null if it is below the window.
 * @param print prints a value, and throws if it cannot be read
 */
export function changePrinter<T>(
  member: string,
  print: PrintItem<T>,
  transactionOf: TransactionOf,
): PrintItem<Change<T>> {
  const memberName = Buffer.from(`"${member}":`)
  return (change, text) => {
    const { json } = text
    const { version, timestampUsec } = change
    json.raw(VERSION)
    json.quotedBigint(version)
    json.raw(TIMESTAMP)
    if (timestampUsec === undefined) json.raw(NULL)
    else json.quotedBigint(timestampUsec)
    json.byte(COMMA)
    printReading(change, memberName, print, text)
    if (transactionOf) json.text(transactionMember(transactionOf(version)))
    json.byte(END)
  }
}

/** A value that cannot be read is replaced by the error of the read. */
function printReading<T>(change: Change<T>, memberName: Uint8Array, print: PrintItem<T>, text: ItemText): void {
  const { json } = text
  if (change.error) {
    printError(change.error, json)
    return
  }
  const start = json.length
  try {
    json.raw(memberName)
    print(change.value, text)
  } catch (error) {
    if (!isUnreadable(error)) throw error
    json.length = start
    printError(error, json)
  }
}

function printError(error: LedgerStateError, json: JsonTextWriter): void {
  json.raw(ERROR)
  json.text(errorToJson(error))
}

/** The body of an error, as a read at the version has it. */
export function errorToJson(error: LedgerStateError): string {
  return errorToReply(error, undefined).body
}

/**
 * Changes as CSV (RFC 4180). A change that cannot be read has an empty value, and the error's message in the last
 * column.
 */
export class ChangesCsvBody<T> implements PageBody<Change<T>> {
  readonly #out: AnswerBytes
  readonly #toText: (value: T) => string
  readonly #transactionOf: TransactionOf

  constructor(out: AnswerBytes, column: string, toText: (value: T) => string, transactionOf: TransactionOf) {
    this.#out = out.text(`version,timestamp,time,${column},error${transactionOf ? TRANSACTION_COLUMNS : ''}\r\n`)
    this.#toText = toText
    this.#transactionOf = transactionOf
  }

  get length(): number {
    return this.#out.length
  }

  add(change: Change<T>): void {
    const { version, timestampUsec, error } = change
    const reading = error ? `,${csvCell(error.message)}` : `${csvCell(this.#toText(change.value))},`
    const transaction = this.#transactionOf ? transactionToCsv(this.#transactionOf(version)) : ''
    this.#out.text(`${version},${timestampUsec ?? ''},${timestampToText(timestampUsec)},${reading}${transaction}\r\n`)
  }

  end(): AnswerBytes {
    return this.#out
  }
}

function timestampToText(timestampUsec: bigint | undefined): string {
  return timestampUsec === undefined ? '' : csvCell(formatTimestamp(timestampUsec))
}

/** Writes the added changes that a curve needs to another body. */
export class SampledBody<T> implements PageBody<Change<T>> {
  readonly #body: PageBody<Change<T>>
  readonly #measure: (value: T) => bigint
  readonly #sampler: ChangeSampler<T>
  readonly #turn: Turn
  /** Always 0: kept changes are bounded by the points, and written at the end. */
  readonly length = 0

  constructor(body: PageBody<Change<T>>, measure: (value: T) => bigint, range: SampledRange, turn: Turn) {
    this.#body = body
    this.#measure = measure
    this.#sampler = new ChangeSampler(range)
    this.#turn = turn
  }

  add(change: Change<T>): void {
    this.#sampler.add(change, this.#measure)
  }

  async end(): Promise<AnswerBytes> {
    for (const change of this.#sampler.kept()) {
      if (this.#turn.isSpent) await this.#turn.nextTurn()
      this.#body.add(change)
    }
    return this.#body.end()
  }
}
