import type { BlockInfo } from '@ledger-state/core'
import { type Block, versionNotFound, versionPruned } from '@ledger-state/engine'
import { blockNotFound, blockPruned } from '../errors.js'
import type { LedgerState } from '../state/ledger-state.js'
import { blockIdAt } from '../transactions/ledger-transaction.js'
import { readBlockHash } from './block-hash.js'

/** A block with its first and last version, and its hash if the state has it. */
export interface LedgerBlock extends BlockInfo {
  readonly firstVersion: bigint
  /** Last version of the block; for the newest block the latest version of the pinned ledger. */
  readonly lastVersion: bigint
  /** Hash of 32 bytes, zeros for the genesis block; undefined if the state does not have it. */
  readonly hash: Uint8Array | undefined
}

// The store may commit and prune after `ledger` was pinned. Answers are about the pinned ledger.

/**
 * The block of `state.ledger` with a height, whatever version is read.
 * @throws `block_not_found`, `block_pruned`
 */
export function blockByHeight(state: LedgerState, height: bigint): LedgerBlock {
  const { ledger, source } = state
  if (height > ledger.latestBlock.height) throw blockNotFound(height)
  const block = height < ledger.oldestBlock.height ? undefined : source.reader.blockByHeight(height)
  if (!block) throw blockPruned(height)
  return describeBlock(state, block)
}

/**
 * The block of `state.ledger` with a version.
 * @throws `version_not_found`, `version_pruned`
 */
export function blockByVersion(state: LedgerState, version: bigint): LedgerBlock {
  const { latestVersion, oldestVersion } = state.ledger
  if (version > latestVersion) throw versionNotFound(version)
  if (version < oldestVersion) throw versionPruned(version, oldestVersion)
  return describeBlock(state, state.source.reader.blockAt(version))
}

function describeBlock(state: LedgerState, found: Block): LedgerBlock {
  const { ledger, source } = state
  const { latestVersion } = ledger
  const { firstVersion, block } = found
  const lastVersion = found.lastVersion < latestVersion ? found.lastVersion : latestVersion
  const hash = blockIdAt(state, firstVersion) ?? readBlockHash(source.reader.at(firstVersion), block.height)
  return { ...block, firstVersion, lastVersion, hash }
}
