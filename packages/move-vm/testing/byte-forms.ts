import { copyBytes } from '@ledger-state/core/bytes'

/** The forms in which a host may give bytes, by name: LMDB and feeds give parts of pooled buffers. */
export const BYTE_FORMS: Readonly<Record<string, (bytes: Uint8Array) => Uint8Array>> = {
  'a Uint8Array': (bytes) => copyBytes(bytes),
  'a part of a Uint8Array': (bytes) => pooled(bytes, (length) => new Uint8Array(length)),
  'a Buffer': (bytes) => Buffer.from(bytes),
  'a part of a pooled Buffer': toPooledBuffer,
}

/** Copies bytes into a part of a Buffer, which is a part of Node's pool if it is short. */
export function toPooledBuffer(bytes: Uint8Array): Uint8Array {
  return pooled(bytes, (length) => Buffer.allocUnsafe(length))
}

function pooled(bytes: Uint8Array, allocate: (length: number) => Uint8Array): Uint8Array {
  const pool = allocate(bytes.length + 16).fill(0xcc)
  pool.set(bytes, 7)
  return pool.subarray(7, 7 + bytes.length)
}
