import type { StateReader } from '@ledger-state/engine'

/**
 * The times of the blocks of versions, in microseconds since 1970; undefined below the window. Versions that are asked for
 * one after the other often share a block.
 */
export function createBlockTimes(reader: StateReader, oldestVersion: bigint): (version: bigint) => bigint | undefined {
  let block: ReturnType<StateReader['blockAt']> | undefined
  return (version) => {
    if (version < oldestVersion) return undefined
    if (!block || version < block.firstVersion || version > block.lastVersion) block = reader.blockAt(version)
    return block.block.timestampUsec
  }
}
