import type { ByteReader } from '@ledger-state/core'
import { HASH_LENGTH } from './hash-bytes.js'

/** What validators sign: the ledger up to a version. Its signatures are not checked. */
export interface LedgerInfo {
  readonly accumulatorRoot: Uint8Array
  readonly version: bigint
}

/** Reads a ledger info with signatures, which ends the bytes. See docs/ledger-formats.md, "Ledger infos". */
export function readLedgerInfo(reader: ByteReader): LedgerInfo {
  const start = reader.offset
  const tag = reader.readUleb128()
  if (tag !== 0) throw reader.fault(`unknown variant ${tag} of ledger info`, start)
  reader.skip(8 + 8 + HASH_LENGTH)
  const accumulatorRoot = reader.readBytes(HASH_LENGTH)
  const version = reader.readU64()
  reader.skip(8)
  if (reader.readBool()) skipEpochState(reader)
  reader.skip(HASH_LENGTH)
  reader.readByteString()
  if (reader.readBool()) reader.readByteString()
  reader.expectEnd()
  return { accumulatorRoot, version }
}

/** Epoch, then the address, public key and voting power of each validator. */
function skipEpochState(reader: ByteReader): void {
  reader.skip(8)
  for (let rest = reader.readLength(); rest > 0; rest--) {
    reader.skip(HASH_LENGTH)
    reader.readByteString()
    reader.skip(8)
  }
}
