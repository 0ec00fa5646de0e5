import type { RowKey } from '../bytes/row-key.js'
import type { Table } from './table.js'

/** Tables that write transactions change once a store exists. */
export type TableName = 'meta' | 'segments'

/** A change of a table: a record is put, or removed if it has no value; without a key, all records are removed. */
export interface TableChange {
  readonly table: TableName
  readonly key: Uint8Array | RowKey | undefined
  readonly value: Uint8Array | undefined
}

/** Records changes of tables, so that another thread can make the same ones. */
export class ChangeRecorder {
  #changes: TableChange[] | undefined

  /** Has a table report its changes. */
  watch<K extends Uint8Array | RowKey>(name: TableName, table: Table<K>): Table<K> {
    const { putSync, removeSync, clearSync } = table
    const note = (key: K | undefined, value: Uint8Array | undefined) =>
      // The caller may use the memory of the value again, which a copy of a small part would bring along.
      this.#changes?.push({ table: name, key, value: value && new Uint8Array(value) })
    table.putSync = (key, value) => {
      putSync.call(table, key, value)
      note(key, value)
    }
    table.removeSync = (key) => {
      removeSync.call(table, key)
      note(key, undefined)
    }
    table.clearSync = () => {
      clearSync.call(table)
      note(undefined, undefined)
    }
    return table
  }

  /** Runs work. Returns its result, and the changes that it made, in their order. */
  record<T>(work: () => T): { readonly result: T; readonly changes: readonly TableChange[] } {
    const changes: TableChange[] = []
    this.#changes = changes
    try {
      return { result: work(), changes }
    } finally {
      this.#changes = undefined
    }
  }
}

/** Makes recorded changes, within the transaction of the caller. */
export function applyChanges(
  tables: { readonly meta: Table<Uint8Array>; readonly segments: Table<RowKey> },
  changes: readonly TableChange[],
): void {
  for (const { table: name, key, value } of changes) {
    const table = tables[name] as Table<unknown>
    if (key === undefined) table.clearSync()
    else if (value) table.putSync(toKey(key), value)
    else table.removeSync(toKey(key))
  }
}

/** A buffer comes from another thread as an array of bytes, and lmdb-js reads keys as buffers. */
function toKey(key: Uint8Array | RowKey): Buffer | RowKey {
  return key instanceof Uint8Array ? Buffer.from(key.buffer, key.byteOffset, key.length) : key
}
