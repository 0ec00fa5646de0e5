import type { LedgerStateError, Steps } from '@ledger-state/core'
import { type Change, ChangeSampler, formatTimestamp, isUnreadable, type SampledRange } from '@ledger-state/ledger'
import type { AnswerBytes } from '../admission/answer-bytes.js'
import type { Turn } from '../admission/turn-queue.js'
import { errorToReply } from '../protocol/error-reply.js'
import { csvCell } from './csv-cell.js'
import type { PageBody } from './page-body.js'
import { TRANSACTION_COLUMNS, type TransactionOf, transactionMember, transactionToCsv } from './transaction-formats.js'

/**
 * A change as JSON, in steps. Its time is null if it is below the window. A value that cannot be read is replaced by the error of
 * the read.
 */
export function* changeToJson<T>(
  change: Change<T>,
  member: string,
  toJson: (value: T) => Steps<string>,
  transactionOf: TransactionOf,
): Steps<string> {
  const { version, timestampUsec } = change
  const timestamp = timestampUsec === undefined ? 'null' : `"${timestampUsec}"`
  const transaction = transactionMember(transactionOf?.(version))
  const reading = yield* readingToJson(change, member, toJson)
  return `{"version":"${version}","timestamp":${timestamp},${reading}${transaction}}`
}

function* readingToJson<T>(change: Change<T>, member: string, toJson: (value: T) => Steps<string>): Steps<string> {
  if (change.error) return `"error":${errorToJson(change.error)}`
  try {
    return `"${member}":${yield* toJson(change.value)}`
  } catch (error) {
    if (isUnreadable(error)) return `"error":${errorToJson(error)}`
    throw error
  }
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
