import { ByteReader, bytesToHex } from '@ledger-state/core'
import { copyBytes } from '@ledger-state/core/bytes'
import { addressIn, coinTypeIn, isObjectKey, readCoinStore, readHeldObject } from '@ledger-state/records'
import { readTypeTag, typeTagToText } from '@ledger-state/type-tag'
import { ByteArena } from './byte-arena.js'
import { type RowGroup, TableRows } from './table-rows.js'
import type { WriteReader } from './write-reader.js'
import type { WrittenKeyGroup, WrittenKeys } from './written-keys.js'

/** Finds the value of a key before the range. */
export type ValueBefore = (key: Uint8Array) => Uint8Array | null | undefined

/** Values of a key in the order of their versions, each with its write. A value is valid until the next one is read. */
type ValuesOfKey = Iterable<readonly [write: number, value: Uint8Array | null]>

/** The table of balances of a range. */
export function balanceRows(writes: WriteReader, keys: WrittenKeys, before: ValueBefore): TableRows {
  const rows = new TableRows('balances')
  const arena = new ByteArena()
  function* valuesOf(group: WrittenKeyGroup): ValuesOfKey {
    for (const write of keys.writesOf(group)) {
      arena.clear()
      yield [write, writes.value(write, arena)]
    }
  }
  for (const group of keys.groups) {
    const read = readerOf(group.key)
    if (read) addChanges(rows, writes, valuesOf(group), group, read, before)
  }
  return rows
}

interface Held {
  readonly owner: string
  readonly asset: string
  readonly amount: bigint
}

type ReadHeld = (stored: Uint8Array | null | undefined) => Held | undefined

function addChanges(
  rows: TableRows,
  writes: WriteReader,
  values: ValuesOfKey,
  { key }: WrittenKeyGroup,
  read: ReadHeld,
  before: ValueBefore,
): void {
  const storage = bytesToHex(addressIn(key))
  let last: { readonly held: Held; readonly group: RowGroup } | undefined
  const groupOf = (held: Held): RowGroup => {
    if (last?.held.owner === held.owner && last.held.asset === held.asset) return last.group
    const { owner, asset } = held
    const group = rows.groupOf(`${storage} ${owner} ${asset}`, () => [owner, asset, storage])
    last = { held, group }
    return group
  }
  let had = read(before(key))
  for (const [write, value] of values) {
    const add = (held: Held, from: bigint, to: bigint): void => {
      if (from !== to) rows.add(groupOf(held), writes.version(write), writes.time(write), from, to)
    }
    const has = read(value)
    if (had && has && had.owner === has.owner && had.asset === has.asset) add(has, had.amount, has.amount)
    else {
      if (had) add(had, had.amount, 0n)
      if (has) add(has, 0n, has.amount)
    }
    had = has
  }
}

/** Returns a reader of the balances in values of a key; undefined for a key without balances. */
function readerOf(key: Uint8Array): ReadHeld | undefined {
  const coin = coinTypeIn(key)
  if (coin) {
    const owner = bytesToHex(addressIn(key))
    const asset = typeTagToText(readTypeTag(new ByteReader(coin)))
    return (stored) => {
      const coins = stored ? readCoinStore(stored) : undefined
      return coins && { owner, asset, amount: coins.amount }
    }
  }
  if (!isObjectKey(key)) return undefined
  const texts = new AddressTexts()
  return (stored) => {
    const object = stored ? readHeldObject(stored) : undefined
    if (!object?.store) return undefined
    const { asset, amount } = object.store
    return { owner: texts.of(object.owner), asset: texts.of(asset), amount }
  }
}

/** Texts of the owner and the asset of an object, which hardly change. */
class AddressTexts {
  readonly #known: { readonly bytes: Uint8Array; readonly text: string }[] = []

  of(bytes: Uint8Array): string {
    for (const one of this.#known) if (Buffer.compare(one.bytes, bytes) === 0) return one.text
    const text = bytesToHex(bytes)
    if (this.#known.length === 4) this.#known.shift()
    this.#known.push({ bytes: copyBytes(bytes), text })
    return text
  }
}
