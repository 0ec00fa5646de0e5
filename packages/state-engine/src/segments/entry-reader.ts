import { operationLength } from './block-layout.js'
import { ByteOutput } from './byte-output.js'
import { MOST_ENTRY_WRITES } from './format.js'
import { applyPatch } from './patch.js'
import { VarintReader } from './varint-reader.js'

/** End of a value that marks a deletion. */
export const DELETED = -1

/** All writes of an entry of a block, with their values. */
export class EntryReader extends VarintReader {
  count = 0
  /** Versions, less the first of the file. */
  readonly versions = new Float64Array(MOST_ENTRY_WRITES)
  /** The value of a write is `bytes[starts, ends)`, or it is a deletion if its end is `DELETED`. */
  readonly starts = new Float64Array(MOST_ENTRY_WRITES)
  readonly ends = new Float64Array(MOST_ENTRY_WRITES)
  bytes: Uint8Array = new Uint8Array(0)
  readonly #operations = new Float64Array(MOST_ENTRY_WRITES)
  #restored: ByteOutput | undefined

  /** Reads an entry, beginning with its number of writes. The bytes must not change while the values are used. */
  read(bytes: Uint8Array, at: number): void {
    this.next = at + 1
    this.count = Math.min(bytes[at]!, MOST_ENTRY_WRITES)
    let version = 0
    for (let write = 0; write < this.count; write++) {
      version += this.readVarint(bytes)
      this.versions[write] = version
    }
    let hasPatches = false
    for (let write = 0; write < this.count; write++) {
      const operation = this.readVarint(bytes)
      this.#operations[write] = operation
      if (operation > 0 && (operation & 1) === 0) hasPatches = true
    }
    if (hasPatches) this.#restore(bytes)
    else this.#takeInPlace(bytes)
  }

  #takeInPlace(bytes: Uint8Array): void {
    this.bytes = bytes
    for (let write = 0; write < this.count; write++) {
      const operation = this.#operations[write]!
      this.starts[write] = this.next
      this.next += operationLength(operation)
      this.ends[write] = operation === 0 ? DELETED : this.next
    }
  }

  /** Puts the values one after the other, with the patches applied. */
  #restore(bytes: Uint8Array): void {
    this.#restored ??= new ByteOutput()
    const restored = this.#restored
    restored.length = 0
    for (let write = 0; write < this.count; write++) {
      const operation = this.#operations[write]!
      const end = this.next + operationLength(operation)
      const start = restored.length
      if ((operation & 1) === 1) restored.part(bytes, this.next, end)
      else if (operation > 0 && write > 0 && this.ends[write - 1] !== DELETED) {
        restored.part(restored.bytes, this.starts[write - 1]!, this.ends[write - 1]!)
        applyPatch(restored.bytes, start, restored.length, bytes, this.next, end)
      }
      this.starts[write] = start
      this.ends[write] = operation === 0 ? DELETED : restored.length
      this.next = end
    }
    this.bytes = restored.bytes
  }
}
