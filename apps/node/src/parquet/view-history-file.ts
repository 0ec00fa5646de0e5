import { createReadStream } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bytesToHex } from '@ledger-state/core'
import { makeTemporaryFolder } from '@ledger-state/core/files'
import type { Change, ViewAnswer } from '@ledger-state/ledger'
import type { KeptTransaction } from '@ledger-state/records'
import type { ParquetWriter } from 'hyparquet-writer'
import { type Column, ROWS_OF_GROUP, text, timestamp, version } from './tables.js'
import { openParquetFile } from './write-table-file.js'

/** A change of a view, with the transaction that made it if the store has that. */
type ViewChange = Change<ViewAnswer> & { readonly transaction: KeptTransaction | undefined }

type Cell = bigint | string | undefined

/**
 * The changes of a view as the bytes of a Parquet file, which is made in a temporary file.
 * @param results names of the columns of results
 */
export async function* viewHistoryToParquet(
  pages: AsyncIterable<readonly ViewChange[]>,
  results: readonly string[],
): AsyncGenerator<Uint8Array> {
  const folder = makeTemporaryFolder(tmpdir(), 'ledger-state-view-')
  try {
    const path = join(folder.path, 'view.parquet')
    const file = new ViewFile(path, results)
    for await (const page of pages) {
      for (const change of page) {
        file.add(change)
        if (file.isFull) await file.writeRows()
      }
    }
    await file.finish()
    yield* createReadStream(path)
  } finally {
    await folder.remove()
  }
}

class ViewFile {
  readonly #columns: readonly Column[]
  readonly #writer: ParquetWriter
  readonly #results: readonly string[]
  #data: Cell[][]

  constructor(path: string, results: readonly string[]) {
    this.#results = results
    this.#columns = [
      version,
      { ...timestamp, isOptional: true },
      ...results.map((name) => text(name, true)),
      text('error', true),
      text('transaction_hash', true),
    ]
    this.#data = this.#columns.map(() => [])
    this.#writer = openParquetFile(path, this.#columns)
  }

  add({ version, timestampUsec, value, error, transaction }: ViewChange): void {
    const results = this.#results.map((_, at) => {
      const json = value?.json[at]
      return json === undefined ? undefined : resultToText(json)
    })
    const hash = transaction && bytesToHex(transaction.hash)
    const cells: readonly Cell[] = [version, timestampUsec, ...results, error?.message, hash]
    for (let at = 0; at < cells.length; at++) this.#data[at]!.push(cells[at])
  }

  get isFull(): boolean {
    return this.#data[0]!.length === ROWS_OF_GROUP
  }

  async finish(): Promise<void> {
    if (this.#data[0]!.length > 0) await this.writeRows()
    await this.#writer.finish()
  }

  /** Writes the rows so far as a row group. */
  async writeRows(): Promise<void> {
    const columnData = this.#columns.map(({ name, encoding }, at) => {
      return { name, data: this.#data[at]!, ...(encoding && { encoding }) }
    })
    await this.#writer.write({ columnData, rowGroupSize: ROWS_OF_GROUP })
    this.#data = this.#columns.map(() => [])
  }
}

/** A text as itself, without quotes, and other results as JSON. */
function resultToText(json: string): string {
  const value: unknown = JSON.parse(json)
  return typeof value === 'string' ? value : json
}
