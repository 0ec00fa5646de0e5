import { parseU64 } from '@ledger-state/core'
import { branchOf, type LedgerSummary, versionNotFound, versionPruned } from '@ledger-state/engine'
import { invalidRequest } from '../../errors.js'
import { type SeenPlace, seenPlace } from '../parts/seen-place.js'

/** Place in a stream: everything up to a version was sent, on a branch of the ledger. */
export interface StreamPosition {
  /** Last version whose entry was sent, or that has none; -1 before version 0. */
  readonly version: bigint
  /** Number of the newest truncation when the version was read; undefined if the client does not know it. */
  readonly branch: number | undefined
}

const ID = /^(\d{1,20})(?:\.(\d{1,9}))?$/

/** The id of an entry: a version, and the branch to which it belongs. */
export function positionToId({ version, branch }: StreamPosition): string {
  return `${version}.${branch ?? 0}`
}

/**
 * Parses the id of an entry; a version without a branch belongs to the newest one.
 * @throws `invalid_request`
 */
export function parsePosition(text: string): StreamPosition {
  const [, version, branch] = ID.exec(text) ?? []
  if (version === undefined) throw invalidRequest.eventIdInvalid(text)
  return { version: parseU64(version), branch: branch === undefined ? undefined : Number(branch) }
}

/** The place that the id of an entry names; undefined if it is no such id. */
export function idToPlace(text: string): SeenPlace | undefined {
  const [, version, branch] = ID.exec(text) ?? []
  if (version === undefined || branch === undefined) return undefined
  return seenPlace(BigInt(version), Number(branch))
}

/** A position on the newest branch, and the truncation that moved it back, if one did. */
export interface MovedPosition {
  readonly position: StreamPosition & { readonly branch: number }
  readonly isCut: boolean
}

/**
 * Moves a position to the newest branch of a ledger: if versions up to it were cut off since, it moves back to the
 * newest version that was left. An earlier truncation stays in the list only if it cut lower, so the lowest newer one
 * counts.
 * @throws `version_pruned` if a version after it is not kept; `version_not_found` if it is above the latest version, or
 * of a branch that the ledger does not have
 */
export function moveToLedger({ version, branch }: StreamPosition, ledger: LedgerSummary): MovedPosition {
  const newest = branchOf(ledger)
  if (branch !== undefined && branch > newest) throw versionNotFound(version)
  let left = version
  for (const one of ledger.truncations ?? []) {
    if (branch !== undefined && one.number > branch && one.version < left) left = one.version
  }
  // The writes of the oldest version cannot be told from older ones.
  if (left < ledger.oldestVersion) throw versionPruned(left + 1n, ledger.oldestVersion)
  if (left > ledger.latestVersion) throw versionNotFound(left)
  return { position: { version: left, branch: newest }, isCut: left < version }
}
