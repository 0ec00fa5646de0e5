import { Buffer } from 'node:buffer'
import { hash } from 'node:crypto'
import { ADDRESS_LENGTH, parseAddress } from '@ledger-state/core'
import { type StructTag, typeTagToText } from '@ledger-state/type-tag'

// Schemes of ledger-formats.md, section 2.2.
const DERIVED_FROM_OBJECT = Uint8Array.of(0xfc)
const DERIVED_FROM_SEED = Uint8Array.of(0xfe)

const APTOS_COIN = '0x1::aptos_coin::AptosCoin'
const APTOS_FUNGIBLE_ASSET = parseAddress('0xa')

/** Address of the store that holds what `owner` has of a fungible asset by default. */
export function primaryStoreAddress(owner: Uint8Array, metadata: Uint8Array): Uint8Array {
  return sha3(owner, metadata, DERIVED_FROM_OBJECT)
}

/** A pair of owner and metadata has two places, next to each other. */
const PLACES = 65_536
const PAIR_LENGTH = 2 * ADDRESS_LENGTH
/** u8 1 where it is filled | owner | metadata | address of the store */
const PLACE_LENGTH = 1 + PAIR_LENGTH + ADDRESS_LENGTH

/**
 * Addresses of primary stores that were derived before, 6 MiB of them. One block of memory in which an answer costs two
 * or three cache lines; a map from texts costs as much as the hash that it spares.
 */
export class PrimaryStoreAddresses {
  readonly #places = new Uint8Array(PLACES * PLACE_LENGTH)

  /** Writes the address into `target`. */
  write(owner: Uint8Array, metadata: Uint8Array, target: Uint8Array, targetStart: number): void {
    const places = this.#places
    const first = firstPlaceOf(owner, metadata) * PLACE_LENGTH
    let start = first
    if (!this.#holds(start, owner, metadata)) start += PLACE_LENGTH
    if (start !== first && !this.#holds(start, owner, metadata)) {
      // The newest stands first.
      places.copyWithin(start, first, start)
      start = first
      places[start] = 1
      places.set(owner, start + 1)
      places.set(metadata, start + 1 + ADDRESS_LENGTH)
      places.set(primaryStoreAddress(owner, metadata), start + 1 + PAIR_LENGTH)
    }
    for (let at = 0; at < ADDRESS_LENGTH; at++) target[targetStart + at] = places[start + 1 + PAIR_LENGTH + at]!
  }

  #holds(start: number, owner: Uint8Array, metadata: Uint8Array): boolean {
    const places = this.#places
    if (places[start] !== 1) return false
    for (let at = 0; at < ADDRESS_LENGTH; at++) {
      if (places[start + 1 + at] !== owner[at] || places[start + 1 + ADDRESS_LENGTH + at] !== metadata[at]) return false
    }
    return true
  }
}

/** Even. Addresses are hashes, but for the small ones, which differ in their last bytes. */
function firstPlaceOf(owner: Uint8Array, metadata: Uint8Array): number {
  const mixed = Math.imul(lastBytes(owner), 0x9e3779b1) ^ Math.imul(lastBytes(metadata), 0x85ebca6b)
  return (mixed >>> 16) & (PLACES - 2)
}

function lastBytes(address: Uint8Array): number {
  const at = ADDRESS_LENGTH - 4
  return address[at]! | (address[at + 1]! << 8) | (address[at + 2]! << 16) | (address[at + 3]! << 24)
}

/** Address of the fungible asset that stands for a coin type. */
export function pairedMetadataAddress(coin: StructTag): Uint8Array {
  const text = typeTagToText(coin)
  if (text === APTOS_COIN) return APTOS_FUNGIBLE_ASSET
  return sha3(APTOS_FUNGIBLE_ASSET, Buffer.from(text), DERIVED_FROM_SEED)
}

function sha3(...parts: Uint8Array[]): Uint8Array {
  return new Uint8Array(hash('sha3-256', Buffer.concat(parts), 'buffer'))
}
