import { bytesToHexDigits, parseU64 } from '@ledger-state/core'
import { branchOf, versionNotFound, versionTruncated } from '@ledger-state/engine'
import type { LedgerState, Moment } from '@ledger-state/ledger'
import { invalidRequest } from '../../errors.js'
import { readableParameter } from '../../protocol/query.js'
import type { OperationRequest } from './operation.js'
import { parameterOf } from './request-parts.js'
import { type SeenPlace, seenPlace } from './seen-place.js'

// A cursor is a place in a list, the number of the newest truncation, and the newest version on which the pages so far
// depend: `101.0.100`. Once that version is cut off, these pages and the next ones do not belong together.

/** Where a page begins. */
export interface PageStart<T> {
  readonly place: T
  /** Undefined if the client gives a place that is no cursor. */
  readonly seen: SeenLedger | undefined
}

interface SeenLedger {
  readonly branch: number
  /** Undefined in a cursor of an earlier release, which named only the branch. */
  readonly version: bigint | undefined
}

const CURSOR = /^([^.]*)(?:\.(\d{1,9})(?:\.(\d{1,20}))?)?$/
const ANY_VERSION = 2n ** 64n

/** Parses the start of a page; undefined if the query has none. */
export function parsePageStart<T>(query: string, parsePlace: (text: string) => T): PageStart<T> | undefined {
  return parameterOf(query, 'start', (text) => {
    const [, place, branch, version] = CURSOR.exec(text) ?? []
    if (place === undefined) throw invalidRequest.cursorInvalid(text)
    const newest = version === undefined ? undefined : parseU64(version)
    return {
      place: parsePlace(place),
      seen: branch === undefined ? undefined : { branch: Number(branch), version: newest },
    }
  })
}

/** The place in the ledger that the pages before have shown; undefined if the query has no cursor, or not a correct one. */
export function placeOfCursor(query: string): SeenPlace | undefined {
  const text = readableParameter(query, 'start')
  if (text === undefined) return undefined
  const [, , branch, version] = CURSOR.exec(text) ?? []
  if (branch === undefined || version === undefined) return undefined
  return seenPlace(BigInt(version), Number(branch))
}

/**
 * Pins the state of a page.
 * @throws `version_truncated` if the pages before depend on versions that were cut off; `version_not_found` if they
 * come from a branch that the store does not know
 */
export function pinPage(
  request: OperationRequest,
  asked: Moment | undefined,
  start: PageStart<unknown> | undefined,
): LedgerState {
  const state = request.pin(asked)
  if (start?.seen) expectSameBranch(start.seen, state)
  return state
}

/**
 * Pins the state of a page of evenly spaced points. The points depend on the end of the range, so later pages have the
 * end of the first one, although the ledger may have grown: it is the newest version on which they depend.
 * @throws as `pinPage`
 */
export function pinPageOfPoints(
  request: OperationRequest,
  to: Moment | undefined,
  start: PageStart<unknown> | undefined,
): LedgerState {
  const seen = start?.seen
  const isFixed = to !== undefined && 'version' in to
  if (seen?.version === undefined || isFixed) return pinPage(request, to, start)
  // The end itself may have been cut off.
  expectSameBranch(seen, request.ledger.at())
  return request.pin(to, seen.version)
}

function expectSameBranch({ branch, version = ANY_VERSION }: SeenLedger, { ledger }: LedgerState): void {
  if (branch > branchOf(ledger)) throw versionNotFound(version === ANY_VERSION ? ledger.latestVersion + 1n : version)
  const cut = ledger.truncations?.find((one) => one.number > branch && one.version < version)
  if (cut) throw versionTruncated(cut.version + 1n)
}

/** Cursor of a list of a state, which the pages depend on as a whole. */
export function listCursor(place: Uint8Array | undefined, state: LedgerState): string | undefined {
  return place && cursorToText(bytesToHexDigits(place), state, state.version)
}

/**
 * Cursor of a list in the order of versions. Pages with the oldest first depend on the versions up to the place, others
 * on all versions up to the last one of the first page.
 * @param reached version of the place; of evenly spaced points, the last version of the range
 * @param last the last version of the range
 */
export function rangeCursor(
  place: string,
  state: LedgerState,
  reached: bigint,
  order: 'asc' | 'desc',
  start: PageStart<unknown> | undefined,
  last = state.version,
): string {
  return cursorToText(place, state, order === 'asc' ? reached : (start?.seen?.version ?? last))
}

function cursorToText(place: string, { ledger }: LedgerState, newest: bigint): string {
  return `${place}.${branchOf(ledger)}.${newest}`
}
