import { ADDRESS_LENGTH, ByteReader, bytesToHexDigits, isLedgerStateError, parseAddress } from '@ledger-state/core'
import { copyBytes, indexOfBytes } from '@ledger-state/core/bytes'
import { isTable, readResourceGroup, ValueWalker } from '@ledger-state/move-module'
import type { WriteOp } from '@ledger-state/proof/transactions'
import { decodeStateKey, type StructTag, type TypeTag } from '@ledger-state/type-tag'
import { scanAccount } from '../../accounts/scan-account.js'
import type { RenderContext } from './render-context.js'

// Bounds of the search in the state for the types of the tables of one transaction.
const MOST_HANDLES = 16
const MOST_ACCOUNTS = 8
const MOST_KEYS = 256
const MOST_BYTES = 512 << 10

const FRAMEWORK = parseAddress('0x1')

/** Types of the keys and values of a table. */
export interface TableTypes {
  readonly keyType: TypeTag
  readonly valueType: TypeTag
}

/**
 * The types of the tables that a transaction wrote. They are known if one of its writes holds the handle, or a resource
 * of the framework or of an account that it wrote, among the first of each.
 */
export class WrittenTables {
  readonly #context: RenderContext
  readonly #writes: readonly Pick<WriteOp, 'key' | 'value'>[]
  readonly #walker: ValueWalker
  #types: Map<string, TableTypes> | undefined

  constructor(context: RenderContext, writes: readonly Pick<WriteOp, 'key' | 'value'>[]) {
    const { modules, view } = context
    this.#context = context
    this.#writes = writes
    this.#walker = new ValueWalker(
      (id) => modules.find(view, id)?.read(),
      (struct, reader) => this.#visit(struct, reader),
    )
  }

  /** The types of a table; undefined if they are not known. */
  typesOf(handle: Uint8Array): TableTypes | undefined {
    this.#types ??= this.#search()
    return this.#types.get(bytesToHexDigits(handle))
  }

  #search(): Map<string, TableTypes> {
    const types = new Map<string, TableTypes>()
    this.#types = types
    const items: { readonly handle: Uint8Array; readonly value: Uint8Array | null }[] = []
    const accounts = new Map([[bytesToHexDigits(FRAMEWORK), FRAMEWORK]])
    for (const { key, value } of this.#writes) {
      const decoded = decodeStateKey(key)
      if (decoded.kind === 'tableItem') items.push({ handle: decoded.handle, value })
      else if (decoded.kind === 'resource' || decoded.kind === 'resourceGroup') {
        const name = bytesToHexDigits(decoded.address)
        if (accounts.size < MOST_ACCOUNTS) accounts.set(name, decoded.address)
        if (value) this.#walkResource(decoded, value)
      }
    }
    this.#walkItems(items)
    const unknown = items.filter(({ handle }) => !types.has(bytesToHexDigits(handle))).slice(0, MOST_HANDLES)
    if (unknown.length > 0) {
      for (const account of accounts.values()) this.#searchAccount(account, unknown)
      this.#walkItems(items)
    }
    return types
  }

  /** Walks through the items of known tables, whose values may hold further tables. */
  #walkItems(items: readonly { readonly handle: Uint8Array; readonly value: Uint8Array | null }[]): void {
    let left = items
    for (let known = -1; known !== this.#types!.size; ) {
      known = this.#types!.size
      left = left.filter(({ handle, value }) => {
        const types = this.#types!.get(bytesToHexDigits(handle))
        if (types && value) this.#walk(types.valueType, value)
        return !types
      })
    }
  }

  #searchAccount(account: Uint8Array, unknown: readonly { readonly handle: Uint8Array }[]): void {
    let [keys, bytes] = [0, 0]
    for (const { key, value } of scanAccount(this.#context.view, account, 'resources', undefined)) {
      keys++
      bytes += value.length
      if (keys > MOST_KEYS || bytes > MOST_BYTES) return
      if (!unknown.some(({ handle }) => indexOfBytes(value, handle) >= 0)) continue
      const decoded = decodeStateKey(key)
      if (decoded.kind === 'resource' || decoded.kind === 'resourceGroup') this.#walkResource(decoded, value)
    }
  }

  #walkResource({ kind, tag }: { readonly kind: string; readonly tag: StructTag }, value: Uint8Array): void {
    if (kind === 'resource') {
      this.#walk(tag, value)
      return
    }
    try {
      for (const { name, bytes } of readResourceGroup(value)) this.#walk(name, bytes)
    } catch (error) {
      if (!isLedgerStateError(error, 'invalid_bcs')) throw error
    }
  }

  /** Walks through a value as far as it can be read. */
  #walk(type: TypeTag, bytes: Uint8Array): void {
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
    this.#types!.set(bytesToHexDigits(handle), { keyType, valueType })
    return false
  }
}
