import { Buffer } from 'node:buffer'
import { hash } from 'node:crypto'
import type { VersionWrites, Write } from '@ledger-state/core'
import { bytesToLatin1 } from '@ledger-state/core/bytes'
import { WRITES_HASH_LENGTH } from './commit-mark.js'
import { isHoldingsKey, isSliceLeftOutKey, isWholeTransactionKey } from './own-keys.js'

const U32 = 4
const U64 = 8
const DELETED = 0xffff_ffff

/**
 * A running hash over everything committed to a store since its first version. If two stores have the same hash at a
 * version, they began with the same version and hold the same writes. h(v) = SHA-256(h(v − 1) ‖ version), where a
 * version is u64 number · u8 1 and u64 height, epoch, time of the block that it begins, or u8 0 · u32 writes, and for
 * each, in the order of the keys, u32 length of the key · key · u32 length of the value, ffffffff for a deletion ·
 * value · u8 length of its annotation · annotation. Numbers are big-endian. Four things are left out: deletions of
 * absent keys, which no store keeps; writes of `SLICE_LEFT_OUT_KEY` and of whole transactions, whose versions depend on
 * when a store committed; and the index of holdings, which each store derives from the other writes.
 */
export class WritesHash {
  #hash: Buffer
  #bytes = Buffer.allocUnsafe(4_096)

  /** @param hash hash at the version before, as `value` returned it */
  constructor(hash: Uint8Array) {
    this.#hash = Buffer.from(hash)
  }

  /** Starts the hash of a store with its first version. */
  static begin(version: bigint): WritesHash {
    const start = Buffer.alloc(U64)
    start.writeBigUInt64BE(version)
    return new WritesHash(hash('sha256', Buffer.concat([Buffer.from('ledger-state writes'), start]), 'buffer'))
  }

  get value(): Uint8Array {
    return Uint8Array.from(this.#hash)
  }

  /**
   * Adds the writes of versions, which must follow the earlier ones.
   * @param exists whether the store held a key before the first of these versions
   */
  add(versions: readonly VersionWrites[], exists: (key: Uint8Array) => boolean): void {
    const presence = new Presence(versions, exists)
    for (const version of versions) this.#addVersion(version, presence.kept(version.writes))
  }

  #addVersion({ version, block }: VersionWrites, writes: readonly Write[]): void {
    const sorted = writes
      .filter(([key]) => !isSliceLeftOutKey(key) && !isHoldingsKey(key) && !isWholeTransactionKey(key))
      .sort(([a], [b]) => Buffer.compare(a, b))
    const length = sorted.reduce((sum, write) => sum + lengthOf(write), 0)
    const bytes = this.#room(WRITES_HASH_LENGTH + 4 * U64 + 1 + U32 + length)
    let at = this.#hash.copy(bytes)
    at = bytes.writeBigUInt64BE(version, at)
    at = bytes.writeUInt8(block ? 1 : 0, at)
    if (block)
      for (const part of [block.height, block.epoch, block.timestampUsec]) at = bytes.writeBigUInt64BE(part, at)
    at = bytes.writeUInt32BE(sorted.length, at)
    for (const [key, value, annotation] of sorted) {
      at = bytes.writeUInt32BE(key.length, at)
      bytes.set(key, at)
      at = bytes.writeUInt32BE(value ? value.length : DELETED, at + key.length)
      if (!value) continue
      bytes.set(value, at)
      at = bytes.writeUInt8(annotation?.length ?? 0, at + value.length)
      if (!annotation) continue
      bytes.set(annotation, at)
      at += annotation.length
    }
    this.#hash = hash('sha256', bytes.subarray(0, at), 'buffer')
  }

  #room(length: number): Buffer {
    if (length > this.#bytes.length) this.#bytes = Buffer.allocUnsafe(2 * length)
    return this.#bytes
  }
}

function lengthOf([key, value, annotation]: Write): number {
  return 2 * U32 + key.length + (value ? value.length + 1 + (annotation?.length ?? 0) : 0)
}

/** Which keys exist while versions are processed. It is tracked only if one of them deletes something. */
class Presence {
  readonly #exists: (key: Uint8Array) => boolean
  readonly #written: Map<string, boolean> | undefined

  constructor(versions: readonly VersionWrites[], exists: (key: Uint8Array) => boolean) {
    this.#exists = exists
    const deletes = versions.some(({ writes }) => writes.some(([, value]) => value === null))
    this.#written = deletes ? new Map() : undefined
  }

  /** The writes without deletions of absent keys. */
  kept(writes: readonly Write[]): readonly Write[] {
    const written = this.#written
    if (!written) return writes
    return writes.filter(([key, value]) => {
      const name = keyName(key)
      const isKept = value !== null || (written.get(name) ?? this.#exists(key))
      written.set(name, value !== null)
      return isKept
    })
  }
}

/** A key as a text, which differs for each key. */
export function keyName(key: Uint8Array): string {
  return bytesToLatin1(key)
}
