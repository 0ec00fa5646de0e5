import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { ColumnReader, ColumnWriter } from './varints.ts'

// The block of a segment as the design of segments has it: sorted writes in five columns, deflated.
//   varints: keys, writes, length of each column
//   keys      of each key: u8 bytes shared with the key before · varint more · these
//   versions  of each key: varint writes · varint of each version less that before it, or the first of the segment
//   ops       of each write: 0 a deletion | 1, varint length: a whole value | n ≥ 2: n − 2 runs that changed, each varint skipped, varint changed
//   changes   each changed byte less the old one
//   wholes    values whose key is new in the block, or whose length is another

export interface SegmentWrite {
  readonly key: Buffer
  readonly version: number
  /** Undefined for a deletion. */
  readonly value: Buffer | undefined
}

const BLOCK_BYTES = 8_192
const MOST_WRITES = 400
const DEFLATE = { level: 6, windowBits: 14 }
/** Runs that are nearer to each other are one. */
const LEAST_GAP = 3
const CHECKSUM_LENGTH = 4
const NO_KEY = Buffer.alloc(0)

export interface EncodedBlock {
  readonly firstKey: Buffer
  readonly firstVersion: number
  /** Length of the frame and of a checksum. */
  readonly storedLength: number
  readonly frame: Buffer
  readonly writes: number
}

/** Encodes writes, which come in the order of keys and then versions, block by block. */
export class BlockEncoder {
  readonly #base: number
  readonly #keys = new ColumnWriter()
  readonly #versions = new ColumnWriter()
  readonly #ops = new ColumnWriter()
  readonly #changes = new ColumnWriter()
  readonly #wholes = new ColumnWriter()
  #first: SegmentWrite | undefined
  #key: Buffer = NO_KEY
  #value: Buffer | undefined
  #keyCount = 0
  #writes = 0
  /** Versions of the current key, which are put down when it ends. */
  #steps: number[] = []

  /** Takes the first version of the segment. */
  constructor(base: number) {
    this.#base = base
  }

  /** Returns a block that has ended before this write. */
  add(write: SegmentWrite): EncodedBlock | undefined {
    const ended = this.#length >= BLOCK_BYTES || this.#writes >= MOST_WRITES ? this.end() : undefined
    this.#first ??= write
    if (this.#keyCount === 0 || !write.key.equals(this.#key)) this.#beginKey(write.key)
    this.#steps.push(write.version)
    this.#putValue(write.value)
    this.#writes++
    return ended
  }

  /** Ends the block, if there is one. */
  end(): EncodedBlock | undefined {
    if (!this.#first) return undefined
    this.#endKey()
    const columns = [this.#keys, this.#versions, this.#ops, this.#changes, this.#wholes]
    const head = new ColumnWriter()
    for (const number of [this.#keyCount, this.#writes, ...columns.map(({ length }) => length)]) head.varint(number)
    const frame = deflateRawSync(Buffer.concat([head, ...columns].map(({ content }) => content)), DEFLATE)
    const { key: firstKey, version: firstVersion } = this.#first
    const block = { firstKey, firstVersion, storedLength: frame.length + CHECKSUM_LENGTH, frame, writes: this.#writes }
    for (const column of columns) column.clear()
    this.#first = undefined
    this.#key = NO_KEY
    this.#keyCount = 0
    this.#writes = 0
    return block
  }

  get #length(): number {
    return this.#keys.length + this.#versions.length + this.#ops.length + this.#changes.length + this.#wholes.length
  }

  #beginKey(key: Buffer): void {
    this.#endKey()
    let shared = 0
    while (shared < 255 && shared < key.length && key[shared] === this.#key[shared]) shared++
    this.#keys.byte(shared)
    this.#keys.varint(key.length - shared)
    this.#keys.bytes(key, shared, key.length)
    this.#key = key
    this.#keyCount++
    this.#value = undefined
  }

  #endKey(): void {
    if (this.#steps.length === 0) return
    this.#versions.varint(this.#steps.length)
    let before = this.#base
    for (const version of this.#steps) {
      this.#versions.varint(version - before)
      before = version
    }
    this.#steps = []
  }

  #putValue(value: Buffer | undefined): void {
    const before = this.#value
    this.#value = value
    if (!value) this.#ops.varint(0)
    else if (before?.length === value.length) this.#putChanges(before, value)
    else {
      this.#ops.varint(1)
      this.#ops.varint(value.length)
      this.#wholes.bytes(value, 0, value.length)
    }
  }

  #putChanges(before: Buffer, value: Buffer): void {
    const runs: [start: number, end: number][] = []
    for (let at = 0; at < value.length; at++) {
      if (value[at] === before[at]) continue
      const last = runs.at(-1)
      if (last && at - last[1] < LEAST_GAP) last[1] = at + 1
      else runs.push([at, at + 1])
    }
    this.#ops.varint(2 + runs.length)
    let end = 0
    for (const [start, next] of runs) {
      this.#ops.varint(start - end)
      this.#ops.varint(next - start)
      for (let at = start; at < next; at++) this.#changes.byte((value[at]! - before[at]!) & 255)
      end = next
    }
  }
}

/** The writes of a block, in their order. */
export function* decodeBlock(frame: Buffer, base: number): Generator<SegmentWrite> {
  const bytes = inflateRawSync(frame)
  const head = new ColumnReader(bytes, 0)
  const keyCount = head.varint()
  head.varint()
  const lengths = Array.from({ length: 5 }, () => head.varint())
  let at = head.at
  const columns = lengths.map((length) => {
    at += length
    return new ColumnReader(bytes, at - length)
  })
  const [keys, versions, ops, changes, wholes] = columns as [
    ColumnReader,
    ColumnReader,
    ColumnReader,
    ColumnReader,
    ColumnReader,
  ]
  let key: Buffer = NO_KEY
  for (let place = 0; place < keyCount; place++) {
    const shared = keys.byte()
    key = Buffer.concat([key.subarray(0, shared), keys.take(keys.varint())])
    let value: Buffer | undefined
    let version = base
    for (let left = versions.varint(); left > 0; left--) {
      version += versions.varint()
      value = readValue(value, ops, changes, wholes)
      yield { key, version, value }
    }
  }
}

function readValue(
  before: Buffer | undefined,
  ops: ColumnReader,
  changes: ColumnReader,
  wholes: ColumnReader,
): Buffer | undefined {
  const op = ops.varint()
  if (op === 0) return undefined
  if (op === 1) return wholes.take(ops.varint())
  const value = Buffer.from(before!)
  let at = 0
  for (let runs = op - 2; runs > 0; runs--) {
    at += ops.varint()
    for (let left = ops.varint(); left > 0; left--, at++) value[at] = value[at]! + changes.byte()
  }
  return value
}
