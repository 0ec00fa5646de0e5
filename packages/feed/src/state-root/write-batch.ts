import { Buffer } from 'node:buffer'
import { HASH_LENGTH, type HashBatch } from '@ledger-state/proof'
import { viewAsBuffer } from '../view-as-buffer.js'
import { NAMED_KEY_HEADER } from './merge-keys.js'
import { MessageBuffer } from './message-buffer.js'
import { addStateKey, addStateValue } from './state-hashes.js'

// Layout of writes in a message to a thread: u32 version, less the first of the range; u32 length of the key, or
// SAME_KEY; u32 length of the value, or DELETED; u32 length of the annotation; then these three.

const HEADER = 16
const SAME_KEY = 0xffff_ffff
const DELETED = 0xffff_ffff

/** Bytes of a hashed write: u32 version, u32 1 for a deletion, the hash of the key, the hash of the value. */
export const HASHED_WRITE_LENGTH: number = 8 + 2 * HASH_LENGTH
/** Where the hash of the key begins in a hashed write. */
export const HASHED_KEY_AT = 8

/** A write of a range of versions. */
export interface RangeWrite {
  /** Version, less the first of the range. */
  readonly version: number
  readonly key: Uint8Array
  /** Whether the key differs from the one of the write before. */
  readonly isNewKey: boolean
  /** Null for a deletion. */
  readonly value: Uint8Array | null
  readonly annotation: Uint8Array | undefined
}

/** Collects the writes of one message to a thread. */
export class WriteBatch {
  readonly #buffer: MessageBuffer

  constructor(capacity: number) {
    this.#buffer = new MessageBuffer(capacity)
  }

  get isEmpty(): boolean {
    return this.#buffer.isEmpty
  }

  /** Adds a write; returns false if it does not fit. */
  add({ version, key, isNewKey, value, annotation }: RangeWrite): boolean {
    const hasKey = isNewKey || this.isEmpty
    const keyLength = hasKey ? key.length : 0
    const valueLength = value?.length ?? 0
    const noteLength = annotation?.length ?? 0
    const start = this.#buffer.take(HEADER + keyLength + valueLength + noteLength)
    if (start === undefined) return false
    const { bytes } = this.#buffer
    let at = bytes.writeUInt32LE(version, start)
    at = bytes.writeUInt32LE(hasKey ? keyLength : SAME_KEY, at)
    at = bytes.writeUInt32LE(value ? valueLength : DELETED, at)
    at = bytes.writeUInt32LE(noteLength, at)
    if (hasKey) bytes.set(key, at)
    if (value) bytes.set(value, at + keyLength)
    if (annotation) bytes.set(annotation, at + keyLength + valueLength)
    return true
  }

  /** The bytes of all writes, in a buffer that may be transferred. */
  toBytes(): Uint8Array<ArrayBuffer> {
    return this.#buffer.toBytes()
  }
}

/** The writes of a batch, hashed, and their keys. */
export interface NamedWrites {
  readonly hashed: Uint8Array<ArrayBuffer>
  /** Each key with the first bits of its hash: see `namedKeyLength`. */
  readonly keys: Uint8Array<ArrayBuffer>
}

/** Hashes the writes of a batch as `hashWrites`, and names their keys. */
export function hashNamedWrites(hashes: HashBatch, batch: Uint8Array): NamedWrites {
  const hashed = hashWrites(hashes, batch)
  const bytes = viewAsBuffer(batch)
  // A message has 16 bytes before each key, more than are needed here.
  const keys = Buffer.from(new ArrayBuffer(batch.length))
  let [length, hashAt] = [0, HASHED_KEY_AT]
  for (let at = 0; at < bytes.length; hashAt += HASHED_WRITE_LENGTH) {
    const [, keyLength, valueLength, noteLength] = headerAt(bytes, at)
    const keyAt = at + HEADER
    at = keyAt + (keyLength === SAME_KEY ? 0 : keyLength) + (valueLength === DELETED ? 0 : valueLength) + noteLength
    if (keyLength === SAME_KEY) continue
    keys.set(hashed.subarray(hashAt, hashAt + 2), length)
    keys.writeUInt32LE(keyLength, length + 2)
    keys.set(bytes.subarray(keyAt, keyAt + keyLength), length + NAMED_KEY_HEADER)
    length += NAMED_KEY_HEADER + keyLength
  }
  return { hashed, keys: new Uint8Array(keys.buffer.slice(0, length) as ArrayBuffer) }
}

/** Hashes the writes of a batch, `HASHED_WRITE_LENGTH` bytes each. A key of several writes is hashed once. */
export function hashWrites(hashes: HashBatch, batch: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = viewAsBuffer(batch)
  hashes.clear()
  const count = addMessages(hashes, bytes)
  const results = hashes.flush()
  const hashed = Buffer.from(new ArrayBuffer(count * HASHED_WRITE_LENGTH))
  let [written, next, keyHash] = [0, 0, 0]
  for (let at = 0; at < bytes.length; written += HASHED_WRITE_LENGTH) {
    const [version, keyLength, valueLength, noteLength] = headerAt(bytes, at)
    const isDeletion = valueLength === DELETED
    if (keyLength !== SAME_KEY) {
      keyHash = next
      next += HASH_LENGTH
    }
    hashed.writeUInt32LE(version, written)
    hashed.writeUInt32LE(isDeletion ? 1 : 0, written + 4)
    hashed.set(results.subarray(keyHash, keyHash + HASH_LENGTH), written + HASHED_KEY_AT)
    if (!isDeletion) {
      hashed.set(results.subarray(next, next + HASH_LENGTH), written + HASHED_KEY_AT + HASH_LENGTH)
      next += HASH_LENGTH
    }
    at += HEADER + (keyLength === SAME_KEY ? 0 : keyLength) + (isDeletion ? 0 : valueLength) + noteLength
  }
  return new Uint8Array(hashed.buffer as ArrayBuffer)
}

/** Returns the number of writes. */
function addMessages(hashes: HashBatch, bytes: Buffer): number {
  let count = 0
  for (let at = 0; at < bytes.length; count++) {
    const [, keyLength, valueLength, noteLength] = headerAt(bytes, at)
    const keyAt = at + HEADER
    const valueAt = keyAt + (keyLength === SAME_KEY ? 0 : keyLength)
    const noteAt = valueAt + (valueLength === DELETED ? 0 : valueLength)
    at = noteAt + noteLength
    if (keyLength !== SAME_KEY) addStateKey(hashes, bytes.subarray(keyAt, valueAt))
    if (valueLength === DELETED) continue
    addStateValue(hashes, bytes.subarray(valueAt, noteAt), noteLength > 0 ? bytes.subarray(noteAt, at) : undefined)
  }
  return count
}

function headerAt(bytes: Buffer, at: number): [version: number, key: number, value: number, note: number] {
  return [bytes.readUInt32LE(at), bytes.readUInt32LE(at + 4), bytes.readUInt32LE(at + 8), bytes.readUInt32LE(at + 12)]
}
