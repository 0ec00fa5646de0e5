import { addressToShortHex, ByteReader, bytesToHex } from '@ledger-state/core'
import {
  eventsAtVersion,
  hasTransactions,
  type Ledger,
  type LedgerState,
  transactionAt,
  writtenValueToJson,
} from '@ledger-state/ledger'
import { addressIn, coinTypeIn, isObjectKey, isOwnKey, readCoinStore, readHeldObject } from '@ledger-state/records'
import { type decodeStateKey as Decode, decodeStateKey, readTypeTag, typeTagToText } from '@ledger-state/type-tag'
import { type TableName, TableRows } from './tables.js'

type DecodedKey = ReturnType<typeof Decode>

export interface WrittenKey {
  readonly key: Uint8Array
  readonly value: Uint8Array | null
}

/** Finds the value of a key before a version. */
type ValueBefore = (key: Uint8Array) => Uint8Array | null | undefined

/** The rows of a range of versions. */
export class VersionRows {
  readonly tables: ReadonlyMap<TableName, TableRows>
  readonly #ledger: Ledger
  readonly #hasTransactions: boolean
  /** What was held by the last write of each key that holds something. */
  readonly #held = new Map<string, Held | undefined>()

  constructor(ledger: Ledger, names: readonly TableName[]) {
    this.#ledger = ledger
    this.#hasTransactions = hasTransactions(ledger.at())
    this.tables = new Map(names.map((name) => [name, new TableRows(name)]))
  }

  get bytes(): number {
    let bytes = this.#held.size * HELD_BYTES
    for (const table of this.tables.values()) bytes += table.bytes
    return bytes
  }

  /**
   * Adds what a version wrote, or a part of the state at it, where nothing was before.
   * @param time of its block, in microseconds
   */
  addVersion(version: bigint, time: bigint, writes: Iterable<WrittenKey>, isState = false): void {
    const state = this.#ledger.at(version)
    const before: ValueBefore =
      isState || version === 0n ? () => undefined : (key) => this.#ledger.at(version - 1n).storedView.get(key)
    for (const write of writes) {
      if (isOwnKey(write.key)) continue
      const name = keyToName(write.key)
      this.#addWrite(name, state, time, write)
      this.#addBalances(name, version, time, write, before)
    }
    if (isState || !this.#hasTransactions) return
    this.#addTransaction(state, version, time)
    this.#addEvents(state, version, time)
  }

  addBlock(height: bigint, epoch: bigint, first: bigint, last: bigint, timestampUsec: bigint): void {
    this.#addTo('blocks', height, epoch, first, last, timestampUsec)
  }

  /** Adds a row to a table whose rows share no cells. */
  #addTo(name: TableName, ...cells: Parameters<TableRows['add']>[1][]): void {
    const rows = this.tables.get(name)
    rows?.add(
      rows.groupOf('', () => []),
      ...cells,
    )
  }

  #addWrite(name: string, state: LedgerState, time: bigint, { key, value }: WrittenKey): void {
    const rows = this.tables.get('writes')
    if (!rows) return
    const group = rows.groupOf(name, () => {
      const decoded = decodeStateKey(key)
      const { address, type } = placeOf(decoded)
      return [address, KINDS[decoded.kind], type, key]
    })
    const json = value ? writtenValueToJson(state, { key, value }) : undefined
    // Bytes outside of the heap: texts of this size would cost the garbage collector more than the rest.
    const text = json === undefined ? undefined : Buffer.from(json)
    rows.add(group, state.version, time, text, value ?? undefined, value === null)
  }

  #addBalances(name: string, version: bigint, time: bigint, { key, value }: WrittenKey, before: ValueBefore): void {
    const rows = this.tables.get('balances')
    if (!rows) return
    const coin = coinTypeIn(key)
    if (!coin && !isObjectKey(key)) return
    const read = (stored: Uint8Array | null | undefined) => (coin ? coinHeld(key, coin, stored) : objectHeld(stored))
    const had = this.#held.has(name) ? this.#held.get(name) : read(before(key))
    const has = read(value)
    this.#held.set(name, has)
    const add = ({ owner, asset }: Held, from: bigint, to: bigint): void => {
      if (from === to) return
      const group = rows.groupOf(`${name} ${owner} ${asset}`, () => [owner, asset, bytesToHex(addressIn(key))])
      rows.add(group, version, time, from, to)
    }
    if (had && has && had.owner === has.owner && had.asset === has.asset) add(has, had.amount, has.amount)
    else {
      if (had) add(had, had.amount, 0n)
      if (has) add(has, 0n, has.amount)
    }
  }

  #addTransaction(state: LedgerState, version: bigint, time: bigint): void {
    const found = this.tables.has('transactions') ? transactionAt(state, version) : undefined
    if (!found) return
    const sender = found.sender && addressToShortHex(found.sender)
    this.#addTo(
      'transactions',
      version,
      time,
      found.hash,
      `${found.kind}_transaction`,
      found.isSuccess,
      sender,
      found.entryFunction,
    )
  }

  #addEvents(state: LedgerState, version: bigint, time: bigint): void {
    const rows = this.tables.get('events')
    if (!rows) return
    for (const one of eventsAtVersion(state, version)) {
      const type = typeTagToText(one.event.type)
      rows.add(
        rows.groupOf(type, () => [type]),
        version,
        time,
        BigInt(one.index),
        one.dataToJson(),
      )
    }
  }
}

/** Bytes in memory of what a key holds, with its name. */
const HELD_BYTES = 400

/** A key as a text that a map finds: a character for each byte. */
function keyToName(key: Uint8Array): string {
  return Buffer.from(key.buffer, key.byteOffset, key.length).toString('latin1')
}

const KINDS: Readonly<Record<DecodedKey['kind'], string>> = {
  module: 'module',
  resource: 'resource',
  resourceGroup: 'resource_group',
  tableItem: 'table_item',
  nativePosition: 'other',
  raw: 'other',
}

/** The address of a write, or the handle of its table, and its type or the name of its module. */
function placeOf(decoded: DecodedKey): { readonly address: string | undefined; readonly type: string | undefined } {
  switch (decoded.kind) {
    case 'module':
      return { address: bytesToHex(decoded.address), type: decoded.name }
    case 'resource':
    case 'resourceGroup':
      return { address: bytesToHex(decoded.address), type: typeTagToText(decoded.tag) }
    case 'tableItem':
      return { address: bytesToHex(decoded.handle), type: undefined }
    default:
      return { address: undefined, type: undefined }
  }
}

interface Held {
  readonly owner: string
  readonly asset: string
  readonly amount: bigint
}

function coinHeld(key: Uint8Array, coin: Uint8Array, stored: Uint8Array | null | undefined): Held | undefined {
  const coins = stored ? readCoinStore(stored) : undefined
  if (!coins) return undefined
  const asset = typeTagToText(readTypeTag(new ByteReader(coin)))
  return { owner: bytesToHex(addressIn(key)), asset, amount: coins.amount }
}

function objectHeld(stored: Uint8Array | null | undefined): Held | undefined {
  const object = stored ? readHeldObject(stored) : undefined
  if (!object?.store) return undefined
  const { asset, amount } = object.store
  return { owner: bytesToHex(object.owner), asset: bytesToHex(asset), amount }
}
