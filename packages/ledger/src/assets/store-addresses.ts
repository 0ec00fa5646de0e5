import { ADDRESS_LENGTH } from '@ledger-state/core'
import { primaryStoreAddress } from '@ledger-state/proof'

/** Number of places. The entry of an owner and an asset may be in either of two adjacent places. */
const PLACES = 65_536
const OWNER_AT = 2
const ADDRESS_WORDS = ADDRESS_LENGTH / 4
const ADDRESS_AT = OWNER_AT + ADDRESS_WORDS
/** Layout of a place in words of 32 bits: number of the asset (low, high), 0 for an empty place | owner | address of the store. */
const PLACE_WORDS = ADDRESS_AT + ADDRESS_WORDS

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
  #places: Int32Array | undefined

  /** Writes the address of a primary store into `target`. */
  write(owner: Uint8Array, asset: NumberedAsset, target: Uint8Array, targetStart: number): void {
    this.#places ??= new Int32Array(PLACES * PLACE_WORDS)
    const places = this.#places
    const first = firstPlaceOf(owner, asset.number) * PLACE_WORDS
    let start = first
    if (!holds(places, start, owner, asset.number)) start += PLACE_WORDS
    if (start !== first && !holds(places, start, owner, asset.number)) {
      // The newest entry comes first.
      places.copyWithin(start, first, start)
      start = first
      places[start] = asset.number
      places[start + 1] = asset.number / 2 ** 32
      writeWords(places, start + OWNER_AT, owner)
      writeWords(places, start + ADDRESS_AT, primaryStoreAddress(owner, asset.metadata))
    }
    let byte = targetStart
    for (let at = start + ADDRESS_AT; at < start + PLACE_WORDS; at++) {
      const word = places[at]!
      target[byte++] = word
      target[byte++] = word >>> 8
      target[byte++] = word >>> 16
      target[byte++] = word >>> 24
    }
  }
}

function holds(places: Int32Array, start: number, owner: Uint8Array, number: number): boolean {
  if (places[start] !== (number | 0) || places[start + 1] !== ((number / 2 ** 32) | 0)) return false
  for (let at = 0; at < ADDRESS_WORDS; at++) {
    if (places[start + OWNER_AT + at] !== readWord(owner, 4 * at)) return false
  }
  return true
}

function writeWords(places: Int32Array, start: number, address: Uint8Array): void {
  for (let at = 0; at < ADDRESS_WORDS; at++) places[start + at] = readWord(address, 4 * at)
}

/**
 * Index of the first of two places, an even number. Most addresses are hashes; the others are small numbers, which
 * differ in their last bytes.
 */
function firstPlaceOf(owner: Uint8Array, number: number): number {
  const mixed = Math.imul(readWord(owner, ADDRESS_LENGTH - 4), 0x9e3779b1) ^ Math.imul(number, 0x85ebca6b)
  return (mixed >>> 16) & (PLACES - 2)
}

/** Four bytes as a signed number. */
function readWord(bytes: Uint8Array, at: number): number {
  return bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)
}
