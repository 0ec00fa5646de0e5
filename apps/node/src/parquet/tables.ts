import type { BasicType, ColumnSource } from 'hyparquet-writer'

/** Rows of a row group, whose statistics a query can skip it by. */
export const ROWS_OF_GROUP = 50_000
/** Bytes of texts and values after which a row group ends, whatever its rows. */
export const BYTES_OF_GROUP = 32 << 20

/**
 * `DELTA_BYTE_ARRAY` has only the part of each value that differs from the value in the row before, mostly the former
 * value of the same key. Compressing the rest takes a quarter of the time.
 */
type Encoding = 'PLAIN' | 'DELTA_BINARY_PACKED' | 'DELTA_BYTE_ARRAY'
export type Cell = string | bigint | boolean | Uint8Array | undefined

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
const json = (name: string): Column => ({ ...text(name, true), encoding: 'DELTA_BYTE_ARRAY', hasStatistics: false })
const bytes = (name: string): Column => ({ name, type: 'BYTE_ARRAY', encoding: 'PLAIN', hasStatistics: false })
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
      { ...bytes('value'), encoding: 'DELTA_BYTE_ARRAY', isOptional: true },
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
