import { ByteWriter } from '@ledger-state/core'
import type { LedgerSummary } from '@ledger-state/engine'

const ROLE_FULL_NODE = 1

/** `GET /v1` as JSON, with members in the order of the reference. */
export function ledgerInfoToJson({
  chainId,
  latestVersion,
  latestBlock,
  oldestVersion,
  oldestBlock,
}: LedgerSummary): string {
  return JSON.stringify({
    chain_id: Number(chainId),
    epoch: String(latestBlock.epoch),
    ledger_version: String(latestVersion),
    oldest_ledger_version: String(oldestVersion),
    ledger_timestamp: String(latestBlock.timestampUsec),
    node_role: 'full_node',
    oldest_block_height: String(oldestBlock.height),
    block_height: String(latestBlock.height),
    git_hash: null,
    encryption_key: null,
  })
}

/** `GET /v1` in BCS: the first eight members. */
export function ledgerInfoToBcs({
  chainId,
  latestVersion,
  latestBlock,
  oldestVersion,
  oldestBlock,
}: LedgerSummary): Uint8Array {
  return new ByteWriter()
    .u8(Number(chainId))
    .u64(latestBlock.epoch)
    .u64(latestVersion)
    .u64(oldestVersion)
    .u64(latestBlock.timestampUsec)
    .uleb128(ROLE_FULL_NODE)
    .u64(oldestBlock.height)
    .u64(latestBlock.height)
    .toBytes()
}
