import { Buffer } from 'node:buffer'

/** Number of integers of an entry of the index. */
export const ENTRY_FIELDS = 5
/** Number of integers of a key of the index. */
export const KEY_FIELDS = 2

const FIRST_BYTES = 4_096
const FIRST_ENTRIES = 16
const FIRST_SLOTS = 64
/** Bytes of commits for each slot: keys with values of about 100 bytes then fill half of the slots. */
const BYTES_PER_SLOT = 64
/** Slots for each word of the Bloom filter, which then has 16 to 32 bits for each key. */
const SLOTS_PER_WORD = 4

/** The hash table of a segment, with open addressing. */
export interface SlotMemory {
  /** Number of the key in each slot. */
  readonly slots: Int32Array
  /** Some bits of the hash of the key in each slot; 0 for an empty slot. */
  readonly tags: Uint8Array
  /** Bloom filter of the keys. */
  readonly filter: Int32Array
}

/**
 * Memory of the arena and the index of a segment. A segment passes its memory on to a later one: to allocate it again
 * each time makes V8 collect the whole heap several times a second.
 */
export interface SegmentMemory extends SlotMemory {
  readonly bytes: Buffer
  readonly entries: Int32Array
  readonly keys: Int32Array
}

/**
 * Allocates memory for a segment of this number of bytes with a usual number of keys: to grow it later copies
 * everything in one turn. The system provides memory only for pages that are written.
 */
export function allocateSegment(bytes = FIRST_BYTES): SegmentMemory {
  const count = Math.max(FIRST_SLOTS, 2 ** Math.floor(Math.log2(bytes / BYTES_PER_SLOT + 1)))
  const keyCount = Math.max(FIRST_ENTRIES, count / 2)
  return {
    bytes: Buffer.allocUnsafeSlow(Math.max(FIRST_BYTES, bytes)),
    entries: new Int32Array(ENTRY_FIELDS * keyCount),
    keys: new Int32Array(KEY_FIELDS * keyCount),
    ...allocateSlots(count),
  }
}

export function allocateSlots(count: number): SlotMemory {
  return {
    slots: new Int32Array(count),
    tags: new Uint8Array(count),
    filter: new Int32Array(count / SLOTS_PER_WORD),
  }
}
