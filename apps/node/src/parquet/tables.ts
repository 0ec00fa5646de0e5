import type { BasicType, ColumnSource } from 'hyparquet-writer'

type Encoding = 'PLAIN' | 'DELTA_BINARY_PACKED'
type Cell = string | bigint | boolean | Uint8Array | undefined

interface Column {
  readonly name: string
  readonly type: BasicType
  readonly converted?: 'UTF8' | 'UINT_64' | 'TIMESTAMP_MICROS' | 'JSON'
  readonly isOptional?: boolean
  /**
   * By default the writer looks for repeated values. For large values that hardly repeat that takes 50 times as long as
   * to write them.
   */
  readonly encoding?: Encoding
}

const version: Column = { name: 'version', type: 'INT64', encoding: 'DELTA_BINARY_PACKED' }
const timestamp: Column = {
  name: 'timestamp',
  type: 'INT64',
  converted: 'TIMESTAMP_MICROS',
  encoding: 'DELTA_BINARY_PACKED',
}
const text = (name: string, isOptional = false): Column => ({
  name,
  type: 'BYTE_ARRAY',
  converted: 'UTF8',
  isOptional,
})
const json = (name: string): Column => ({ ...text(name, true), encoding: 'PLAIN' })
const bytes = (name: string, isOptional = false): Column => ({
  name,
  type: 'BYTE_ARRAY',
  encoding: 'PLAIN',
  isOptional,
})
const u64 = (name: string): Column => ({ name, type: 'INT64', converted: 'UINT_64', encoding: 'PLAIN' })
const bool = (name: string): Column => ({ name, type: 'BOOLEAN' })

/** The tables of an export: their columns, and the columns by which the rows of a file are sorted. */
export const TABLES = {
  writes: {
    columns: [
      version,
      timestamp,
      text('address', true),
      text('kind'),
      text('type', true),
      bytes('state_key'),
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
    columns: [version, timestamp, text('owner'), text('asset'), text('storage'), u64('before'), u64('after')],
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
    columns: [version, timestamp, { ...version, name: 'event_index' }, text('type'), json('data')],
    order: ['type', 'version', 'event_index'],
  },
} as const satisfies Record<string, { readonly columns: readonly Column[]; readonly order: readonly string[] }>

export type TableName = keyof typeof TABLES
export const TABLE_NAMES = Object.keys(TABLES) as TableName[]

/** Bytes of a cell in memory, without its text or value. */
const CELL_BYTES = 16

/** Rows of a table for one file. */
export class TableRows {
  readonly #columns: readonly Column[]
  readonly #order: readonly number[]
  readonly #rows: Cell[][] = []
  bytes = 0

  constructor(name: TableName) {
    const { columns, order } = TABLES[name]
    this.#columns = columns
    this.#order = order.map((one) => this.#columns.findIndex((column) => column.name === one))
  }

  get count(): number {
    return this.#rows.length
  }

  /** Adds a row: its cells in the order of the columns. */
  add(...cells: Cell[]): void {
    this.#rows.push(cells)
    for (const cell of cells) {
      this.bytes += CELL_BYTES + (typeof cell === 'string' || cell instanceof Uint8Array ? cell.length : 0)
    }
  }

  /** The columns of the sorted rows. */
  toColumns(): ColumnSource[] {
    this.#rows.sort((a, b) => {
      for (const at of this.#order) {
        const [one, other] = [a[at] ?? '', b[at] ?? '']
        if (one < other) return -1
        if (one > other) return 1
      }
      return 0
    })
    return this.#columns.map(({ name, encoding }, at) => ({
      name,
      data: this.#rows.map((row) => row[at]),
      ...(encoding && { encoding }),
    }))
  }

  /** The schema of the file. */
  toSchema() {
    return [
      { name: 'root', num_children: this.#columns.length },
      ...this.#columns.map(({ name, type, converted, isOptional }) => ({
        name,
        type: type as 'INT64',
        repetition_type: isOptional ? ('OPTIONAL' as const) : ('REQUIRED' as const),
        ...(converted && { converted_type: converted }),
      })),
    ]
  }
}
