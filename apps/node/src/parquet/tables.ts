import type { BasicType, ColumnSource } from 'hyparquet-writer'

/** Rows of a row group, whose statistics a query can skip it by. */
export const ROWS_OF_GROUP = 50_000
/** Bytes of texts and values after which a row group ends, whatever its rows. */
export const BYTES_OF_GROUP = 32 << 20

type Encoding = 'PLAIN' | 'DELTA_BINARY_PACKED'
type Cell = string | bigint | boolean | Uint8Array | undefined

export interface Column {
  readonly name: string
  readonly type: BasicType
  /** Whether the rows of a group share the cell. */
  readonly isShared?: boolean
  readonly converted?: 'UTF8' | 'UINT_64' | 'TIMESTAMP_MICROS' | 'JSON'
  readonly isOptional?: boolean
  /**
   * By default the writer looks for repeated values. For large values that hardly repeat that takes 50 times as long as
   * to write them.
   */
  readonly encoding?: Encoding
  /** Whether a row group knows its least and greatest value. */
  readonly hasStatistics?: boolean
}

export const version: Column = { name: 'version', type: 'INT64', encoding: 'DELTA_BINARY_PACKED' }
/** A block has several versions, so times repeat. */
export const timestamp: Column = { name: 'timestamp', type: 'INT64', converted: 'TIMESTAMP_MICROS' }
export const text = (name: string, isOptional = false): Column => ({
  name,
  type: 'BYTE_ARRAY',
  converted: 'UTF8',
  isOptional,
})
const shared = (column: Column): Column => ({ ...column, isShared: true })
const json = (name: string): Column => ({ ...text(name, true), encoding: 'PLAIN', hasStatistics: false })
const bytes = (name: string, isOptional = false): Column => ({
  name,
  type: 'BYTE_ARRAY',
  encoding: 'PLAIN',
  isOptional,
  hasStatistics: false,
})
const u64 = (name: string): Column => ({ name, type: 'INT64', converted: 'UINT_64', encoding: 'PLAIN' })
const bool = (name: string): Column => ({ name, type: 'BOOLEAN' })

/** The tables of an export: their columns, and the columns by which the rows of a file are sorted. */
export const TABLES = {
  writes: {
    columns: [
      version,
      timestamp,
      shared(text('address', true)),
      shared(text('kind')),
      shared(text('type', true)),
      shared(bytes('state_key')),
      json('json'),
      bytes('value', true),
      bool('deleted'),
    ],
    order: ['address', 'type', 'version'],
  },
  blocks: {
    columns: [
      { ...version, name: 'height' },
      { ...version, name: 'epoch' },
      { ...version, name: 'first_version' },
      { ...version, name: 'last_version' },
      timestamp,
    ],
    order: ['height'],
  },
  balances: {
    columns: [
      version,
      timestamp,
      shared(text('owner')),
      shared(text('asset')),
      shared(text('storage')),
      u64('before'),
      u64('after'),
    ],
    order: ['asset', 'owner', 'version'],
  },
  transactions: {
    columns: [
      version,
      timestamp,
      bytes('hash'),
      text('type'),
      bool('success'),
      text('sender', true),
      text('function', true),
    ],
    order: ['version'],
  },
  events: {
    columns: [version, timestamp, { ...version, name: 'event_index' }, shared(text('type')), json('data')],
    order: ['type', 'version', 'event_index'],
  },
} as const satisfies Record<string, { readonly columns: readonly Column[]; readonly order: readonly string[] }>

export type TableName = keyof typeof TABLES
export const TABLE_NAMES = Object.keys(TABLES) as TableName[]

/** The rows of a table, for one file. */
export interface RowSource {
  readonly columns: readonly Column[]
  readonly count: number
  /** The columns of the sorted rows, some rows at a time: each part ends after a number of rows or of bytes. */
  toRowGroups(): Generator<ColumnSource[], void>
}

