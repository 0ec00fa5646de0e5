import { addressToShortHex, ByteReader, bytesToHex } from '@ledger-state/core'
import { eventsAtVersion, type Ledger, type LedgerState, transactionAt, writtenValueToJson } from '@ledger-state/ledger'
import { addressIn, coinTypeIn, isObjectKey, isOwnKey, readCoinStore, readHeldObject } from '@ledger-state/records'
import { type decodeStateKey as Decode, decodeStateKey, readTypeTag, typeTagToText } from '@ledger-state/type-tag'
import { type TableName, TableRows } from './tables.js'

type DecodedKey = ReturnType<typeof Decode>

export interface WrittenKey {
  readonly key: Uint8Array
  readonly value: Uint8Array | null
}

/** Finds the value of a key before a version. */
export type ValueBefore = (key: Uint8Array) => Uint8Array | null | undefined

/** The rows of a range of versions. */
export class VersionRows {
  readonly tables: ReadonlyMap<TableName, TableRows>
  readonly #ledger: Ledger

  constructor(ledger: Ledger, names: readonly TableName[]) {
    this.#ledger = ledger
    this.tables = new Map(names.map((name) => [name, new TableRows(name)]))
  }

  get bytes(): number {
    return [...this.tables.values()].reduce((sum, { bytes }) => sum + bytes, 0)
  }

  /** Adds what a version wrote, or a part of the state at it, where nothing was before. */
  addVersion(version: bigint, writes: Iterable<WrittenKey>, isState = false): void {
    const state = this.#ledger.at(version)
    const time = state.source.reader.blockAt(version).block.timestampUsec
    const before: ValueBefore =
      isState || version === 0n ? () => undefined : (key) => this.#ledger.at(version - 1n).storedView.get(key)
    for (const write of writes) {
      if (isOwnKey(write.key)) continue
      this.tables.get('writes')?.add(version, time, ...this.#cellsOf(state, write))
      this.#addBalances(version, time, write, before)
    }
    if (isState) return
    this.#addTransaction(state, version, time)
    this.#addEvents(state, version, time)
  }

  addBlock(height: bigint, epoch: bigint, first: bigint, last: bigint, timestampUsec: bigint): void {
    this.tables.get('blocks')?.add(height, epoch, first, last, timestampUsec)
  }

  #cellsOf(state: LedgerState, { key, value }: WrittenKey) {
    const decoded = decodeStateKey(key)
    const { address, type } = placeOf(decoded)
    const json = value ? writtenValueToJson(state, { key, value }) : undefined
    return [address, KINDS[decoded.kind], type, key, json, value ?? undefined, value === null] as const
  }

  #addBalances(version: bigint, time: bigint, { key, value }: WrittenKey, before: ValueBefore): void {
    const rows = this.tables.get('balances')
    if (!rows) return
    const coin = coinTypeIn(key)
    if (!coin && !isObjectKey(key)) return
    const [had, has] = coin
      ? [coinHeld(key, before(key)), coinHeld(key, value)]
      : [objectHeld(before(key)), objectHeld(value)]
    const storage = bytesToHex(addressIn(key))
    const coinText = coin && typeTagToText(readTypeTag(new ByteReader(coin)))
    const add = (owner: string, asset: string, from: bigint, to: bigint): void => {
      if (from !== to) rows.add(version, time, owner, coinText ?? asset, storage, from, to)
    }
    if (had && has && had.owner === has.owner && had.asset === has.asset)
      add(has.owner, has.asset, had.amount, has.amount)
    else {
      if (had) add(had.owner, had.asset, had.amount, 0n)
      if (has) add(has.owner, has.asset, 0n, has.amount)
    }
  }

  #addTransaction(state: LedgerState, version: bigint, time: bigint): void {
    const rows = this.tables.get('transactions')
    const found = rows && transactionAt(state, version)
    if (!found) return
    const sender = found.sender && addressToShortHex(found.sender)
    rows.add(version, time, found.hash, `${found.kind}_transaction`, found.isSuccess, sender, found.entryFunction)
  }

  #addEvents(state: LedgerState, version: bigint, time: bigint): void {
    const rows = this.tables.get('events')
    if (!rows) return
    for (const one of eventsAtVersion(state, version)) {
      rows.add(version, time, BigInt(one.index), typeTagToText(one.event.type), one.dataToJson())
    }
  }
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

function coinHeld(key: Uint8Array, stored: Uint8Array | null | undefined): Held | undefined {
  const coins = stored ? readCoinStore(stored) : undefined
  return coins && { owner: bytesToHex(addressIn(key)), asset: '', amount: coins.amount }
}

function objectHeld(stored: Uint8Array | null | undefined): Held | undefined {
  const object = stored ? readHeldObject(stored) : undefined
  if (!object?.store) return undefined
  const { asset, amount } = object.store
  return { owner: bytesToHex(object.owner), asset: bytesToHex(asset), amount }
}
