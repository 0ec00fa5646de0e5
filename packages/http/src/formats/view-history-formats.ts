import type { Change } from '@ledger-state/ledger'
import { formatTimestamp, type ViewAnswer } from '@ledger-state/ledger'
import type { AnswerBytes } from '../admission/answer-bytes.js'
import type { Turn } from '../admission/turn-queue.js'
import { csvCell } from './csv-cell.js'
import type { ItemText } from './item-text.js'
import type { PageBody } from './page-body.js'
import { TRANSACTION_COLUMNS, type TransactionOf, transactionToCsv } from './transaction-formats.js'

/** Prints the results of an answer as a JSON array. */
export function printAnswer({ json }: ViewAnswer, text: ItemText): void {
  text.json.text(`[${json.join(',')}]`)
}

/**
 * Changes of a view's answer as CSV (RFC 4180), with a column for each result of the page's longest answer. A scalar is
 * written as its text, anything else as JSON. An answer that is an error has its message in the last column.
 */
export class ViewChangesCsvBody implements PageBody<Change<ViewAnswer>> {
  readonly #out: AnswerBytes
  readonly #changes: Change<ViewAnswer>[] = []
  readonly #transactionOf: TransactionOf
  readonly #turn: Turn
  #columns = 1
  #length = 0

  constructor(out: AnswerBytes, transactionOf: TransactionOf, turn: Turn) {
    this.#out = out
    this.#transactionOf = transactionOf
    this.#turn = turn
  }

  get length(): number {
    return this.#length
  }

  add(change: Change<ViewAnswer>): void {
    const { json = [] } = change.value ?? {}
    this.#columns = Math.max(this.#columns, json.length)
    this.#length += json.reduce((sum, one) => sum + one.length, 0)
    this.#changes.push(change)
  }

  async end(): Promise<AnswerBytes> {
    const columns = Array.from({ length: this.#columns }, (_, at) => (this.#columns === 1 ? 'result' : `result_${at}`))
    const transactionOf = this.#transactionOf
    this.#out.text(`version,timestamp,time,${columns.join()},error${transactionOf ? TRANSACTION_COLUMNS : ''}\r\n`)
    for (const { version, timestampUsec, value, error } of this.#changes) {
      if (this.#turn.isSpent) await this.#turn.nextTurn()
      const time = timestampUsec === undefined ? ',' : `${timestampUsec},${csvCell(formatTimestamp(timestampUsec))}`
      const results = columns.map((_, at) => viewResultToCsv(value?.json[at]))
      const transaction = transactionOf ? transactionToCsv(transactionOf(version)) : ''
      this.#out.text(`${version},${time},${results.join()},${error ? csvCell(error.message) : ''}${transaction}\r\n`)
    }
    return this.#out
  }
}

/** JSON of a result as a CSV cell: a scalar as its text, anything else as JSON; empty if there is none. */
export function viewResultToCsv(json: string | undefined): string {
  if (json === undefined) return ''
  const value: unknown = JSON.parse(json)
  return csvCell(typeof value === 'string' ? value : json)
}
