import { Buffer } from 'node:buffer'

/** Integers of an entry of the index. */
export const ENTRY_FIELDS = 5
/** Integers of a key of the index. */
export const KEY_FIELDS = 2

const FIRST_BYTES = 4_096
const FIRST_ENTRIES = 16
const FIRST_SLOTS = 64
/** Half of the slots are filled by keys with values of about 100 bytes. */
const BYTES_PER_SLOT = 64
/** 16 to 32 bits of the Bloom filter a key. */
const SLOTS_PER_WORD = 4

/** The hash table of a segment: open addressing. */
export interface SlotMemory {
  /** The number of the key in each slot. */
  readonly slots: Int32Array
  /** Some bits of the hash of that key; 0 is an empty slot. */
  readonly tags: Uint8Array
  /** Bloom filter of the keys. */
  readonly filter: Int32Array
}

/**
 * The arena and the index of a segment. A segment hands its memory over to a later one: to allocate it for each segment
 * makes V8 collect the whole heap several times a second.
 */
export interface SegmentMemory extends SlotMemory {
  readonly bytes: Buffer
  readonly entries: Int32Array
  readonly keys: Int32Array
}

/**
 * Memory for a segment of this number of bytes and an ordinary number of keys in them: growing later copies all that there
 * is, in one turn. The system gives memory only to pages that are written.
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
