import { Buffer } from 'node:buffer'
import type { BlockInfo } from '@ledger-state/core'
import { MAX_KEY_LENGTH, type Truncation } from '@ledger-state/engine'
import { highHalf, lowHalf } from '../bytes/version-halves.js'
import { BlockList, type BlockListCopy } from './block-list.js'
import { DELETION, ENTRY_HEADER_LENGTH } from './entry-layout.js'
import { fingerprintOf } from './fingerprint.js'
import { grown } from './grown.js'
import { KeyHash } from './key-hash.js'
import { KeyOrder } from './key-order.js'
import { allocateSegment, allocateSlots, ENTRY_FIELDS, KEY_FIELDS, type SegmentMemory } from './segment-memory.js'

/** Number that means no entry. */
export const NONE = -1

/** Buffer into which a key that is looked up is copied, to be compared. */
const PROBE = new Uint8Array(MAX_KEY_LENGTH)
const PROBE_VIEW = new DataView(PROBE.buffer)

/** Facts that the newest commit of a segment gives in addition to its writes. */
export interface CommitHead {
  /** Number of the commit. */
  readonly number: number
  readonly chainId: bigint
  readonly latestVersion: bigint
  readonly latestBlock: BlockInfo
  readonly mark: Uint8Array | undefined
}

/** A state of a segment to which it can return. */
export interface Checkpoint {
  readonly length: number
  readonly entryCount: number
  readonly blockCount: number
  readonly versionCount: number
}

/** Copy of a segment for another thread: its bytes, entries and keys, without the hash table. */
export interface SegmentCopy {
  readonly fileNumber: number
  readonly head: CommitHead | undefined
  readonly firstVersion: bigint
  readonly versionCount: number
  readonly entryCount: number
  readonly keyCount: number
  readonly length: number
  readonly blocks: BlockListCopy
  /** The bytes, then the entries, then the keys. */
  readonly memory: ArrayBuffer
}

/** Bytes of the arena that are copied in one step: less than a millisecond of work. */
const COPIED_AT_ONCE = 2 ** 21
/** Memory of copies has a multiple of this, so that the next copy fits into it, too. */
const COPY_UNIT = 2 ** 22

// Fields of an entry: its offset in the arena · its version, counted from the first of the segment · the previous entry
// of the same key · an older one to jump to · the number of entries of the key before it. Jumps have the lengths of a
// skew binary number, so that any older entry is a logarithmic number of steps away (Myers, 1983).
const START = 0
const VERSION = 1
const OLDER = 2
const JUMP = 3
const RANK = 4
// Fields of a key: its newest entry · its hash.
const NEWEST = 0
const HASH = 1

const MAX_OFFSET = 0x7fff_ffff
const NO_MEMORY = allocateSegment(0)

/**
 * The commits of one WAL file in memory: the bytes of the file (the arena), and an index of its writes by key
 * and version. Entries are numbered in the order of the file, which is the order of versions.
 */
export class Segment {
  readonly fileNumber: number
  blocks = new BlockList()
  /** Head of the last commit; undefined if there is none. */
  head: CommitHead | undefined
  /** Truncations in the file, the oldest first. */
  truncations: readonly Truncation[] = []
  /** The arena: the file from its beginning. A larger one replaces it as commits are added. */
  bytes: Buffer = NO_MEMORY.bytes
  view = new DataView(this.bytes.buffer)
  /** Number of bytes of the arena that are used. */
  length = 0
  readonly #hash: KeyHash
  #firstVersion = 0n
  #firstHigh = 0
  #firstLow = 0
  #versionCount = 0
  #entryCount = 0
  #entries = NO_MEMORY.entries
  #keyCount = 0
  #keys = NO_MEMORY.keys
  #slots = NO_MEMORY.slots
  #tags = NO_MEMORY.tags
  #filter = NO_MEMORY.filter
  #order = new KeyOrder(this)
  #heads = new Int32Array(0)
  #headsOf = 0

  /**
   * Makes a segment without commits.
   * @param memory larger memory replaces it as commits are added
   */
  constructor(fileNumber: number, hash: KeyHash, memory: SegmentMemory = allocateSegment()) {
    this.fileNumber = fileNumber
    this.#hash = hash
    this.#use(memory)
  }

