import type { ByteReader, ByteWriter } from '@ledger-state/core'

/** Length of all hashes of a ledger in bytes: they are SHA3-256. */
export const HASH_LENGTH = 32

/** Reads a vector of hashes. */
export function readHashes(reader: ByteReader): Uint8Array[] {
  const hashes: Uint8Array[] = []
  for (let rest = reader.readLength(); rest > 0; rest--) hashes.push(reader.readBytes(HASH_LENGTH))
  return hashes
}

/** Writes a vector of hashes. */
export function writeHashes(writer: ByteWriter, hashes: readonly Uint8Array[]): void {
  writer.uleb128(hashes.length)
  for (const hash of hashes) writer.bytes(hash)
}
