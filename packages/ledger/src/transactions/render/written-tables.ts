import { ADDRESS_LENGTH, bytesToHexDigits, isLedgerStateError, parseAddress, type Steps } from '@ledger-state/core'
import { indexOfBytes } from '@ledger-state/core/bytes'
import { readResourceGroupInSteps } from '@ledger-state/move-module'
import type { WriteOp } from '@ledger-state/proof/transactions'
import { decodeStateKey, type TypeTag } from '@ledger-state/type-tag'
import { scanAccount } from '../../accounts/scan-account.js'
import { TableWalker } from '../../tables/table-walker.js'
import type { RenderContext } from './render-context.js'

// Bounds of the search in the state for the types of the tables of one transaction.
const MOST_HANDLES = 16
const MOST_KEYS = 256
const MOST_BYTES = 8 << 20
/** Longest resource of the framework that is searched: only the registry of its packages has more than half a megabyte. */
const LONGEST_HOLDER = 64 << 10

const ACCESS_PATH = 0
const TABLE_ITEM = 1
/** Place of the address or the handle in a state key. */
const ID_AT = 1
const ID_END = ID_AT + ADDRESS_LENGTH

const FRAMEWORK = parseAddress('0x1')

/** Types of the keys and values of a table. */
export interface TableTypes {
  readonly keyType: TypeTag
  readonly valueType: TypeTag
}

type Resource = Pick<WriteOp, 'key' | 'value'>

interface Item {
  readonly handle: Uint8Array
  readonly value: Uint8Array | null
}

function once(ids: readonly Uint8Array[]): Uint8Array[] {
  return [...new Map(ids.map((id) => [bytesToHexDigits(id), id] as const)).values()]
}

/**
 * The types of the tables that a transaction wrote. They are known if one of its writes holds the handle, or one of the
 * first resources of the framework's account.
 */
export class WrittenTables {
  readonly #context: RenderContext
  readonly #writes: readonly Pick<WriteOp, 'key' | 'value'>[]
  readonly #walker: TableWalker
  #types: Map<string, TableTypes> | undefined

  constructor(context: RenderContext, writes: readonly Pick<WriteOp, 'key' | 'value'>[]) {
    const { modules, view } = context
    this.#context = context
    this.#writes = writes
    this.#walker = new TableWalker(modules, view, ({ handle, keyType, valueType }) => {
      this.#types!.set(bytesToHexDigits(handle), { keyType, valueType })
      return false
    })
  }

  /** The types of a table; undefined if they are not known. The first call searches for those of all tables, in steps. */
  *typesOf(handle: Uint8Array): Steps<TableTypes | undefined> {
    this.#types ??= yield* this.#search()
    return this.#types.get(bytesToHexDigits(handle))
  }

  *#search(): Steps<Map<string, TableTypes>> {
    this.#types = new Map()
    const items: Item[] = []
    const resources: Resource[] = []
    for (const { key, value } of this.#writes) {
      if (key[0] === TABLE_ITEM) items.push({ handle: key.subarray(ID_AT, ID_END), value })
      else if (key[0] === ACCESS_PATH) resources.push({ key, value })
    }
    const wanted = once(items.map(({ handle }) => handle)).slice(0, MOST_HANDLES)
    for (const { key, value } of resources) if (value) yield* this.#walkHolder(key, value, wanted)
    yield* this.#walkItems(items)
    const unknown = wanted.filter((handle) => !this.#types!.has(bytesToHexDigits(handle)))
    if (unknown.length > 0) {
      yield* this.#searchFramework(unknown)
      yield* this.#walkItems(items)
    }
    return this.#types
  }

  /** Walks through the items of known tables, whose values may hold further tables. */
  *#walkItems(items: readonly Item[]): Steps<void> {
    let left = items
    for (let known = -1; known !== this.#types!.size; ) {
      known = this.#types!.size
      const others: Item[] = []
      for (const item of left) {
        yield
        const types = this.#types!.get(bytesToHexDigits(item.handle))
        if (!types) others.push(item)
        else if (item.value) this.#walker.walk(types.valueType, item.value)
      }
      left = others
    }
  }

  *#searchFramework(unknown: readonly Uint8Array[]): Steps<void> {
    let [keys, bytes] = [0, 0]
    for (const { key, value } of scanAccount(this.#context.view, FRAMEWORK, 'resources', undefined)) {
      keys++
      bytes += value.length
      if (keys > MOST_KEYS || bytes > MOST_BYTES) return
      if (value.length <= LONGEST_HOLDER) yield* this.#walkHolder(key, value, unknown)
    }
  }

  /** Walks through a resource or a group that has the bytes of a handle; finding out that it has none costs little. */
  *#walkHolder(key: Uint8Array, value: Uint8Array, handles: readonly Uint8Array[]): Steps<void> {
    yield
    if (!handles.some((handle) => indexOfBytes(value, handle) >= 0)) return
    try {
      const decoded = decodeStateKey(key)
      if (decoded.kind === 'resource') this.#walker.walk(decoded.tag, value)
      if (decoded.kind !== 'resourceGroup') return
      for (const { name, bytes } of yield* readResourceGroupInSteps(value)) {
        yield
        this.#walker.walk(name, bytes)
      }
    } catch (error) {
      if (!isLedgerStateError(error, 'invalid_bcs')) throw error
    }
  }
}
