import { ADDRESS_LENGTH, ByteReader, isLedgerStateError } from '@ledger-state/core'
import { copyBytes } from '@ledger-state/core/bytes'
import type { StateView } from '@ledger-state/engine'
import { isTable, ValueWalker } from '@ledger-state/move-module'
import type { StructTag, TypeTag } from '@ledger-state/type-tag'
import type { ModuleCache } from '../caches/module-cache.js'

/** A table in a value. */
export interface TableInValue {
  readonly handle: Uint8Array
  readonly keyType: TypeTag
  readonly valueType: TypeTag
}

/** Finds the tables in values of a state. */
export class TableWalker {
  readonly #walker: ValueWalker
  readonly #onTable: (table: TableInValue) => boolean

  /** `onTable` returns whether the walk ends. */
  constructor(modules: ModuleCache, view: StateView, onTable: (table: TableInValue) => boolean) {
    this.#onTable = onTable
    this.#walker = new ValueWalker(
      (id) => modules.find(view, id)?.read(),
      (struct, reader) => this.#visit(struct, reader),
    )
  }

  /** Walks through a value as far as it can be read. */
  walk(type: TypeTag, bytes: Uint8Array): void {
    try {
      this.#walker.walk(type, new ByteReader(bytes))
    } catch (error) {
      if (!isLedgerStateError(error, 'invalid_bcs', 'invalid_module')) throw error
    }
  }

  #visit(struct: StructTag, reader: ByteReader): boolean {
    const [keyType, valueType] = struct.typeArguments
    if (!isTable(struct) || !keyType || !valueType || reader.remaining < ADDRESS_LENGTH) return false
    const handle = copyBytes(reader.bytes, reader.offset, reader.offset + ADDRESS_LENGTH)
    return this.#onTable({ handle, keyType, valueType })
  }
}
