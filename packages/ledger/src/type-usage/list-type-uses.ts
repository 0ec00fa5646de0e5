import { ByteWriter, isLedgerStateError, type KeyedEntry } from '@ledger-state/core'
import { indexOfBytes, keyAfter } from '@ledger-state/core/bytes'
import type { StateView } from '@ledger-state/engine'
import { readModuleInterface, readResourceGroup } from '@ledger-state/move-module'
import { accountKeyPrefix, decodeStateKey, isModuleKey, type StructTag } from '@ledger-state/type-tag'
import type { Listing, ListOptions } from '../listings/listing.js'
import { scanFrom } from '../listings/scan-from.js'
import { declarationsWith } from './declarations-with.js'
import { type StructName, tagNames } from './tag-names.js'

/** Use of a type: by a resource of it, or with it as an argument; or by declarations of a module. */
export type TypeUse =
  | { readonly kind: 'resource'; readonly address: Uint8Array; readonly tag: StructTag }
  | {
      readonly kind: 'module'
      readonly address: Uint8Array
      readonly name: string
      /** Names of its types and functions in whose fields, parameters or results the type stands. */
      readonly declarations: readonly string[]
    }

/** One page of a search for uses. */
export interface TypeUses extends Listing<TypeUse> {
  /** State keys that were looked at. */
  readonly scanned: number
}

/** State keys that one page looks at, in some milliseconds: most of a state uses a type nowhere. */
const MOST_SCANNED_KEYS = 1_000
/** Bytes of the values that it looks at. */
const MOST_SCANNED_BYTES = 8 << 20
/** Parsing a value costs this many times as much as looking for the type's bytes in it. */
const COST_OF_PARSING = 16
/** Keys that are asked for at once: over an async engine all of them are loaded. */
const KEYS_OF_SCAN = 64

/** All keys of modules, resources and groups, and no key of a table item. */
const ACCOUNTS = accountKeyPrefix(new Uint8Array(0))

/**
 * Searches the accounts for uses of a type, in the order of their state keys' bytes; values are not searched, nor are tables. There
 * is no index: a page looks at a bounded part of the state, and may be empty and have a cursor. `limit` counts state keys with uses.
 */
export function listTypeUses(view: StateView, type: StructName, { start, limit, isFull }: ListOptions): TypeUses {
  const search = new UseSearch(type)
  let cursor: Uint8Array | undefined
  let scanned = 0
  function* uses(): Generator<TypeUse> {
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
      const here = search.usesOf(entry)
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

/** Looks for bytes that every use has before it reads anything. */
class UseSearch {
  readonly #type: StructName
  /** A struct tag in BCS begins so. */
  readonly #tagBytes: Uint8Array
  /** Names as a module has them in its table of identifiers. */
  readonly #names: readonly Uint8Array[]

  constructor(type: StructName) {
    const { address, module, name } = type
    this.#type = type
    this.#tagBytes = new ByteWriter().bytes(address).string(module).string(name).toBytes()
    this.#names = [address, ...[module, name].map((one) => new ByteWriter().string(one).toBytes())]
  }

  mayUse({ key, value }: KeyedEntry): boolean {
    if (isModuleKey(key)) return this.#names.every((one) => indexOfBytes(value, one) >= 0)
    // A group names its members in its value.
    return indexOfBytes(key, this.#tagBytes) >= 0 || indexOfBytes(value, this.#tagBytes) >= 0
  }

  usesOf({ key, value }: KeyedEntry): readonly TypeUse[] {
    return isModuleKey(key) ? this.#inModule(key, value) : this.#inResources(key, value)
  }

  #inModule(key: Uint8Array, value: Uint8Array): readonly TypeUse[] {
    const decoded = decodeStateKey(key)
    if (decoded.kind !== 'module') return []
    const { address, name } = decoded
    const declarations = readIfSound(() => declarationsWith(readModuleInterface(value), this.#type)) ?? []
    return declarations.length === 0 ? [] : [{ kind: 'module', address, name, declarations }]
  }

  #inResources(key: Uint8Array, value: Uint8Array): readonly TypeUse[] {
    const decoded = decodeStateKey(key)
    if (decoded.kind !== 'resource' && decoded.kind !== 'resourceGroup') return []
    const { address, tag, kind } = decoded
    const tags =
      kind === 'resource' ? [tag] : (readIfSound(() => readResourceGroup(value)) ?? []).map((member) => member.name)
    return tags.filter((one) => tagNames(one, this.#type)).map((one) => ({ kind: 'resource', address, tag: one }))
  }
}

/** A value that cannot be read counts as using no type. */
function readIfSound<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (isLedgerStateError(error, 'invalid_bcs', 'invalid_module')) return undefined
    throw error
  }
}
