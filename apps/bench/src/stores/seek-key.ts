import { Buffer } from 'node:buffer'

const U64_MAX = 2n ** 64n - 1n
export const latestQuestion = U64_MAX

/** The key and 8 bytes that sort newer versions first. No key of a workload is a prefix of another. */
export function seekKey(key: Uint8Array, version: bigint): Buffer {
  const bytes = Buffer.allocUnsafe(key.length + 8)
  bytes.set(key)
  bytes.writeBigUInt64BE(U64_MAX - version, key.length)
  return bytes
}

export function seekKeyBelongsTo(found: Uint8Array, key: Uint8Array): boolean {
  return found.length === key.length + 8 && Buffer.compare(found.subarray(0, key.length), key) === 0
}

/** A byte that distinguishes values from deletions, followed by the value. */
export function seekValue(value: Uint8Array | null): Buffer {
  return value ? Buffer.concat([Buffer.of(1), value]) : Buffer.of(0)
}

/** The value of a stored row; undefined for a deletion. */
export function seekValueToAnswer(stored: Uint8Array): Uint8Array | undefined {
  return stored[0] === 1 ? stored.subarray(1) : undefined
}
