import type { BlockEntry } from '@ledger-state/engine/authoring'
import type { SegmentWriter, WrittenSegment } from './segment-writer.js'

/** Target for the writes and the blocks of a segment. */
export type SegmentSink = Pick<SegmentWriter, 'beginKey' | 'add' | 'addBlock'>

/** Name of the variable with which tests make files short. */
const LIMIT_VARIABLE = 'LEDGER_STATE_SEGMENT_BYTES'
/** Below `MAX_SEGMENT_BYTES` by more than any value that is written has. */
const MOST_FILE_BYTES = 2 ** 30

/** Length at which a segment continues in another file. A file with a value of more bytes is longer. */
export function mostFileBytes(): number {
  return Number(process.env[LIMIT_VARIABLE] ?? MOST_FILE_BYTES)
}

/**
 * Writes a segment into as many files as it needs. All have the same versions. Each begins with the key after the last one
 * of the file before, or continues the writes of that key: so of two files with a key, the later one has the newer writes.
 */
export class SplitWriter implements SegmentSink {
  readonly #open: (part: number) => SegmentWriter
  readonly #mostBytes: number
  readonly #ended: SegmentWriter[] = []
  readonly #written: WrittenSegment[] = []
  #writer: SegmentWriter
  // The key is `#keyBytes[#keyStart, #keyEnd)`: a copy for each key would cost a microsecond.
  #keyBytes: Uint8Array = new Uint8Array(0)
  #keyStart = 0
  #keyEnd = 0
  /** Whether the file has writes of the key. */
  #isBegun = false

  /** Begins the first file. `open` begins one; parts are counted from 0. */
  constructor(open: (part: number) => SegmentWriter, mostBytes: number) {
    this.#open = open
    this.#mostBytes = mostBytes
    this.#writer = open(0)
  }

  /** Begins the writes of a key. Its bytes must not change before its last write is added. */
  beginKey(bytes: Uint8Array, start: number, end: number): void {
    this.#keyBytes = bytes
    this.#keyStart = start
    this.#keyEnd = end
    this.#isBegun = false
  }

  add(version: number, bytes: Uint8Array, start: number, end: number): void {
    this.#makeRoom(this.#keyEnd - this.#keyStart + Math.max(0, end - start))
    if (!this.#isBegun) this.#writer.beginKey(this.#keyBytes, this.#keyStart, this.#keyEnd)
    this.#isBegun = true
    this.#writer.add(version, bytes, start, end)
  }

  addBlock(entry: BlockEntry): void {
    this.#makeRoom(0)
    this.#writer.addBlock(entry)
  }

  /** Completes the files. */
  finish(): readonly WrittenSegment[] {
    this.#end()
    return this.#written
  }

  /** Ends without a file. */
  abort(): void {
    for (const writer of [...this.#ended, this.#writer]) writer.abort()
  }

  #makeRoom(bytes: number): void {
    const { byteSize, isEmpty } = this.#writer
    if (isEmpty || byteSize + bytes <= this.#mostBytes) return
    this.#end()
    this.#writer = this.#open(this.#written.length)
    this.#isBegun = false
  }

  #end(): void {
    this.#written.push(this.#writer.finish())
    this.#ended.push(this.#writer)
  }
}
