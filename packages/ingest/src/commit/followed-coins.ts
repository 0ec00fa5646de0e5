import { ADDRESS_LENGTH, type Write } from '@ledger-state/core'
import {
  addressIn,
  type CoinName,
  coinChanges,
  coinNameOf,
  coinTypeIn,
  isCoinStore,
  readCoinType,
} from '@ledger-state/records'
import { keyName } from '@ledger-state/records/writes-hash'
import { STATE_KEY_ADDRESS_AT } from '@ledger-state/type-tag'
import { AddressTable, NO_PLACE } from './address-table.js'
import { UnknownKeys } from './unknown-keys.js'
import type { ValuesBefore } from './values-before.js'

const NOTHING: Write[] = []
/** Coin stores of a generation of the table, about 50 bytes each. */
const MOST_STORES = 100_000
/** Bytes of remembered names of coin types for each store of a generation. */
const NAME_BYTES_PER_STORE = 20
/** Bits of the value of a store: it exists; a write of the commit waits for `write`. */
const EXISTS = 1
const WAITS = 2
const ADDRESS_END = STATE_KEY_ADDRESS_AT + ADDRESS_LENGTH

/** A coin type, and the number under which the table has its stores. */
export interface NumberedCoin {
  readonly name: CoinName
  readonly number: number
}

/** Follows coin stores through their writes, and derives the index of them. It remembers which ones exist. */
export class FollowedCoins {
  readonly #table: AddressTable
  readonly #mostNameBytes: number
  /** Coin types by their BCS as texts. */
  #coins = new Map<string, NumberedCoin>()
  #nameBytes = 0
  /** A coin type that was forgotten gets another number. */
  #nextNumber = 0
  /** Key of a store of the last coin type: most stores that are written are of one type. */
  #lastKey = new Uint8Array(0)
  #lastCoin: NumberedCoin | undefined
  readonly #unknown = new UnknownKeys()

  /** @param most coin stores of a generation of the table */
  constructor(most = MOST_STORES) {
    this.#table = new AddressTable(1, most)
    this.#mostNameBytes = NAME_BYTES_PER_STORE * most
  }

  /** The coin type in the key of a coin store; undefined for other keys. */
  coinIn(key: Uint8Array): NumberedCoin | undefined {
    if (this.#isOfLastCoin(key)) return this.#lastCoin
    const bcs = coinTypeIn(key)
    const coin = bcs && this.#numbered(bcs)
    if (!coin) return undefined
    this.#lastKey = Uint8Array.from(key)
    this.#lastCoin = coin
    return coin
  }

  /** Place of the store with a key, which is valid until `forgetOld`. */
  placeOf(key: Uint8Array, { number }: NumberedCoin): number {
    const known = this.#table.find(key, STATE_KEY_ADDRESS_AT, number)
    if (known !== NO_PLACE) return known
    const place = this.#table.add(key, STATE_KEY_ADDRESS_AT, number)
    this.#table.bytes[place] = WAITS
    this.#unknown.add(key, place)
    return place
  }

  /** Whether a write is known to change nothing. If not, all further writes of the store wait for `write`, too. */
  isSame(place: number, value: Uint8Array | null): boolean {
    const { bytes } = this.#table
    if (bytes[place] === stateOf(value)) return true
    bytes[place]! |= WAITS
    return false
  }

  /** Asks for the values of unknown stores. */
  ask(before: ValuesBefore): void {
    this.#unknown.ask(before)
  }

  /** Reads the values that were asked for. */
  load(before: ValuesBefore): void {
    const { bytes } = this.#table
    this.#unknown.take(before, (value, place) => {
      bytes[place] = WAITS | stateOf(value)
    })
  }

  /** Returns the changes of the index at a version that writes a store, after all earlier writes. */
  write(place: number, { name }: NumberedCoin, version: bigint, key: Uint8Array, value: Uint8Array | null): Write[] {
    const { bytes } = this.#table
    const before = bytes[place]! & EXISTS
    const after = stateOf(value)
    bytes[place] = after
    if (before === after) return NOTHING
    return coinChanges(name, addressIn(key), version, before === EXISTS, after === EXISTS)
  }

  /** The rows of the index for a coin store of an imported state. */
  rowsOf(key: Uint8Array, { name }: NumberedCoin, version: bigint, value: Uint8Array): readonly Write[] {
    return coinChanges(name, addressIn(key), version, false, isCoinStore(value))
  }

  /** Forgets stores that were not written for long, once there are many, and coin types, once their names are long. */
  forgetOld(): void {
    this.#table.renew()
    if (this.#nameBytes <= this.#mostNameBytes) return
    this.#coins = new Map()
    this.#nameBytes = 0
    this.#lastCoin = undefined
  }

  #isOfLastCoin(key: Uint8Array): boolean {
    const last = this.#lastKey
    if (key.length !== last.length || key[0] !== 0 || !this.#lastCoin) return false
    for (let at = key.length - 1; at >= ADDRESS_END; at--) if (key[at] !== last[at]) return false
    return true
  }

  #numbered(bcs: Uint8Array): NumberedCoin | undefined {
    const text = keyName(bcs)
    const known = this.#coins.get(text)
    if (known) return known
    const tag = readCoinType(bcs)
    if (!tag) return undefined
    const coin = { name: coinNameOf(tag), number: this.#nextNumber++ }
    this.#coins.set(text, coin)
    this.#nameBytes += text.length + 4 * coin.name.text.length
    return coin
  }
}

function stateOf(value: Uint8Array | null): number {
  return value !== null && isCoinStore(value) ? EXISTS : 0
}
