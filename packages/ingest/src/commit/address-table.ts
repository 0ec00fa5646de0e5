import { Buffer } from 'node:buffer'
import { randomInt } from 'node:crypto'
import { ADDRESS_LENGTH } from '@ledger-state/core'

/** Place of an address that a table does not have. */
export const NO_PLACE = -1

const WORD = 4
const ADDRESS_WORDS = ADDRESS_LENGTH / WORD
/** Words of a key: the address, and a number. */
const KEY_WORDS = ADDRESS_WORDS + 1
const KEY_LENGTH = WORD * KEY_WORDS
/** Entries that a generation has room for at first; a power of two. */
const FIRST_ENTRIES = 1_024
/** Slots for each entry; a power of two. */
const SLOTS_PER_ENTRY = 2
/** Highest bits of a hash in a slot. The others are the number of an entry, from 1; an empty slot is 0. */
const TAG_BITS = 0xff00_0000 | 0

/** Entries in the order in which they were added, each a key and a value, and an index of them by open addressing. */
class Generation {
  readonly #entryLength: number
  entries: Buffer
  view: DataView
  #count = 0
  #slots = new Int32Array(SLOTS_PER_ENTRY * FIRST_ENTRIES)
  #hashes = new Int32Array(FIRST_ENTRIES)

  constructor(valueLength: number) {
    this.#entryLength = WORD * Math.ceil((KEY_LENGTH + valueLength) / WORD)
    this.entries = Buffer.from(new ArrayBuffer(this.#entryLength * FIRST_ENTRIES))
    this.view = new DataView(this.entries.buffer)
  }

  get count(): number {
    return this.#count
  }

  /** Place of the value of a key. */
  find(key: Int32Array, hash: number): number {
    const slots = this.#slots
    const mask = slots.length - 1
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const held = slots[slot]!
      if (held === 0) return NO_PLACE
      if (((held ^ hash) & TAG_BITS) !== 0) continue
      const start = ((held & ~TAG_BITS) - 1) * this.#entryLength
      if (this.#isKey(start, key)) return start + KEY_LENGTH
    }
  }

  /** Adds a key that is not here. Its value is 0. */
  add(key: Int32Array, hash: number): number {
    if (this.#count === this.#hashes.length) this.#grow()
    const entry = this.#count++
    const start = this.#entryLength * entry
    for (let word = 0; word < KEY_WORDS; word++) this.view.setInt32(start + WORD * word, key[word]!)
    this.#hashes[entry] = hash
    this.#putSlot(entry, hash)
    return start + KEY_LENGTH
  }

  #isKey(start: number, key: Int32Array): boolean {
    const { view } = this
    for (let word = 0; word < KEY_WORDS; word++) if (view.getInt32(start + WORD * word) !== key[word]) return false
    return true
  }

  #grow(): void {
    const { entries } = this
    this.entries = Buffer.from(new ArrayBuffer(2 * entries.length))
    this.entries.set(entries)
    this.view = new DataView(this.entries.buffer)
    const hashes = this.#hashes
    this.#hashes = new Int32Array(2 * hashes.length)
    this.#hashes.set(hashes)
    this.#slots = new Int32Array(2 * this.#slots.length)
    for (let entry = 0; entry < this.#count; entry++) this.#putSlot(entry, hashes[entry]!)
  }

  #putSlot(entry: number, hash: number): void {
    const mask = this.#slots.length - 1
    let slot = hash & mask
    while (this.#slots[slot] !== 0) slot = (slot + 1) & mask
    this.#slots[slot] = (hash & TAG_BITS) | (entry + 1)
  }
}

/**
 * Values of one length by address and number. Like `SizedCache`, a table has two generations and is bounded. It has no
 * object for an entry, and no key as a text: finding a value allocates nothing.
 */
export class AddressTable {
  readonly #valueLength: number
  readonly #most: number
  readonly #key = new Int32Array(KEY_WORDS)
  /** Secret, so that nobody can choose addresses that share slots. */
  readonly #seed = randomInt(2 ** 32) | 0
  #young: Generation
  #old: Generation | undefined

  /**
   * Makes an empty table.
   * @param valueLength bytes of a value
   * @param most entries of a generation, with which `renew` begins another one
   */
  constructor(valueLength: number, most: number) {
    this.#valueLength = valueLength
    this.#most = most
    this.#young = new Generation(valueLength)
  }

  /** The bytes that have the values at their places, until an entry is added. */
  get bytes(): Uint8Array {
    return this.#young.entries
  }

  /** View of `bytes`. */
  get view(): DataView {
    return this.#young.view
  }

  /** Forgets entries that were not used for long, once there are many. Places are valid until then. */
  renew(): void {
    if (this.#young.count < this.#most) return
    this.#old = this.#young
    this.#young = new Generation(this.#valueLength)
  }

  /** Place of the value of an address, which begins at `at`. */
  find(bytes: Uint8Array, at: number, number = 0): number {
    const hash = this.#take(bytes, at, number)
    const place = this.#young.find(this.#key, hash)
    if (place !== NO_PLACE || !this.#old) return place
    const before = this.#old.find(this.#key, hash)
    if (before === NO_PLACE) return NO_PLACE
    const moved = this.#young.add(this.#key, hash)
    this.#old.entries.copy(this.#young.entries, moved, before, before + this.#valueLength)
    return moved
  }

  /** Adds an address that `find` did not find. Returns the place of its value, which is 0. */
  add(bytes: Uint8Array, at: number, number = 0): number {
    const hash = this.#take(bytes, at, number)
    return this.#young.add(this.#key, hash)
  }

  /** Takes a key, and returns its hash. */
  #take(bytes: Uint8Array, at: number, number: number): number {
    const key = this.#key
    let hash = this.#seed
    for (let word = 0; word < ADDRESS_WORDS; word++) {
      const from = at + 4 * word
      const bits = bytes[from]! | (bytes[from + 1]! << 8) | (bytes[from + 2]! << 16) | (bytes[from + 3]! << 24)
      key[word] = bits
      hash = mixed(hash, bits)
    }
    key[ADDRESS_WORDS] = number
    return mixed(hash, number)
  }
}

function mixed(hash: number, bits: number): number {
  const product = Math.imul(hash ^ bits, 0x9e37_79b1)
  return product ^ (product >>> 15)
}
