import type { ColumnSource } from 'hyparquet-writer'
import { GrowingArray } from './growing-array.js'
import type { Cell, Column } from './tables.js'

/** Cells of a column. */
export interface CellList {
  push(cell: Cell): void
  at(row: number): Cell
  /** The cells so far. */
  view(): ColumnSource['data']
}

/** An empty list for a column: a typed array if the column has numbers only. */
export function newCellList({ type, converted, isOptional }: Column): CellList {
  if (type !== 'INT64' || isOptional) return new ListedCells()
  const numbers = converted === 'UINT_64' ? new GrowingArray(BigUint64Array) : new GrowingArray(BigInt64Array)
  return numbers as CellList
}

class ListedCells implements CellList {
  readonly #cells: Cell[] = []

  push(cell: Cell): void {
    this.#cells.push(cell)
  }

  at(row: number): Cell {
    return this.#cells[row]
  }

  view(): Cell[] {
    return this.#cells
  }
}

/** The cells of a row group for the writer of files. */
export function cellsToColumns(columns: readonly Column[], cells: readonly CellList[]): ColumnSource[] {
  return columns.map(({ name, encoding, hasStatistics = true }, at) => {
    return { name, data: cells[at]!.view(), statistics: hasStatistics, ...(encoding && { encoding }) }
  })
}
