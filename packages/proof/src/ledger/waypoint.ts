import { ByteWriter, bytesToHexDigits, isU64 } from '@ledger-state/core'
import { notAWaypoint } from '../errors.js'
import type { LedgerHasher } from '../hashes/ledger-hasher.js'

/** The parts of a ledger info that its waypoint commits to. */
export interface WaypointParts {
  readonly epoch: bigint
  readonly accumulatorRoot: Uint8Array
  readonly version: bigint
  readonly timestampUsec: bigint
  /** State of the next epoch; `bytes` is its BCS, without the tag of the option. */
  readonly nextEpoch: { readonly bytes: Uint8Array } | undefined
}

/**
 * Computes the waypoint `version:hash`, by which a network names a point of its ledger. See docs/ledger-formats.md,
 * "Ledger infos".
 */
export function computeWaypoint(hasher: LedgerHasher, parts: WaypointParts): string {
  const { epoch, accumulatorRoot, version, timestampUsec, nextEpoch } = parts
  const writer = new ByteWriter().u64(epoch).bytes(accumulatorRoot).u64(version).u64(timestampUsec)
  writer.bool(nextEpoch !== undefined)
  if (nextEpoch) writer.bytes(nextEpoch.bytes)
  return `${version}:${bytesToHexDigits(hasher.hash('Ledger2WaypointConverter', writer.toBytes()))}`
}

const WAYPOINT = /^(0|[1-9]\d{0,19}):[0-9a-f]{64}$/

/** The version that a waypoint names. @throws `invalid_argument` if the text is not `version:hash` */
export function versionOfWaypoint(waypoint: string): bigint {
  const version = WAYPOINT.exec(waypoint)?.[1]
  if (version === undefined || !isU64(BigInt(version))) throw notAWaypoint(waypoint)
  return BigInt(version)
}
