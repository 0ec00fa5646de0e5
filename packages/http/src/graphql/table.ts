import type { LedgerState } from '@ledger-state/ledger'
import type { LedgerHasher } from '@ledger-state/proof'

// The tables that documents can ask for, with the names of the public indexer. A table is one object: its columns, each
// with its type and the read that answers it, and the rows that a filter names.

export type ScalarName = 'String' | 'Boolean' | 'Int' | 'bigint' | 'numeric' | 'timestamp' | 'jsonb'

/** A value of a column; a `jsonb` is its JSON text. Null if it is absent, or if the state cannot know it. */
export type Value = string | bigint | boolean | null

/** The state that a document reads. */
export interface Source {
  readonly state: LedgerState
  /** Time of the block of a version, in microseconds since 1970. */
  timeOf(version: bigint): bigint | undefined
  /** Hashes as the chain does. */
  hasher(): LedgerHasher
  /** Counts heap that is about to be kept until the end of the request. @throws `overloaded` */
  hold(bytes: number): void
}

export interface Column<R> {
  readonly type: ScalarName
  /** Gives all texts of one value in a filter the form that the column has. */
  readonly normalize?: (text: string) => string
  read(row: R, source: Source): Value
}

export interface Relation<R> {
  readonly shape: Shape<unknown>
  /** The related row; undefined if there is none. */
  read(row: R, source: Source): unknown
}

export const OPERATORS = ['_eq', '_neq', '_gt', '_gte', '_lt', '_lte', '_in', '_nin', '_is_null'] as const
export type Operator = (typeof OPERATORS)[number]

/** A filter of rows. */
export type Condition =
  | { readonly kind: 'all' | 'any'; readonly of: readonly Condition[] }
  | { readonly kind: 'not'; readonly of: Condition }
  | {
      readonly kind: 'compare'
      readonly name: string
      readonly column: Column<unknown>
      readonly operator: Operator
      readonly values: ReadonlySet<Value>
    }
  | {
      readonly kind: 'related'
      readonly name: string
      readonly relation: Relation<unknown>
      readonly of: Condition
    }

/** The fields of a row. */
export interface Shape<R> {
  /** Name of the type. */
  readonly name: string
  readonly columns: Readonly<Record<string, Column<R>>>
  readonly relations?: Readonly<Record<string, Relation<R>>>
}

/** Rows, in the order of a list. Undefined after work without a row, so that others can have a turn. */
export type Rows<R> = Iterable<R | undefined>

export interface Table<R> extends Shape<R> {
  /** Words for the filter that the table needs. */
  readonly needs: string
  readonly hasAggregate: boolean
  /** Bytes of heap that a row keeps, beyond `BYTES_OF_ROW`. */
  sizeOf(row: R): number
  /**
   * All rows that may match a condition; undefined if the condition names none of the columns that rows are found by.
   * @param order direction of `orderedBy`
   */
  find(source: Source, condition: Condition, order: 'asc' | 'desc'): Rows<R> | undefined
  /** Name of a column by which `find` gives rows that meet a condition in order; undefined if it has to sort them. */
  orderedBy?(condition: Condition): string | undefined
}

/** A table in a list of tables with different rows. Only its own rows reach its columns. */
export type AnyTable = Table<unknown>
