import type { BlockEntry } from '@ledger-state/engine/authoring'
import { KeyBuffer } from '../bytes/key-buffer.js'
import { DELETED } from './entry-reader.js'
import { SegmentCursor } from './segment-cursor.js'
import { SegmentLists } from './segment-lists.js'
import type { SegmentReader } from './segment-reader.js'
import type { SegmentSink } from './split-writer.js'

export interface MergeInput {
  readonly reader: SegmentReader
  /** Newest version that is left: a truncation has cut off those above. */
  readonly until: bigint
}

export interface MergeOptions {
  /** First version of the output. Earlier writes and blocks of the inputs are left out. */
  readonly firstVersion: bigint
  /**
   * Oldest version that is asked for: of the writes at or below it, only the newest of each key is kept, and no
   * deletion. There must be no older segment.
   */
  readonly floor?: bigint | undefined
}

const STEP_ENTRIES = 1_024
const STEP_BYTES = 2 ** 18
const STEP_BLOCKS = 8_192

interface Source {
  readonly cursor: SegmentCursor
  readonly order: number
  /** Difference that is added to a version of the input to get the version of the output. */
  readonly shift: number
  /** Newest version to merge from the input, as the output numbers it. */
  readonly until: number
}

/**
 * Merges segments with consecutive ranges of versions, the oldest first, in steps of about a millisecond. Each step
 * yields the bytes of keys and values that it took. Returns the number of values and deletions that were dropped
 * because no version at or above the floor sees them.
 */
export function* mergeSegments(
  inputs: readonly MergeInput[],
  writer: SegmentSink,
  { firstVersion, floor }: MergeOptions,
): Generator<number, number> {
  yield* copyBlocks(inputs, writer, firstVersion, floor)
  const output = new KeyOutput(writer, floor === undefined ? DELETED : Number(floor - firstVersion))
  const heap = new SourceHeap(
    inputs.map(({ reader, until }, order) => ({
      cursor: new SegmentCursor(reader),
      order,
      shift: Number(reader.identity.firstVersion - firstVersion),
      until: Number(until - firstVersion),
    })),
  )
  for (let entries = 1; heap.top; entries++) {
    output.takeEntry(heap.top)
    heap.advance()
    if (entries % STEP_ENTRIES !== 0 && output.takenBytes < STEP_BYTES) continue
    yield output.takenBytes
    output.takenBytes = 0
  }
  output.endKey()
  yield output.takenBytes
  return output.dropped
}

function* copyBlocks(
  inputs: readonly MergeInput[],
  writer: SegmentSink,
  first: bigint,
  floor: bigint | undefined,
): Generator<number, void> {
  let held: BlockEntry | undefined
  let blocks = 0
  for (const { reader, until } of inputs) {
    for (const entry of new SegmentLists(reader)) {
      if (entry.firstVersion < first) continue
      if (entry.firstVersion > until) break
      if (++blocks % STEP_BLOCKS === 0) yield 0
      // The block that the floor belongs to is kept.
      if (held && (floor === undefined || entry.firstVersion > floor)) writer.addBlock(held)
      held = entry
    }
  }
  if (held) writer.addBlock(held)
}

/** Puts the writes of keys that come in order, each key from several segments. */
class KeyOutput {
  /** Number of writes that were dropped. */
  dropped = 0
  /** Bytes of keys and values that were taken. */
  takenBytes = 0
  readonly #writer: SegmentSink
  readonly #floor: number
  readonly #key = new KeyBuffer()
  #hasKey = false
  #isBegun = false
  // The newest write at or below the floor.
  #heldVersion = DELETED
  #heldValue = new Uint8Array(256)
  #heldEnd = 0

  constructor(writer: SegmentSink, floor: number) {
    this.#writer = writer
    this.#floor = floor
  }

  takeEntry({ cursor, shift, until }: Source): void {
    if (cursor.isNewKey || !this.#hasKey) this.#takeKey(cursor.key)
    const { entry } = cursor
    const mostSuperseding = Math.min(until, this.#floor)
    for (let write = 0; write < entry.count; write++) {
      const version = entry.versions[write]! + shift
      if (version < 0) continue
      if (version > until) break
      this.takenBytes += this.#key.length + Math.max(0, entry.ends[write]! - entry.starts[write]!)
      if (write + 1 < entry.count && entry.versions[write + 1]! + shift <= mostSuperseding) this.dropped++
      else if (version <= this.#floor) this.#hold(version, entry.bytes, entry.starts[write]!, entry.ends[write]!)
      else {
        this.#giveHeld()
        this.#put(version, entry.bytes, entry.starts[write]!, entry.ends[write]!)
      }
    }
  }

  endKey(): void {
    this.#giveHeld()
  }

  #takeKey(key: KeyBuffer): void {
    if (this.#hasKey && this.#key.compare(key) === 0) return
    this.endKey()
    this.#key.takeKey(key)
    this.#hasKey = true
    this.#isBegun = false
  }

  #hold(version: number, bytes: Uint8Array, start: number, end: number): void {
    if (this.#heldVersion !== DELETED) this.dropped++
    this.#heldVersion = version
    this.#heldEnd = end === DELETED ? DELETED : end - start
    if (this.#heldEnd > this.#heldValue.length) this.#heldValue = new Uint8Array(2 * this.#heldEnd)
    if (end !== DELETED) this.#heldValue.set(bytes.subarray(start, end))
  }

  #giveHeld(): void {
    if (this.#heldVersion === DELETED) return
    if (this.#heldEnd === DELETED) this.dropped++
    else this.#put(this.#heldVersion, this.#heldValue, 0, this.#heldEnd)
    this.#heldVersion = DELETED
  }

  #put(version: number, bytes: Uint8Array, start: number, end: number): void {
    if (!this.#isBegun) this.#writer.beginKey(this.#key.bytes, 0, this.#key.length)
    this.#isBegun = true
    this.#writer.add(version, bytes, start, end)
  }
}

/** Sources by their keys, equal keys by the order of the segments. */
class SourceHeap {
  readonly #sources: Source[]

  constructor(sources: readonly Source[]) {
    this.#sources = sources.filter(({ cursor }) => cursor.next())
    for (let at = (this.#sources.length >> 1) - 1; at >= 0; at--) this.#sink(at)
  }

  get top(): Source | undefined {
    return this.#sources[0]
  }

  /** Moves the source at the top to its next entry. */
  advance(): void {
    const { cursor } = this.#sources[0]!
    if (!cursor.next()) {
      const last = this.#sources.pop()!
      if (this.#sources.length === 0) return
      if (this.#sources[0]!.cursor === cursor) this.#sources[0] = last
    } else if (!cursor.isNewKey) return
    this.#sink(0)
  }

  #sink(from: number): void {
    const sources = this.#sources
    for (let at = from; ; ) {
      let child = 2 * at + 1
      if (child >= sources.length) return
      if (child + 1 < sources.length && isBefore(sources[child + 1]!, sources[child]!)) child++
      if (!isBefore(sources[child]!, sources[at]!)) return
      const lower = sources[at]!
      sources[at] = sources[child]!
      sources[child] = lower
      at = child
    }
  }
}

function isBefore(a: Source, b: Source): boolean {
  const order = a.cursor.key.compare(b.cursor.key)
  return order < 0 || (order === 0 && a.order < b.order)
}