/** Rows that share some cells, in the order of their versions. */
export interface RowGroup {
  readonly shared: readonly Cell[]
  /** The other cells, row after row. */
  readonly cells: Cell[]
}

/** Rows of a table for one file. Those of a version are added after those of earlier versions. */
export class TableRows implements RowSource {
  readonly columns: readonly Column[]
  readonly #order: readonly string[]
  readonly #groups = new Map<string, RowGroup>()
  #count = 0

  constructor(name: TableName) {
    const { columns, order } = TABLES[name]
    this.columns = columns
    this.#order = order
  }

  get count(): number {
    return this.#count
  }

  /**
   * The group of rows with a name. The first call makes it, with the shared cells in the order of their columns.
   */
  groupOf(name: string, shared: () => readonly Cell[]): RowGroup {
    const known = this.#groups.get(name)
    if (known) return known
    const group: RowGroup = { shared: shared(), cells: [] }
    this.#groups.set(name, group)
    return group
  }

  /** Adds a row to a group: its other cells in the order of their columns. */
  add(group: RowGroup, ...cells: Cell[]): void {
    group.cells.push(...cells)
    this.#count++
  }

  *toRowGroups(): Generator<ColumnSource[], void> {
    const width = this.columns.filter(({ isShared }) => !isShared).length
    const places = this.columns.map((column, at) => {
      const before = this.columns.slice(0, at)
      return before.filter(({ isShared }) => (isShared ?? false) === (column.isShared ?? false)).length
    })
    let data: Cell[][] = this.columns.map(() => [])
    let bytes = 0
    const take = (): ColumnSource[] => {
      const columns = this.columns.map(({ name, encoding, hasStatistics = true }, at) => {
        return { name, data: data[at]!, statistics: hasStatistics, ...(encoding && { encoding }) }
      })
      data = this.columns.map(() => [])
      bytes = 0
      return columns
    }
    for (const [group, row] of this.#sorted(width)) {
      for (let at = 0; at < places.length; at++) {
        const place = places[at]!
        const cell = this.columns[at]!.isShared ? group.shared[place] : group.cells[row * width + place]
        data[at]!.push(cell)
        bytes += bytesOf(cell)
      }
      if (data[0]!.length === ROWS_OF_GROUP || bytes >= BYTES_OF_GROUP) yield take()
    }
    if (data[0]!.length > 0) yield take()
  }

  /** The groups and numbers of rows in the order of the file. */
  *#sorted(width: number): Generator<readonly [group: RowGroup, row: number], void> {
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
    const groups = [...this.#groups.values()].sort(compare)
    for (let first = 0, end = 0; first < groups.length; first = end) {
      while (end < groups.length && compare(groups[first]!, groups[end]!) === 0) end++
      const rowsOf = (group: RowGroup) => {
        return Array.from({ length: group.cells.length / width }, (_, row) => [group, row] as const)
      }
      // Groups that the order does not tell apart are one, in the order of the first column, as the rows of each are.
      const rows = groups.slice(first, end).flatMap(rowsOf)
      if (end - first > 1) {
        rows.sort(([a, one], [b, other]) => {
          const [x, y] = [a.cells[one * width] as bigint, b.cells[other * width] as bigint]
          return x < y ? -1 : x > y ? 1 : 0
        })
      }
      yield* rows
    }
  }
}

/** A schema of these columns. */
export function columnsToSchema(columns: readonly Column[]) {
  return [
    { name: 'root', num_children: columns.length },
    ...columns.map(({ name, type, converted, isOptional }) => ({
      name,
      type: type as 'INT64',
      repetition_type: isOptional ? ('OPTIONAL' as const) : ('REQUIRED' as const),
      ...(converted && { converted_type: converted }),
    })),
  ]
}

function bytesOf(cell: Cell): number {
  return typeof cell === 'string' || cell instanceof Uint8Array ? cell.length : 0
}
