import type { KeyedEntry } from '@ledger-state/core'
import type { HashBatch } from '@ledger-state/proof'
import { viewAsBuffer } from '../view-as-buffer.js'
import { MessageBuffer } from './message-buffer.js'
import { addStateKey, addStateValue } from './state-hashes.js'

// Layout of entries in a message to a thread: u32 length of the key, u32 of the value, u32 of the annotation, then
// these three.

const HEADER = 12

/** Collects the entries of one message to a thread. */
export class EntryBatch {
  readonly #buffer: MessageBuffer

  constructor(capacity: number) {
    this.#buffer = new MessageBuffer(capacity)
  }

  get isEmpty(): boolean {
    return this.#buffer.isEmpty
  }

  /** Adds an entry; returns false if it does not fit. */
  add({ key, value, annotation }: KeyedEntry): boolean {
    const noteLength = annotation?.length ?? 0
    const start = this.#buffer.take(HEADER + key.length + value.length + noteLength)
    if (start === undefined) return false
    const { bytes } = this.#buffer
    let at = bytes.writeUInt32LE(key.length, start)
    at = bytes.writeUInt32LE(value.length, at)
    at = bytes.writeUInt32LE(noteLength, at)
    bytes.set(key, at)
    bytes.set(value, at + key.length)
    if (annotation) bytes.set(annotation, at + key.length + value.length)
    return true
  }

  /** The bytes of all entries, in a buffer that may be transferred. */
  toBytes(): Uint8Array<ArrayBuffer> {
    return this.#buffer.toBytes()
  }
}

/** Hashes the entries of a batch into leaves of `LEAF_LENGTH` bytes each. */
export function hashEntries(hashes: HashBatch, batch: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = viewAsBuffer(batch)
  hashes.clear()
  for (let at = 0; at < bytes.length; ) {
    const keyAt = at + HEADER
    const valueAt = keyAt + bytes.readUInt32LE(at)
    const noteAt = valueAt + bytes.readUInt32LE(at + 4)
    at = noteAt + bytes.readUInt32LE(at + 8)
    addStateKey(hashes, bytes.subarray(keyAt, valueAt))
    addStateValue(hashes, bytes.subarray(valueAt, noteAt), at > noteAt ? bytes.subarray(noteAt, at) : undefined)
  }
  // The hash of a key is followed by the hash of its value, as in a leaf.
  return Uint8Array.from(hashes.flush())
}
