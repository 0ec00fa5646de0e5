import { ByteWriter, bytesToHex } from '@ledger-state/core'
import type { LedgerBlock } from '@ledger-state/ledger'
import { blockHashUnknown } from '../errors.js'

/** A block as JSON, with members in the order of the reference, without transactions. */
export function blockToJson(block: LedgerBlock): string {
  return `${blockToJsonHead(block)}null}`
}

/** A block as JSON up to its transactions. */
export function blockToJsonHead({ height, hash, timestampUsec, firstVersion, lastVersion }: LedgerBlock): string {
  const members = JSON.stringify({
    block_height: String(height),
    block_hash: hash ? bytesToHex(hash) : null,
    block_timestamp: String(timestampUsec),
    first_version: String(firstVersion),
    last_version: String(lastVersion),
  })
  return `${members.slice(0, -1)},"transactions":`
}

/**
 * A block in BCS, without transactions.
 * @throws `block_hash_unknown`
 */
export function blockToBcs(block: LedgerBlock): Uint8Array {
  return blockFields(block).bool(false).toBytes()
}

/**
 * A block in BCS up to the vector of its transactions.
 * @throws `block_hash_unknown`
 */
export function blockToBcsHead(block: LedgerBlock): Uint8Array {
  return blockFields(block).bool(true).toBytes()
}

function blockFields({ height, hash, timestampUsec, firstVersion, lastVersion }: LedgerBlock): ByteWriter {
  if (!hash) throw blockHashUnknown(height)
  return new ByteWriter().u64(height).bytes(hash).u64(timestampUsec).u64(firstVersion).u64(lastVersion)
}
