import { applyPatch } from '@ledger-state/state-engine/patches'
import type { ByteArena } from './byte-arena.js'
import { DELETED, KEY_WIDTH, type PackedWrites, WRITE_WIDTH } from './packed-writes.js'

/** Reads packed writes by their numbers. */
export class WriteReader {
  readonly count: number
  readonly keyCount: number
  readonly #packed: PackedWrites
  /** Number of the version of each write, counted from the first. */
  readonly #versions: Uint32Array

  constructor(packed: PackedWrites) {
    const { keys, writes, counts } = packed
    this.#packed = packed
    this.count = writes.length / WRITE_WIDTH
    this.keyCount = keys.length / KEY_WIDTH
    this.#versions = new Uint32Array(this.count)
    for (let version = 0, write = 0; version < counts.length; version++) {
      for (let left = counts[version]!; left > 0; left--) this.#versions[write++] = version
    }
  }

  version(write: number): bigint {
    return this.#packed.first + BigInt(this.#versions[write]!)
  }

  time(write: number): bigint {
    return this.#packed.times[this.#versions[write]!]!
  }

  /** Number of the key of a write. */
  keyOf(write: number): number {
    return this.#packed.writes[WRITE_WIDTH * write]!
  }

  /** A key by its number, a view of the buffer. */
  key(number: number): Uint8Array {
    const { chunks, keys } = this.#packed
    const at = KEY_WIDTH * number
    return viewOf(chunks[keys[at]!]!, keys[at + 1]!, keys[at + 2]!)
  }

  /** The value, a view of the buffer or of the arena; null for a deletion. */
  value(write: number, arena: ByteArena): Uint8Array | null {
    const { chunks, writes } = this.#packed
    const at = WRITE_WIDTH * write
    const base = writes[at + 1]!
    if (base === DELETED) return null
    const [chunk, start, length] = [chunks[writes[at + 2]!]!, writes[at + 3]!, writes[at + 4]!]
    if (base === write) return viewOf(chunk, start, length)
    const atBase = WRITE_WIDTH * base
    const before = viewOf(chunks[writes[atBase + 2]!]!, writes[atBase + 3]!, writes[atBase + 4]!)
    const value = arena.reserve(before.length)
    value.set(before)
    applyPatch(value, 0, value.length, chunk, start, start + length)
    return value
  }
}

function viewOf({ buffer, byteOffset }: Uint8Array, start: number, length: number): Uint8Array {
  return new Uint8Array(buffer, byteOffset + start, length)
}
