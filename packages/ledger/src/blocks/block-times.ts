import type { StateReader } from '@ledger-state/engine'
import type { LedgerState } from '../state/ledger-state.js'

/**
 * Returns a function from versions to the times of their blocks, in microseconds since 1970; undefined below the
 * window. It remembers the last block, since successive versions often share one.
 */
export function createBlockTimes(reader: StateReader, oldestVersion: bigint): (version: bigint) => bigint | undefined {
  let block: ReturnType<StateReader['blockAt']> | undefined
  return (version) => {
    if (version < oldestVersion) return undefined
    if (!block || version < block.firstVersion || version > block.lastVersion) block = reader.blockAt(version)
    return block.block.timestampUsec
  }
}

/** Same as `createBlockTimes`, for versions up to the version of a state. */
export function blockTimesOf({ source, ledger }: LedgerState): (version: bigint) => bigint | undefined {
  return createBlockTimes(source.reader, ledger.oldestVersion)
}
