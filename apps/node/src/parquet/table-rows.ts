import type { ColumnSource } from 'hyparquet-writer'
import { type CellList, cellsToColumns, newCellList } from './cell-list.js'
import { GrowingArray } from './growing-array.js'
import {
  BYTES_OF_GROUP,
  type Cell,
  type Column,
  ROWS_OF_GROUP,
  type RowSource,
  TABLES,
  type TableName,
} from './tables.js'

/** Rows that share some cells. */
export interface RowGroup {
  /** Number of the group, in the order in which they were made. */
  readonly number: number
  /** Its shared cells, in the order of their columns. */
  readonly shared: readonly Cell[]
}

/** Rows of a table for one file. Rows of a group that are added later have no earlier version. */
export class TableRows implements RowSource {
  readonly columns: readonly Column[]
  readonly #order: readonly string[]
  readonly #groups = new Map<string, RowGroup>()
  /** Number of the group of each row. */
  readonly #groupOfRow = new GrowingArray(Uint32Array)
  /** The cells of each column that a group does not share. */
  readonly #cells: readonly CellList[]

  constructor(name: TableName) {
    const { columns, order } = TABLES[name]
    this.columns = columns
    this.#order = order
    this.#cells = columns.filter((column: Column) => !column.isShared).map(newCellList)
  }

  get count(): number {
    return this.#groupOfRow.length
  }

  /**
   * The group of rows with a name. The first call makes it, with the shared cells in the order of their columns.
   */
  groupOf(name: string, shared: () => readonly Cell[]): RowGroup {
    const known = this.#groups.get(name)
    if (known) return known
    const group: RowGroup = { number: this.#groups.size, shared: shared() }
    this.#groups.set(name, group)
    return group
  }

  /** Adds a row to a group: its other cells in the order of their columns. */
  add(group: RowGroup, ...cells: Cell[]): void {
    this.#groupOfRow.push(group.number)
    for (let at = 0; at < cells.length; at++) this.#cells[at]!.push(cells[at])
  }

  *toRowGroups(): Generator<ColumnSource[], void> {
    const groups = [...this.#groups.values()]
    let [nextShared, nextOwn] = [0, 0]
    const readers = this.columns.map(({ isShared }): ((row: number) => Cell) => {
      if (isShared) {
        const place = nextShared++
        return (row) => groups[this.#groupOfRow.at(row)]!.shared[place]
      }
      const cells = this.#cells[nextOwn++]!
      return (row) => cells.at(row)
    })
    const rows = this.#sorted(groups)
    for (let from = 0; from < rows.length; ) {
      const lists = this.columns.map(newCellList)
      const start = from
      let bytes = 0
      do {
        const row = rows[from++]!
        for (let at = 0; at < readers.length; at++) {
          const cell = readers[at]!(row)
          lists[at]!.push(cell)
          bytes += bytesOf(cell)
        }
      } while (from < rows.length && from - start < ROWS_OF_GROUP && bytes < BYTES_OF_GROUP)
      yield cellsToColumns(this.columns, lists)
    }
  }

  /** Numbers of the rows in the order of the file. */
  #sorted(groups: readonly RowGroup[]): Uint32Array {
    const shared = this.columns.filter(({ isShared }) => isShared).map(({ name }) => name)
    const order = this.#order.map((name) => shared.indexOf(name)).filter((at) => at >= 0)
    const compare = (a: RowGroup, b: RowGroup): number => {
      for (const at of order) {
        const [one, other] = [a.shared[at] ?? '', b.shared[at] ?? '']
        if (one < other) return -1
        if (one > other) return 1
      }
      return 0
    }
    const sorted = groups.toSorted(compare)
    const ends = new Uint32Array(groups.length)
    for (let row = 0; row < this.count; row++) ends[this.#groupOfRow.at(row)]!++
    let end = 0
    for (const { number } of sorted) {
      const start = end
      end += ends[number]!
      ends[number] = start
    }
    const rows = new Uint32Array(this.count)
    for (let row = 0; row < this.count; row++) rows[ends[this.#groupOfRow.at(row)]!++] = row
    // Groups that the order does not tell apart are one, in the order of the first column, as the rows of each are.
    const [firstCells] = this.#cells
    for (let first = 0, start = 0; first < sorted.length; ) {
      let next = first + 1
      while (next < sorted.length && compare(sorted[first]!, sorted[next]!) === 0) next++
      const end = ends[sorted[next - 1]!.number]!
      if (next - first > 1) {
        rows.subarray(start, end).sort((one, other) => {
          const [x, y] = [firstCells!.at(one) as bigint, firstCells!.at(other) as bigint]
          return x < y ? -1 : x > y ? 1 : one - other
        })
      }
      first = next
      start = end
    }
    return rows
  }
}

function bytesOf(cell: Cell): number {
  return typeof cell === 'string' || cell instanceof Uint8Array ? cell.length : 0
}
