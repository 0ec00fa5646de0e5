import type { ByteReader } from '@ledger-state/core'

/** All hashes of a ledger are SHA3-256. */
export const HASH_LENGTH = 32

/** A vector of hashes. */
export function readHashes(reader: ByteReader): Uint8Array[] {
  const hashes: Uint8Array[] = []
  for (let rest = reader.readLength(); rest > 0; rest--) hashes.push(reader.readBytes(HASH_LENGTH))
  return hashes
}
