import { csvCell, transactionMember } from '@ledger-state/http/formats'
import {
  type AskedRange,
  momentToCsv,
  type PrintedChange,
  transactionCells,
  transactionColumns,
} from './history-pages.js'

type Pages<T> = AsyncIterable<readonly PrintedChange<T>[]>

/** How the values of a history are printed. */
export interface ValueFormat<T> {
  /** The value as members of a JSON object, such as `"balance":"7"`. */
  readonly toMembers: (value: T) => string
  /** Names of the columns of CSV, after a look at the first page. */
  readonly columnsOf: (page: readonly PrintedChange<T>[]) => readonly string[]
  /** The cells of the value. Columns without a cell stay empty. */
  readonly toCells: (value: T) => readonly string[]
}

/** Yields a line of JSON for each change, a page at a time. */
export async function* historyToJsonLines<T>(pages: Pages<T>, { toMembers }: ValueFormat<T>): AsyncGenerator<string> {
  for await (const page of pages) {
    yield page
      .map(({ version, timestampUsec, value, error, transaction }) => {
        const timestamp = timestampUsec === undefined ? 'null' : `"${timestampUsec}"`
        const reading = error ? `"error":${JSON.stringify(error.message)}` : toMembers(value)
        return `{"version":"${version}","timestamp":${timestamp},${reading}${transactionMember(transaction)}}\n`
      })
      .join('')
  }
}

/** Yields the head of a CSV file, and a line for each change, a page at a time. */
export async function* historyToCsv<T>(
  pages: Pages<T>,
  { columnsOf, toCells }: ValueFormat<T>,
  asked: AskedRange,
): AsyncGenerator<string> {
  let columns: readonly string[] | undefined
  for await (const page of pages) {
    if (!columns) {
      columns = columnsOf(page)
      yield `version,timestamp,time,${columns.join()},error${transactionColumns(asked)}\n`
    }
    const names = columns
    yield page
      .map((change) => {
        const found = change.error ? [] : toCells(change.value)
        const cells = names.map((_, at) => found[at] ?? '')
        const error = change.error ? csvCell(change.error.message) : ''
        return `${momentToCsv(change)},${cells.join()},${error}${transactionCells(change, asked)}\n`
      })
      .join('')
  }
}
