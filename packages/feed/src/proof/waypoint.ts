import { ByteWriter, bytesToHexDigits } from '@ledger-state/core'
import type { LedgerHasher } from './ledger-hasher.js'

export interface WaypointParts {
  readonly epoch: bigint
  readonly accumulatorRoot: Uint8Array
  readonly version: bigint
  readonly timestampUsec: bigint
  /** BCS of the next epoch's state, without the tag of its option. */
  readonly nextEpochState: Uint8Array | undefined
}

/** `version:hash`, by which a network names a point of its ledger. See docs/ledger-formats.md, "Ledger infos". */
export function computeWaypoint(hasher: LedgerHasher, parts: WaypointParts): string {
  const { epoch, accumulatorRoot, version, timestampUsec, nextEpochState } = parts
  const writer = new ByteWriter().u64(epoch).bytes(accumulatorRoot).u64(version).u64(timestampUsec)
  writer.bool(nextEpochState !== undefined)
  if (nextEpochState) writer.bytes(nextEpochState)
  return `${version}:${bytesToHexDigits(hasher.hash('Ledger2WaypointConverter', writer.toBytes()))}`
}
