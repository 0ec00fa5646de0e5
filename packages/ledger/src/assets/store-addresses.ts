import { ADDRESS_LENGTH } from '@ledger-state/core'
import { primaryStoreAddress } from '@ledger-state/proof'

/** Number of slots. The entry of an owner and an asset may be in either of two adjacent slots. */
const PLACES = 65_536
const OWNER_AT = 8
const ADDRESS_AT = OWNER_AT + ADDRESS_LENGTH
/** Layout of a place: u64 number of the asset, 0 for an empty place | owner | address of the store. */
const PLACE_LENGTH = ADDRESS_AT + ADDRESS_LENGTH

/** A fungible asset, by the address of its metadata. Its number, starting at 1, is never reused. */
export interface NumberedAsset {
  readonly number: number
  readonly metadata: Uint8Array
}

/**
 * Cache of derived addresses of primary stores, in one block of 4 MiB. A look-up touches two cache lines; a map with
 * texts as keys would cost as much as the hash that it saves.
 */
export class PrimaryStoreAddresses {
  /** The block; allocated when the first address is asked for. */
  #places: Uint8Array | undefined

  /** Writes the address of a primary store into `target`. */
  write(owner: Uint8Array, asset: NumberedAsset, target: Uint8Array, targetStart: number): void {
    this.#places ??= new Uint8Array(PLACES * PLACE_LENGTH)
    const places = this.#places
    const first = firstPlaceOf(owner, asset.number) * PLACE_LENGTH
    let start = first
    if (!holds(places, start, owner, asset.number)) start += PLACE_LENGTH
    if (start !== first && !holds(places, start, owner, asset.number)) {
      // The newest entry comes first.
      places.copyWithin(start, first, start)
      start = first
      writeWord(places, start, asset.number)
      writeWord(places, start + 4, asset.number / 2 ** 32)
      places.set(owner, start + OWNER_AT)
      places.set(primaryStoreAddress(owner, asset.metadata), start + ADDRESS_AT)
    }
    for (let at = 0; at < ADDRESS_LENGTH; at++) target[targetStart + at] = places[start + ADDRESS_AT + at]!
  }
}

function holds(places: Uint8Array, start: number, owner: Uint8Array, number: number): boolean {
  if (readWord(places, start) !== (number | 0) || readWord(places, start + 4) !== ((number / 2 ** 32) | 0)) return false
  for (let at = 0; at < ADDRESS_LENGTH; at++) if (places[start + OWNER_AT + at] !== owner[at]) return false
  return true
}

/**
 * Index of the first of two places, an even number. Most addresses are hashes; the others are small numbers, which
 * differ in their last bytes.
 */
function firstPlaceOf(owner: Uint8Array, number: number): number {
  const mixed = Math.imul(readWord(owner, ADDRESS_LENGTH - 4), 0x9e3779b1) ^ Math.imul(number, 0x85ebca6b)
  return (mixed >>> 16) & (PLACES - 2)
}

/** The low 32 bits of a whole number. */
function writeWord(bytes: Uint8Array, at: number, value: number): void {
  for (let byte = 0; byte < 4; byte++) bytes[at + byte] = (value | 0) >>> (8 * byte)
}

/** Four bytes as a signed number. */
function readWord(bytes: Uint8Array, at: number): number {
  return bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)
}
