import { ByteWriter, bytesToHex } from '@ledger-state/core'
import type { LedgerBlock } from '@ledger-state/ledger'
import { blockHashUnknown } from '../errors.js'

/** A block as JSON, with members in the order of the reference; transactions are not kept. */
export function blockToJson({ height, hash, timestampUsec, firstVersion, lastVersion }: LedgerBlock): string {
  return JSON.stringify({
    block_height: String(height),
    block_hash: hash ? bytesToHex(hash) : null,
    block_timestamp: String(timestampUsec),
    first_version: String(firstVersion),
    last_version: String(lastVersion),
    transactions: null,
  })
}

/**
 * A block in BCS.
 * @throws `block_hash_unknown`
 */
export function blockToBcs({ height, hash, timestampUsec, firstVersion, lastVersion }: LedgerBlock): Uint8Array {
  if (!hash) throw blockHashUnknown(height)
  const writer = new ByteWriter().u64(height).bytes(hash).u64(timestampUsec).u64(firstVersion).u64(lastVersion)
  return writer.bool(false).toBytes()
}
