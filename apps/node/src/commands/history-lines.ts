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
  /** Names of the columns of CSV. */
  readonly columns: readonly string[]
  /** The cells of the value. Columns without a cell stay empty. */
  readonly toCells: (value: T) => readonly string[]
}

/** Yields a line of JSON for each change, a page at a time. */
export async function* historyToJsonLines<T>(
  pages: Pages<T>,
  { toMembers }: Pick<ValueFormat<T>, 'toMembers'>,
): AsyncGenerator<string> {
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
  { columns, toCells }: Pick<ValueFormat<T>, 'columns' | 'toCells'>,
  asked: AskedRange,
): AsyncGenerator<string> {
  let head = `version,timestamp,time,${columns.join()},error${transactionColumns(asked)}\n`
  for await (const page of pages) {
    const lines = page.map((change) => {
      const found = change.error ? [] : toCells(change.value)
      const cells = columns.map((_, at) => found[at] ?? '')
      const error = change.error ? csvCell(change.error.message) : ''
      return `${momentToCsv(change)},${cells.join()},${error}${transactionCells(change, asked)}\n`
    })
    yield head + lines.join('')
    head = ''
  }
}
