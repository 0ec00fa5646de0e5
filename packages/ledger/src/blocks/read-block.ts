import type { BlockInfo } from '@ledger-state/core'
import { type Block, type LedgerSummary, type StateReader, versionNotFound, versionPruned } from '@ledger-state/engine'
import { blockNotFound, blockPruned } from '../errors.js'
import { readBlockHash } from './block-hash.js'

/** A block with its first and last version, and its hash if the state has it. */
export interface LedgerBlock extends BlockInfo {
  readonly firstVersion: bigint
  /** Last version of the block; for the newest block the latest version of the pinned ledger. */
  readonly lastVersion: bigint
  /** Hash of 32 bytes, zeros for the genesis block; undefined if the state does not have it. */
  readonly hash: Uint8Array | undefined
}

// The store may commit and prune after `ledger` was pinned. Answers are those of the pinned ledger.

/**
 * The block with a height.
 * @throws `block_not_found`, `block_pruned`
 */
export function blockByHeight(reader: StateReader, ledger: LedgerSummary, height: bigint): LedgerBlock {
  if (height > ledger.latestBlock.height) throw blockNotFound(height)
  const block = height < ledger.oldestBlock.height ? undefined : reader.blockByHeight(height)
  if (!block) throw blockPruned(height)
  return describeBlock(reader, ledger, block)
}

/**
 * The block of a version.
 * @throws `version_not_found`, `version_pruned`
 */
export function blockByVersion(reader: StateReader, ledger: LedgerSummary, version: bigint): LedgerBlock {
  const { latestVersion, oldestVersion } = ledger
  if (version > latestVersion) throw versionNotFound(version)
  if (version < oldestVersion) throw versionPruned(version, oldestVersion)
  return describeBlock(reader, ledger, reader.blockAt(version))
}

function describeBlock(reader: StateReader, { latestVersion }: LedgerSummary, found: Block): LedgerBlock {
  const { firstVersion, block } = found
  const lastVersion = found.lastVersion < latestVersion ? found.lastVersion : latestVersion
  return { ...block, firstVersion, lastVersion, hash: readBlockHash(reader.at(firstVersion), block.height) }
}