  #use({ bytes, entries, keys, slots, tags, filter }: SegmentMemory): void {
    this.bytes = bytes
    this.view = new DataView(bytes.buffer)
    this.#entries = entries
    this.#keys = keys
    this.#slots = slots
    this.#tags = tags
    this.#filter = filter
  }

  /** The segment that was copied. No key of it can be searched, and nothing can be added to it. */
  static ofCopy(copy: SegmentCopy): Segment {
    const { fileNumber, head, firstVersion, versionCount, entryCount, keyCount, length, blocks, memory } = copy
    const entriesAt = aligned(length)
    const keysAt = entriesAt + 4 * ENTRY_FIELDS * entryCount
    const segment = new Segment(fileNumber, new KeyHash(), {
      ...NO_MEMORY,
      bytes: Buffer.from(memory, 0, length),
      entries: new Int32Array(memory, entriesAt, ENTRY_FIELDS * entryCount),
      keys: new Int32Array(memory, keysAt, KEY_FIELDS * keyCount),
    })
    segment.head = head
    segment.length = length
    segment.blocks = BlockList.ofCopy(blocks)
    segment.#firstVersion = firstVersion
    segment.#versionCount = versionCount
    segment.#entryCount = entryCount
    segment.#keyCount = keyCount
    return segment
  }

  /**
   * Copies the segment in steps of less than a millisecond, between which nothing is added to it.
   * @param spare memory of an earlier copy, which is used if it is long enough
   */
  *copyInSteps(spare: ArrayBuffer | undefined): Generator<void, SegmentCopy> {
    const { fileNumber, head, length } = this
    const entries = this.#entries.subarray(0, ENTRY_FIELDS * this.#entryCount)
    const keys = this.#keys.subarray(0, KEY_FIELDS * this.#keyCount)
    const needed = aligned(length) + entries.byteLength + keys.byteLength
    const memory =
      spare && spare.byteLength >= needed ? spare : new ArrayBuffer(COPY_UNIT * Math.ceil(needed / COPY_UNIT))
    const bytes = new Uint8Array(memory)
    for (let at = 0; at < length; at += COPIED_AT_ONCE) {
      bytes.set(this.bytes.subarray(at, Math.min(length, at + COPIED_AT_ONCE)), at)
      yield
    }
    new Int32Array(memory, aligned(length), entries.length).set(entries)
    new Int32Array(memory, aligned(length) + entries.byteLength, keys.length).set(keys)
    return {
      fileNumber,
      head,
      firstVersion: this.#firstVersion,
      versionCount: this.#versionCount,
      entryCount: this.#entryCount,
      keyCount: this.#keyCount,
      length,
      blocks: this.blocks.copy(),
      memory,
    }
  }

  /** Takes the memory away, for another segment. The segment then has no entries, and must not be used any more. */
  takeMemory(): SegmentMemory {
    const { bytes } = this
    const [entries, keys, slots] = [this.#entries, this.#keys, this.#slots]
    const [tags, filter] = [this.#tags.fill(0), this.#filter.fill(0)]
    this.#use(NO_MEMORY)
    this.#entryCount = 0
    this.#keyCount = 0
    this.#forgetOrder()
    return { bytes, entries, keys, slots, tags, filter }
  }

  get entryCount(): number {
    return this.#entryCount
  }

  get keyCount(): number {
    return this.#keyCount
  }

  /** First version of the first commit. */
  get firstVersion(): bigint {
    return this.#firstVersion
  }

  get versionCount(): number {
    return this.#versionCount
  }

  /** Number of bytes in use, of the arena and of the index. */
  get byteSize(): number {
    const entries = 4 * ENTRY_FIELDS * this.#entryCount
    // Slots that were made ahead take no memory before they are written.
    const keys = 4 * KEY_FIELDS * this.#keyCount + 6 * Math.min(this.#slots.length, 4 * this.#keyCount)
    return this.length + entries + keys + this.blocks.byteSize + this.#order.byteSize + this.#heads.byteLength
  }

  /** Whether the segment has an entry at or below a version, given as halves. */
  reaches(high: number, low: number): boolean {
    return this.#entryCount > 0 && this.#offsetOf(high, low) >= 0
  }

  /**
   * Whether a key with this fingerprint may be in the segment. The Bloom filter has a few percent false positives, and
   * no false negatives.
   */
  mayHave(fingerprint: number): boolean {
    return (this.#filter[(fingerprint >>> 5) & (this.#filter.length - 1)]! & (1 << (fingerprint & 31))) !== 0
  }

  /** Newest entry of a key at or below a version, given as halves. `hash` is the hash of the key. */
  find(key: Uint8Array, hash: number, high: number, low: number): number {
    const newest = this.newest(key, hash)
    if (newest === NONE) return NONE
    const offset = Math.min(this.#offsetOf(high, low), MAX_OFFSET)
    const entries = this.#entries
    let entry = newest
    while (entry >= 0 && entries[ENTRY_FIELDS * entry + VERSION]! > offset) {
      const jump = entries[ENTRY_FIELDS * entry + JUMP]!
      const isFar = jump >= 0 && entries[ENTRY_FIELDS * jump + VERSION]! > offset
      entry = isFar ? jump : entries[ENTRY_FIELDS * entry + OLDER]!
    }
    return entry
  }

  /** Oldest entry of a key at or above a version, given as halves. `hash` is the hash of the key. */
  oldestAtLeast(key: Uint8Array, hash: number, high: number, low: number): number {
    const offset = this.#offsetOf(high, low)
    const entries = this.#entries
    let entry = this.newest(key, hash)
    if (entry === NONE || entries[ENTRY_FIELDS * entry + VERSION]! < offset) return NONE
    for (;;) {
      const jump = entries[ENTRY_FIELDS * entry + JUMP]!
      const isFar = jump >= 0 && entries[ENTRY_FIELDS * jump + VERSION]! >= offset
      const next = isFar ? jump : entries[ENTRY_FIELDS * entry + OLDER]!
      if (next === NONE || entries[ENTRY_FIELDS * next + VERSION]! < offset) return entry
      entry = next
    }
  }

  /** Version counted from the first of the segment; below 0 for earlier versions. */
  #offsetOf(high: number, low: number): number {
    return (high - this.#firstHigh) * 2 ** 32 + (low - this.#firstLow)
  }

  /** Newest entry of a key. */
  newest(key: Uint8Array, hash: number): number {
    const slot = this.#slotOf(key, 0, key.length, hash)
    return slot === NONE ? NONE : this.#keys[KEY_FIELDS * this.#slots[slot]! + NEWEST]!
  }

  /** Previous entry of the same key. */
  older(entry: number): number {
    return this.#entries[ENTRY_FIELDS * entry + OLDER]!
  }

  version(entry: number): bigint {
    return this.#firstVersion + BigInt(this.#entries[ENTRY_FIELDS * entry + VERSION]!)
  }

  /** Version of an entry, counted from the first of the segment. */
  versionOffset(entry: number): number {
    return this.#entries[ENTRY_FIELDS * entry + VERSION]!
  }

  versionHigh(entry: number): number {
    const low = this.#firstLow + this.#entries[ENTRY_FIELDS * entry + VERSION]!
    return low < 2 ** 32 ? this.#firstHigh : this.#firstHigh + 1
  }

  versionLow(entry: number): number {
    return (this.#firstLow + this.#entries[ENTRY_FIELDS * entry + VERSION]!) >>> 0
  }

  isDeletion(entry: number): boolean {
    return this.view.getUint32(this.#startOf(entry) + 4) === DELETION
  }

  keyStart(entry: number): number {
    return this.#startOf(entry) + ENTRY_HEADER_LENGTH
  }

  keyEnd(entry: number): number {
    const start = this.#startOf(entry)
    return start + ENTRY_HEADER_LENGTH + this.view.getUint32(start)
  }

  valueStart(entry: number): number {
    return this.keyEnd(entry)
  }

  /** Offset of the end of the value, which is its start if the entry is a deletion. */
  valueEnd(entry: number): number {
    const start = this.#startOf(entry)
    const length = this.view.getUint32(start + 4)
    return start + ENTRY_HEADER_LENGTH + this.view.getUint32(start) + (length === DELETION ? 0 : length)
  }

  /** First entry of a version or a later one; the number of entries if there is none. */
  firstEntryFrom(version: bigint): number {
    const offset = version < this.#firstVersion ? 0 : Number(version - this.#firstVersion)
    let least = 0
    let most = this.#entryCount
    while (least < most) {
      const middle = (least + most) >> 1
      if (this.#entries[ENTRY_FIELDS * middle + VERSION]! < offset) least = middle + 1
      else most = middle
    }
    return least
  }

  /**
   * Numbers of all keys, in a few runs that are each in the order of the keys' bytes; valid until keys are added.
   * @param asOne whether to merge the runs, which takes as long as sorting all keys
   */
  sortedRuns({ asOne = false } = {}): readonly Int32Array[] {
    return asOne ? [this.#order.sorted()] : this.#order.runs()
  }

  /** Newest entry of each key, in the order of the keys' bytes; valid until entries are added. */
  sortedHeads(): Int32Array {
    if (this.#headsOf === this.#entryCount) return this.#heads
    this.#heads = this.#order.sorted().map((key) => this.#keys[KEY_FIELDS * key + NEWEST]!)
    this.#headsOf = this.#entryCount
    return this.#heads
  }

  /** Share of the keys that is sorted. */
  get sortedShare(): number {
    return this.#order.sortedCount / Math.max(1, this.#keyCount)
  }

  /** Does the work of `sortedHeads` in steps of some milliseconds, or of more keys. */
  sortInSteps(stepKeys?: number): Generator<void> {
    return this.#order.steps(stepKeys)
  }

  /** Offset of a key. Keys are numbered in the order of their first entries. */
  startOfKey(key: number): number {
    return this.keyStart(this.#keys[KEY_FIELDS * key + NEWEST]!)
  }

  endOfKey(key: number): number {
    return this.keyEnd(this.#keys[KEY_FIELDS * key + NEWEST]!)
  }

  /** Makes room for `count` bytes after those that are used. */
  reserve(count: number): void {
    if (this.length + count <= this.bytes.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(this.length + count, 2 * this.bytes.length))
    this.bytes.copy(larger, 0, 0, this.length)
    this.bytes = larger
    this.view = new DataView(larger.buffer)
  }

  /** Begins the next version. Its entries follow. */
  beginVersion(version: bigint, block: BlockInfo | undefined): void {
    if (this.#versionCount === 0) {
      this.#firstVersion = version
      this.#firstHigh = highHalf(version)
      this.#firstLow = lowHalf(version)
    }
    this.#versionCount++
    if (block) this.blocks.push({ firstVersion: version, block })
  }

  /**
   * Indexes an entry of the current version that was put into the arena. Returns false, and does nothing, if the
   * version has an entry of that key already.
   */
  add(start: number, hash: number): boolean {
    const keyStart = start + ENTRY_HEADER_LENGTH
    const slot = this.#slotOf(this.bytes, keyStart, keyStart + this.view.getUint32(start), hash)
    const offset = this.#versionCount - 1
    const older = slot === NONE ? NONE : this.#keys[KEY_FIELDS * this.#slots[slot]! + NEWEST]!
    if (older !== NONE && this.#entries[ENTRY_FIELDS * older + VERSION] === offset) return false
    const entry = this.#entryCount++
    this.#entries = grown(this.#entries, ENTRY_FIELDS * this.#entryCount)
    const at = ENTRY_FIELDS * entry
    this.#entries[at + START] = start
    this.#entries[at + VERSION] = offset
    this.#link(at, older)
    if (slot === NONE) this.#addKey(entry, hash)
    else this.#keys[KEY_FIELDS * this.#slots[slot]! + NEWEST] = entry
    return true
  }

  checkpoint(): Checkpoint {
    return {
      length: this.length,
      entryCount: this.#entryCount,
      blockCount: this.blocks.count,
      versionCount: this.#versionCount,
    }
  }

  /** Forgets everything that was added since the checkpoint. */
  rollBack({ length, entryCount, blockCount, versionCount }: Checkpoint): void {
    while (this.#entryCount > entryCount) this.#removeNewest()
    this.length = length
    this.blocks.truncate(blockCount)
    this.#versionCount = versionCount
    this.#forgetOrder()
  }

  /**
   * Forgets all versions above one, which is in the segment or just before it. Their bytes stay in the arena, because
   * the arena is the file.
   */
  cutAfter(version: bigint): void {
    if (this.#versionCount === 0) return
    const kept = Number(version + 1n - this.#firstVersion)
    while (this.#entryCount > 0 && this.#entries[ENTRY_FIELDS * (this.#entryCount - 1) + VERSION]! >= kept) {
      this.#removeNewest()
    }
    this.blocks.cutAfter(version)
    this.#versionCount = kept
    this.#forgetOrder()
  }

  /** Forgets the order of keys: keys that were removed may have been sorted. */
  #forgetOrder(): void {
    this.#order.cutTo(this.#keyCount)
    this.#headsOf = NONE
  }

  #removeNewest(): void {
    const entry = --this.#entryCount
    const [keyStart, keyEnd] = [this.keyStart(entry), this.keyEnd(entry)]
    const slot = this.#slotOf(this.bytes, keyStart, keyEnd, this.#hash.of(this.bytes, keyStart, keyEnd))
    const older = this.#entries[ENTRY_FIELDS * entry + OLDER]!
    if (older !== NONE) {
      this.#keys[KEY_FIELDS * this.#slots[slot]! + NEWEST] = older
      return
    }
    // This is the key that was added last: none was put after it.
    this.#keyCount--
    this.#tags[slot] = 0
  }

  #link(at: number, older: number): void {
    const entries = this.#entries
    entries[at + OLDER] = older
    if (older === NONE) {
      entries[at + JUMP] = NONE
      entries[at + RANK] = 0
      return
    }
    const rank = entries[ENTRY_FIELDS * older + RANK]!
    const jump = entries[ENTRY_FIELDS * older + JUMP]!
    let isEven = false
    let next = NONE
    if (jump !== NONE) {
      next = entries[ENTRY_FIELDS * jump + JUMP]!
      const jumpRank = entries[ENTRY_FIELDS * jump + RANK]!
      isEven = next !== NONE && rank - jumpRank === jumpRank - entries[ENTRY_FIELDS * next + RANK]!
    }
    entries[at + JUMP] = isEven ? next : older
    entries[at + RANK] = rank + 1
  }

  #addKey(entry: number, hash: number): void {
    if (2 * this.#keyCount >= this.#slots.length) this.#growSlots()
    const key = this.#keyCount++
    this.#keys = grown(this.#keys, KEY_FIELDS * this.#keyCount)
    this.#keys[KEY_FIELDS * key + NEWEST] = entry
    this.#keys[KEY_FIELDS * key + HASH] = hash
    this.#putSlot(key, hash)
  }

  #growSlots(): void {
    const { slots, tags, filter } = allocateSlots(2 * this.#slots.length)
    this.#slots = slots
    this.#tags = tags
    this.#filter = filter
    for (let key = 0; key < this.#keyCount; key++) this.#putSlot(key, this.#keys[KEY_FIELDS * key + HASH]!)
  }

  #putSlot(key: number, hash: number): void {
    const mask = this.#slots.length - 1
    let slot = hash & mask
    while (this.#tags[slot] !== 0) slot = (slot + 1) & mask
    this.#slots[slot] = key
    this.#tags[slot] = tagOf(hash)
    const fingerprint = fingerprintOf(this.bytes, this.startOfKey(key), this.endOfKey(key))
    this.#filter[(fingerprint >>> 5) & (this.#filter.length - 1)]! |= 1 << (fingerprint & 31)
  }

  /** Slot of a key, given as all of some bytes, or as a part of the arena. */
  #slotOf(bytes: Uint8Array, start: number, end: number, hash: number): number {
    const tags = this.#tags
    const mask = tags.length - 1
    const tag = tagOf(hash)
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const found = tags[slot]
      if (found === 0) return NONE
      if (found === tag && this.#isKey(this.#slots[slot]!, bytes, start, end)) return slot
    }
  }

  #isKey(key: number, bytes: Uint8Array, start: number, end: number): boolean {
    const entryStart = this.#entries[ENTRY_FIELDS * this.#keys[KEY_FIELDS * key + NEWEST]! + START]! >>> 0
    const length = end - start
    if (this.view.getUint32(entryStart) !== length) return false
    const arena = this.view
    const keyStart = entryStart + ENTRY_HEADER_LENGTH
    let other = arena
    if (bytes !== this.bytes) {
      PROBE.set(bytes)
      other = PROBE_VIEW
    }
    // Four bytes at a time, in a view: a third of the time of one by one.
    let at = 0
    for (; at + 4 <= length; at += 4) {
      if (arena.getInt32(keyStart + at) !== other.getInt32(start + at)) return false
    }
    for (; at < length; at++) if (arena.getInt8(keyStart + at) !== other.getInt8(start + at)) return false
    return true
  }

  #startOf(entry: number): number {
    return this.#entries[ENTRY_FIELDS * entry + START]! >>> 0
  }
}

/** Tag of a hash, never 0. The lowest bits of the hash choose the slot. */
function tagOf(hash: number): number {
  return (hash >>> 25) + 1
}

/** Place of integers after some bytes. */
function aligned(length: number): number {
  return 4 * Math.ceil(length / 4)
}
