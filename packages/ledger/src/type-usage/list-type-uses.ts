import { ByteWriter, isLedgerStateError, type KeyedEntry, type Steps } from '@ledger-state/core'
import { indexOfBytes, keyAfter } from '@ledger-state/core/bytes'
import { type StateView, scanFrom } from '@ledger-state/engine'
import { readModuleInterface, readResourceGroupInSteps } from '@ledger-state/move-module'
import { accountKeyPrefix, decodeStateKey, isModuleKey, type StructTag } from '@ledger-state/type-tag'
import { type Listing, type ListOptions, withoutPauses } from '../listings/listing.js'
import type { LedgerState } from '../state/ledger-state.js'
import { declarationsWith } from './declarations-with.js'
import { type StructName, tagNames } from './tag-names.js'

/** A use of a type: a resource of the type or with it as an argument, or declarations of a module. */
export type TypeUse =
  | { readonly kind: 'resource'; readonly address: Uint8Array; readonly tag: StructTag }
  | {
      readonly kind: 'module'
      readonly address: Uint8Array
      readonly name: string
      /** Names of the module's types and functions that have the type in their fields, parameters or results. */
      readonly declarations: readonly string[]
    }

/** One page of a search for uses, by default without chances to pause. */
export interface TypeUses<Item = TypeUse> extends Listing<Item> {
  /** Number of state keys that were looked at. */
  readonly scanned: number
}

/** Most state keys that one page looks at, in some milliseconds. Most of a state does not use a given type. */
export const MOST_SCANNED_KEYS = 1_000
/** Most bytes of the values that one page looks at. */
const MOST_SCANNED_BYTES = 8 << 20
/** Cost of parsing a value, in multiples of the cost of searching it for the type's bytes. */
const COST_OF_PARSING = 16
/** Keys that are asked for at once; an async engine loads all of them. */
const KEYS_OF_SCAN = 64

/** Prefix of all keys of modules, resources and groups, but of no key of a table item. */
const ACCOUNTS = accountKeyPrefix(new Uint8Array(0))

/**
 * Searches the accounts for uses of a type, in the order of their state keys' bytes; values are not searched, nor are
 * tables. There is no index: a page looks at a bounded part of the state, so it may be empty and yet have a cursor.
 * `limit` counts state keys with uses.
 */
export function listTypeUses(state: LedgerState, type: StructName, options: ListOptions = {}): TypeUses {
  const listing = listTypeUsesInSteps(state, type, options)
  return {
    get cursor() {
      return listing.cursor
    },
    get scanned() {
      return listing.scanned
    },
    [Symbol.iterator]: () => withoutPauses(listing),
  }
}

/** The same. It also yields undefined, so that the caller can pause: a group may have 20,000 members. */
export function listTypeUsesInSteps(
  { view }: LedgerState,
  type: StructName,
  { start, limit, isFull }: ListOptions = {},
): TypeUses<TypeUse | undefined> {
  const search = new UseSearch(type)
  let cursor: Uint8Array | undefined
  let scanned = 0
  function* uses(): Generator<TypeUse | undefined> {
    let bytes = 0
    let found = 0
    for (const entry of scanAccounts(view, start)) {
      const isEnd = scanned === MOST_SCANNED_KEYS || bytes >= MOST_SCANNED_BYTES || found === limit
      if (isEnd || (found > 0 && isFull?.())) {
        cursor = entry.key
        return
      }
      scanned++
      bytes += entry.value.length
      if (!search.mayUse(entry)) continue
      bytes += entry.value.length * COST_OF_PARSING
      const here = yield* search.usesOf(entry)
      if (here.length > 0) found++
      yield* here
    }
  }
  return {
    get cursor() {
      return cursor
    },
    get scanned() {
      return scanned
    },
    [Symbol.iterator]: uses,
  }
}

function* scanAccounts(view: StateView, start: Uint8Array | undefined): Generator<KeyedEntry> {
  let from = start
  do {
    let last: Uint8Array | undefined
    let count = 0
    for (const entry of scanFrom(view, ACCOUNTS, { start: from, limit: KEYS_OF_SCAN })) {
      last = entry.key
      count++
      yield entry
    }
    from = count === KEYS_OF_SCAN ? keyAfter(last!) : undefined
  } while (from !== undefined)
}

/** Searches for bytes that every use contains before it parses anything. */
class UseSearch {
  readonly #type: StructName
  /** Bytes with which the type's struct tag begins in BCS. */
  readonly #tagBytes: Uint8Array
  /** Names as they are in a module's table of identifiers. */
  readonly #names: readonly Uint8Array[]

  constructor(type: StructName) {
    const { address, module, name } = type
    this.#type = type
    this.#tagBytes = new ByteWriter().bytes(address).string(module).string(name).toBytes()
    this.#names = [address, ...[module, name].map((one) => new ByteWriter().string(one).toBytes())]
  }

  mayUse({ key, value }: KeyedEntry): boolean {
    if (isModuleKey(key)) return this.#names.every((one) => indexOfBytes(value, one) >= 0)
    // The key names the resource or the group; a group has the names of its members in its value.
    return indexOfBytes(key, this.#tagBytes) >= 0 || indexOfBytes(value, this.#tagBytes) >= 0
  }

  *usesOf({ key, value }: KeyedEntry): Steps<readonly TypeUse[]> {
    return isModuleKey(key) ? this.#inModule(key, value) : yield* this.#inResources(key, value)
  }

  #inModule(key: Uint8Array, value: Uint8Array): readonly TypeUse[] {
    const decoded = decodeStateKey(key)
    if (decoded.kind !== 'module') return []
    const { address, name } = decoded
    const declarations = this.#declarationsIn(value)
    return declarations.length === 0 ? [] : [{ kind: 'module', address, name, declarations }]
  }

  /** A module that cannot be read uses no type. */
  #declarationsIn(module: Uint8Array): readonly string[] {
    try {
      return declarationsWith(readModuleInterface(module), this.#type)
    } catch (error) {
      if (isLedgerStateError(error, 'invalid_module')) return []
      throw error
    }
  }

  *#inResources(key: Uint8Array, value: Uint8Array): Steps<readonly TypeUse[]> {
    const decoded = decodeStateKey(key)
    if (decoded.kind !== 'resource' && decoded.kind !== 'resourceGroup') return []
    const { address, tag, kind } = decoded
    const tags = kind === 'resource' ? [tag] : yield* tagsInGroup(value)
    return tags.filter((one) => tagNames(one, this.#type)).map((one) => ({ kind: 'resource', address, tag: one }))
  }
}

/** The types of the members of a group. A group that cannot be read uses no type. */
function* tagsInGroup(group: Uint8Array): Steps<readonly StructTag[]> {
  try {
    return (yield* readResourceGroupInSteps(group)).map(({ name }) => name)
  } catch (error) {
    if (isLedgerStateError(error, 'invalid_bcs')) return []
    throw error
  }
}
