import { parseU64 } from '@ledger-state/core'
import { versionPruned } from '@ledger-state/engine'
import {
  type Change,
  type ChangeHistoryOptions,
  firstVersionOf,
  type History,
  type LedgerState,
  type Moment,
  parseMoment,
} from '@ledger-state/ledger'
import { invalidParameter, invalidRequest } from '../../errors.js'
import type { SteppedBody } from '../../formats/page-body.js'
import type { Answer, OperationRequest, Parameter } from './operation.js'
import { type PageStart, parsePageStart, pinPage, pinPageOfPoints, rangeCursor } from './page-start.js'
import { limitParameter, MAX_PAGE_BYTES, pageLimit, parseLimit, START_PARAMETER } from './paging.js'
import { parameterOf } from './request-parts.js'
import { writeInTurns } from './turn-budget.js'

export const DEFAULT_PAGE = 100
export const MAX_PAGE = 1_000

export const FROM_PARAMETER: Parameter = {
  name: 'from',
  in: 'query',
  description: 'The first version, or a time (RFC 3339, or a date); by default the oldest known version.',
  schema: { type: 'string' },
}

export const TO_PARAMETER: Parameter = {
  name: 'to',
  in: 'query',
  description:
    'The last version, or a time (RFC 3339, or a date, which means its first microsecond in UTC); by default the latest.',
  schema: { type: 'string' },
}

export const LEAST_POINTS = 4
export const MOST_POINTS = 10_000
/** Most changes that are read for one answer of a few points, in about 100 ms of work, in turns. */
export const MOST_SAMPLED_CHANGES = 100_000

export const POINTS_PARAMETER: Parameter = {
  name: 'points',
  in: 'query',
  description: `For a curve: the most changes to return. The range is divided into equal buckets of versions, and of each the first and the last change, the least and the greatest value are shown. In place of \`limit\`; one answer reads ${MOST_SAMPLED_CHANGES} changes, and its cursor, with the same range and points, gives the rest.`,
  schema: { type: 'integer', minimum: LEAST_POINTS, maximum: MOST_POINTS },
}

export const HISTORY_PARAMETERS: readonly Parameter[] = [
  FROM_PARAMETER,
  TO_PARAMETER,
  {
    name: 'order',
    in: 'query',
    description: '`desc` (newest change first, the default) or `asc`.',
    schema: { type: 'string', enum: ['asc', 'desc'] },
  },
  START_PARAMETER,
  limitParameter(DEFAULT_PAGE, MAX_PAGE),
]

/** Request for a part of a history. */
export interface HistoryQuery {
  readonly from: Moment | undefined
  readonly to: Moment | undefined
  readonly order: 'asc' | 'desc'
  readonly start: PageStart<bigint> | undefined
  readonly limit: number | undefined
  /** Number of points; undefined if all changes are shown. */
  readonly points: number | undefined
}

/**
 * Parses the range.
 * @throws `invalid_parameter` if `from` is above `to`
 */
export function parseRange(query: string): Pick<HistoryQuery, 'from' | 'to'> {
  const from = parameterOf(query, 'from', parseMoment)
  const to = parameterOf(query, 'to', parseMoment)
  if (from && to) {
    if ('version' in from && 'version' in to && from.version > to.version)
      throw invalidParameter.rangeFromAboveTo(from.version, to.version)
    if ('timestampUsec' in from && 'timestampUsec' in to && from.timestampUsec > to.timestampUsec)
      throw invalidParameter.rangeFromAfterTo()
  }
  return { from, to }
}

/**
 * Checks the order of a range. A version and a time are compared once the ledger has found the version of the time.
 * @param first the first version of the range
 * @param last the last one
 */
export function expectOrdered({ from, to }: Pick<HistoryQuery, 'from' | 'to'>, first: bigint, last: bigint): void {
  if (from && to && 'version' in from !== 'version' in to && first > last)
    throw invalidParameter.rangeFromAboveTo(first, last)
}

export function parseHistoryQuery(query: string): HistoryQuery {
  return {
    ...parseRange(query),
    order: parseHistoryOrder(query),
    start: parsePageStart(query, parseU64),
    limit: parseLimit(query),
    points: undefined,
  }
}

/**
 * Parses the number of points.
 * @throws `invalid_request`
 */
export function parsePoints(query: string): number | undefined {
  return parameterOf(query, 'points', (text) => {
    const points = parseU64(text)
    if (points < LEAST_POINTS || points > MOST_POINTS)
      throw invalidRequest.pointsInvalid(points, LEAST_POINTS, MOST_POINTS)
    return Number(points)
  })
}

/** Parses the order of a history; the newest version is first by default. */
export function parseHistoryOrder(query: string): 'asc' | 'desc' {
  return parameterOf(query, 'order', parseOrder) ?? 'desc'
}

function parseOrder(text: string): 'asc' | 'desc' {
  if (text === 'asc' || text === 'desc') return text
  throw invalidRequest.orderInvalid(text)
}

/** Reads the changes of a page into a body, in turns. */
type ReadChanges<T> = (body: SteppedBody<Change<T>>) => Promise<HistoryPage>

type HistoryPage = Pick<Answer, 'ledger' | 'body' | 'cursor' | 'isComplete'>

/**
 * Reads one page of a history in turns of the event loop, up to the state that the request names.
 * @param write opens the body for a range that begins with a version, and reads the changes into it
 */
export async function readHistory<T>(
  request: OperationRequest,
  range: HistoryQuery,
  open: (state: LedgerState, options: ChangeHistoryOptions) => History<Change<T>>,
  write: (state: LedgerState, first: bigint, read: ReadChanges<T>) => Promise<HistoryPage>,
): Promise<HistoryPage> {
  const { order, start } = range
  const isOfPoints = range.points !== undefined
  const state = (isOfPoints ? pinPageOfPoints : pinPage)(request, range.to, start)
  const from = range.from && firstVersionOf(request.ledger, range.from)
  if (from !== undefined) expectOrdered(range, from, state.version)
  const { oldestVersion } = state.ledger
  return write(state, from !== undefined && from > oldestVersion ? from : oldestVersion, async (body) => {
    const history = open(state, {
      from,
      order,
      limit: isOfPoints ? MOST_SAMPLED_CHANGES : pageLimit(range.limit, DEFAULT_PAGE, MAX_PAGE),
      start: start?.place,
      isFull: () => body.length >= MAX_PAGE_BYTES,
    })
    await writeInTurns(request, continued(history, start?.place, state), body)
    const { cursor } = history
    const reached = isOfPoints ? state.version : cursor!
    return {
      ledger: state.ledger,
      body: await body.end(),
      cursor: cursor === undefined ? undefined : rangeCursor(String(cursor), state, reached, order, start),
      isComplete: history.complete,
    }
  })
}

/** The changes of a page, which must begin with the change that it was asked to begin with. @throws `version_pruned` */
function* continued<T>(
  changes: Iterable<Change<T>>,
  start: bigint | undefined,
  state: LedgerState,
): Generator<Change<T>> {
  let isFirst = true
  for (const change of changes) {
    if (isFirst) expectContinued(start, change.version, state)
    isFirst = false
    yield change
  }
  if (isFirst) expectContinued(start, undefined, state)
}

/**
 * Checks that the change with which the page begins was not pruned, because the page would have a gap.
 * @throws `version_pruned`
 */
function expectContinued(start: bigint | undefined, first: bigint | undefined, { ledger }: LedgerState): void {
  if (start !== undefined && start < ledger.oldestVersion && first !== start) {
    throw versionPruned(start, ledger.oldestVersion)
  }
}
