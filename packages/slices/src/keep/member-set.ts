import { ADDRESS_LENGTH } from '@ledger-state/core'

/** Members of one block. A set that grows adds blocks, and never copies them. */
const BLOCK_MEMBERS = 65_536
const FIRST_SLOTS = 1_024
/** Largest share of slots that may be taken. */
const LARGEST_LOAD = 0.6

/** Data of members: 13 bytes for each in addition to the 32 of its address or handle. */
interface Block {
  readonly ids: Uint8Array
  readonly since: Float64Array
  readonly valueTypes: Uint32Array
  readonly flags: Uint8Array
}

/**
 * A set of addresses or table handles. Each takes about 52 bytes: 10 million take 519 MB. Members are numbered from 0
 * in insertion order, and are never removed.
 */
export class MemberSet {
  readonly #blocks: Block[] = []
  /** Numbers of members + 1; 0 for a free slot. Open addressing: a taken slot leads to the next one. */
  #slots = new Uint32Array(FIRST_SLOTS)
  /**
   * Random seed. Whoever sends objects to a kept account chooses their addresses, and must not know the slots to which
   * they hash.
   */
  readonly #seed = (Math.random() * 2 ** 32) | 0
  #size = 0

  get size(): number {
    return this.#size
  }

  /** The number of the member with the id at `start`; −1 if it is not in the set. */
  find(bytes: Uint8Array, start: number): number {
    const slots = this.#slots
    const mask = slots.length - 1
    for (let slot = this.#hash(bytes, start) & mask; ; slot = (slot + 1) & mask) {
      const number = slots[slot]! - 1
      if (number < 0 || this.#isAt(number, bytes, start)) return number
    }
  }

  /** Adds a member that is not in the set, and returns its number. `since` must be below 2⁵³. */
  add(bytes: Uint8Array, start: number, since: number, flags: number, valueType: number): number {
    if (this.#size + 1 > this.#slots.length * LARGEST_LOAD) this.#grow()
    const number = this.#size++
    const at = number % BLOCK_MEMBERS
    if (at === 0) this.#blocks.push(createBlock())
    const block = this.#blockOf(number)
    for (let byte = 0; byte < ADDRESS_LENGTH; byte++) block.ids[at * ADDRESS_LENGTH + byte] = bytes[start + byte]!
    block.since[at] = since
    block.flags[at] = flags
    block.valueTypes[at] = valueType
    this.#place(number, this.#hash(bytes, start))
    return number
  }

  /** A view of the bytes of a member. */
  id(number: number): Uint8Array {
    const at = (number % BLOCK_MEMBERS) * ADDRESS_LENGTH
    return this.#blockOf(number).ids.subarray(at, at + ADDRESS_LENGTH)
  }

  since(number: number): number {
    return this.#blockOf(number).since[number % BLOCK_MEMBERS]!
  }

  flags(number: number): number {
    return this.#blockOf(number).flags[number % BLOCK_MEMBERS]!
  }

  valueType(number: number): number {
    return this.#blockOf(number).valueTypes[number % BLOCK_MEMBERS]!
  }

  setValueType(number: number, valueType: number): void {
    this.#blockOf(number).valueTypes[number % BLOCK_MEMBERS] = valueType
  }

  #blockOf(number: number): Block {
    return this.#blocks[Math.floor(number / BLOCK_MEMBERS)]!
  }

  #isAt(number: number, bytes: Uint8Array, start: number): boolean {
    const { ids } = this.#blockOf(number)
    const at = (number % BLOCK_MEMBERS) * ADDRESS_LENGTH
    // Goes backwards, because small numbers differ in their last bytes.
    for (let byte = ADDRESS_LENGTH - 1; byte >= 0; byte--) if (ids[at + byte] !== bytes[start + byte]) return false
    return true
  }

  #place(number: number, hash: number): void {
    const mask = this.#slots.length - 1
    let slot = hash & mask
    while (this.#slots[slot] !== 0) slot = (slot + 1) & mask
    this.#slots[slot] = number + 1
  }

  #grow(): void {
    this.#slots = new Uint32Array(this.#slots.length * 2)
    for (let number = 0; number < this.#size; number++) {
      const { ids } = this.#blockOf(number)
      this.#place(number, this.#hash(ids, (number % BLOCK_MEMBERS) * ADDRESS_LENGTH))
    }
  }

  #hash(bytes: Uint8Array, start: number): number {
    let hash = this.#seed
    for (let at = start; at < start + ADDRESS_LENGTH; at += 4) {
      const word = bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)
      hash = Math.imul(hash ^ word, 0x9e3779b1)
      hash ^= hash >>> 15
    }
    hash = Math.imul(hash, 0x85ebca6b)
    return (hash ^ (hash >>> 13)) >>> 0
  }
}

function createBlock(): Block {
  return {
    ids: new Uint8Array(BLOCK_MEMBERS * ADDRESS_LENGTH),
    since: new Float64Array(BLOCK_MEMBERS),
    valueTypes: new Uint32Array(BLOCK_MEMBERS),
    flags: new Uint8Array(BLOCK_MEMBERS),
  }
}
