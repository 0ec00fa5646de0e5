import { bytesToLatin1 } from '@ledger-state/core/bytes'
import { PartedMap } from '../parted-map.js'
import type { Type } from '../types/type.js'
import { PlaceMap } from './place-map.js'
import { areSameBytes } from './same-bytes.js'

/** Most items that are compared one by one. */
const MOST_COMPARED = 8

interface Item<Value> {
  readonly type: Type
  readonly handle: string
  /** BCS of the table's key. */
  readonly key: Uint8Array
  readonly value: Value
}

/**
 * Values by the place of a table item: its type, the handle of the table, and the BCS of the key. Tables differ by the type
 * of their items, too: a hostile module may read one item as two types. A few items are compared one by one, which is
 * faster than to make texts of their keys.
 */
export class ItemMap<Value extends NonNullable<unknown>> {
  readonly #few: Item<Value>[] = []
  /** All items by the texts of their keys, once there are many. */
  #tables: PlaceMap<Type, PartedMap<string, Value>> | undefined

  get(type: Type, handle: string, key: Uint8Array): Value | undefined {
    if (this.#tables) return this.#tables.get(type, handle)?.get(bytesToLatin1(key))
    for (const item of this.#few) {
      if (item.type === type && item.handle === handle && areSameBytes(item.key, key)) return item.value
    }
    return undefined
  }

  /** Adds a value at a place that has none. The bytes of the key must not change. */
  add(type: Type, handle: string, key: Uint8Array, value: Value): void {
    const item = { type, handle, key, value }
    if (this.#tables) addTo(this.#tables, item)
    else if (this.#few.length < MOST_COMPARED) this.#few.push(item)
    else {
      this.#tables = new PlaceMap()
      for (const one of this.#few) addTo(this.#tables, one)
      addTo(this.#tables, item)
      this.#few.length = 0
    }
  }
}

function addTo<Value extends NonNullable<unknown>>(
  tables: PlaceMap<Type, PartedMap<string, Value>>,
  { type, handle, key, value }: Item<Value>,
): void {
  let table = tables.get(type, handle)
  if (!table) {
    table = new PartedMap()
    tables.add(type, handle, table)
  }
  table.set(bytesToLatin1(key), value)
}
