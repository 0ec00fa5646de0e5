import { BYTES_OF_ROW } from './limits.js'
import type { AnyTable, Column, Shape, Source, Value } from './table.js'

export const DIRECTIONS = [
  'asc',
  'asc_nulls_first',
  'asc_nulls_last',
  'desc',
  'desc_nulls_first',
  'desc_nulls_last',
] as const
type Direction = (typeof DIRECTIONS)[number]

/** Memory of a value in the list of a row. */
const BYTES_OF_VALUE = 8

/** A column by which rows are sorted. */
export interface SortKey {
  readonly column: Column<unknown>
  readonly isDescending: boolean
  readonly hasNullsFirst: boolean
}

/**
 * Reads `order_by`, as the coercion of the schema has it. A column counts once: where it is named again, its values are
 * the same.
 */
export function toSortKeys(
  { columns }: Shape<unknown>,
  orderBy: readonly Readonly<Record<string, Direction | null | undefined>>[],
): SortKey[] {
  const keys = new Map<string, SortKey>()
  for (const one of orderBy) {
    for (const [name, direction] of Object.entries(one)) {
      if (direction && !keys.has(name)) keys.set(name, toSortKey(columns[name]!, direction))
    }
  }
  return [...keys.values()]
}

function toSortKey(column: Column<unknown>, direction: Direction): SortKey {
  const isDescending = direction.startsWith('desc')
  const hasNullsFirst = direction.endsWith('nulls_first') || (isDescending && !direction.endsWith('nulls_last'))
  return { column, isDescending, hasNullsFirst }
}

/** A row with the values by which it is sorted. */
interface SortedRow {
  readonly row: unknown
  readonly values: readonly Value[]
}

/** Collects rows and sorts them. Rows with the same values keep the order of the list. */
export class RowSorter {
  readonly #keys: readonly SortKey[]
  readonly #table: AnyTable
  readonly #source: Source
  readonly #rows: SortedRow[] = []

  constructor(keys: readonly SortKey[], table: AnyTable, source: Source) {
    this.#keys = keys
    this.#table = table
    this.#source = source
  }

  /** @throws `overloaded` */
  add(row: unknown): void {
    const values = this.#keys.map(({ column }) => column.read(row, this.#source))
    const textBytes = values.reduce((sum: number, value) => sum + (typeof value === 'string' ? 2 * value.length : 0), 0)
    this.#source.hold(BYTES_OF_ROW + BYTES_OF_VALUE * values.length + textBytes + this.#table.sizeOf(row))
    this.#rows.push({ row, values })
  }

  sorted(): readonly unknown[] {
    return this.#rows.sort((a, b) => this.#compare(a, b)).map(({ row }) => row)
  }

  #compare(a: SortedRow, b: SortedRow): number {
    for (const [at, key] of this.#keys.entries()) {
      const order = compareValues(a.values[at]!, b.values[at]!, key)
      if (order !== 0) return order
    }
    return 0
  }
}

function compareValues(a: Value, b: Value, { isDescending, hasNullsFirst }: SortKey): number {
  if (a === b) return 0
  if (a === null || b === null) return (a === null) === hasNullsFirst ? -1 : 1
  return a < b === isDescending ? 1 : -1
}
