import { isLedgerStateError, parseU64, versionPruned } from '@ledger-state/core'
import { type Change, type History, type HistoryOptions, type LedgerState, parseTimestamp } from '@ledger-state/ledger'
import { orderInvalid } from '../errors.js'
import type { Answer, AskedState, OperationRequest, Parameter } from './operation.js'
import {
  addHeld,
  limitParameter,
  MAX_PAGE_BYTES,
  type PageBody,
  pageLimit,
  parseLimit,
  START_PARAMETER,
} from './paging.js'
import { parameterOf } from './request-parts.js'
import { TurnBudget } from './turn-budget.js'

export const DEFAULT_PAGE = 100
export const MAX_PAGE = 1_000

export const FROM_PARAMETER: Parameter = {
  name: 'from',
  in: 'query',
  description: 'The first version, or a time (RFC 3339); by default the oldest that is known.',
  schema: { type: 'string' },
}

export const TO_PARAMETER: Parameter = {
  name: 'to',
  in: 'query',
  description: 'The last version, or a time (RFC 3339); by default the latest.',
  schema: { type: 'string' },
}

export const HISTORY_PARAMETERS: readonly Parameter[] = [
  FROM_PARAMETER,
  TO_PARAMETER,
  {
    name: 'order',
    in: 'query',
    description: '`desc`, the newest change first, when omitted; or `asc`.',
    schema: { type: 'string', enum: ['asc', 'desc'] },
  },
  START_PARAMETER,
  limitParameter(DEFAULT_PAGE, MAX_PAGE),
]

/** What a request asks of a history. */
export interface HistoryRange {
  readonly from: AskedState | undefined
  readonly to: AskedState | undefined
  readonly order: 'newestFirst' | 'oldestFirst'
  readonly start: bigint | undefined
  readonly limit: number | undefined
}

export function parseHistoryRange(query: string): HistoryRange {
  return {
    from: parameterOf(query, 'from', parseMoment),
    to: parameterOf(query, 'to', parseMoment),
    order: parameterOf(query, 'order', parseOrder) ?? 'newestFirst',
    start: parameterOf(query, 'start', parseU64),
    limit: parseLimit(query),
  }
}

/** A version, or a time as RFC 3339, which has a hyphen. */
export function parseMoment(text: string): AskedState {
  return text.includes('-') ? { timestampUsec: parseTimestamp(text) } : { version: parseU64(text) }
}

function parseOrder(text: string): 'newestFirst' | 'oldestFirst' {
  if (text === 'desc') return 'newestFirst'
  if (text === 'asc') return 'oldestFirst'
  throw orderInvalid(text)
}

/** One page of a history, read in turns of the event loop, until the state that the request names. */
export async function readHistory<T>(
  request: OperationRequest,
  range: HistoryRange,
  open: (state: LedgerState, options: HistoryOptions) => History<Change<T>>,
  body: PageBody<Change<T>>,
): Promise<Pick<Answer, 'ledger' | 'body' | 'cursor' | 'isComplete'>> {
  const turn = new TurnBudget(request)
  const state = request.pin(range.to)
  const { order, start } = range
  const history = open(state, {
    from: range.from && firstVersion(request, range.from),
    order,
    limit: pageLimit(range.limit, DEFAULT_PAGE, MAX_PAGE),
    start,
    isFull: () => body.length >= MAX_PAGE_BYTES,
  })
  let isFirst = true
  for (const change of history) {
    if (isFirst) expectContinued(start, change.version, state)
    isFirst = false
    addHeld(request, body, change)
    if (turn.isSpent) await turn.nextTurn()
  }
  if (isFirst) expectContinued(start, undefined, state)
  return {
    ledger: state.ledger,
    body: body.toBytes(),
    cursor: history.cursor === undefined ? undefined : String(history.cursor),
    isComplete: history.complete,
  }
}

/** A page that begins at a version whose change was pruned since would leave out what nobody can tell. */
function expectContinued(start: bigint | undefined, first: bigint | undefined, { ledger }: LedgerState): void {
  if (start !== undefined && start < ledger.oldestVersion && first !== start) {
    throw versionPruned(start, ledger.oldestVersion)
  }
}

/** The first version at or after a moment; 0 of a time before the oldest block. */
function firstVersion(request: OperationRequest, moment: AskedState): bigint {
  if ('version' in moment) return moment.version
  if (moment.timestampUsec === 0n) return 0n
  try {
    return request.versionOf({ timestampUsec: moment.timestampUsec - 1n }) + 1n
  } catch (error) {
    if (isLedgerStateError(error, 'version_pruned')) return 0n
    throw error
  }
}
