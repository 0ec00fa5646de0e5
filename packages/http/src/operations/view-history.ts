import { hexToBytes, parseU64 } from '@ledger-state/core'
import {
  type Change,
  firstVersionOf,
  type LedgerState,
  momentToTime,
  parseInterval,
  type ViewAnswer,
  type ViewHistory,
  type ViewSample,
  viewHistory,
} from '@ledger-state/ledger'
import { invalidRequest } from '../errors.js'
import { changePrinter } from '../formats/history-formats.js'
import type { PageBody } from '../formats/page-body.js'
import { transactionsOf } from '../formats/transaction-formats.js'
import { printAnswer, ViewChangesCsvBody } from '../formats/view-history-formats.js'
import { prefersCsv } from '../protocol/accept.js'
import { CONTENT_TYPE } from '../protocol/media-types.js'
import { changesCsvOf, changesOf } from './parts/history-operation.js'
import {
  DEFAULT_PAGE,
  expectOrdered,
  HISTORY_PARAMETERS,
  type HistoryQuery,
  MAX_PAGE,
  parseHistoryQuery,
} from './parts/history-page.js'
import { type Answer, type AnswerBody, BODY_ERRORS, type Operation, type Parameter } from './parts/operation.js'
import { PrintedArrayBody } from './parts/page-bodies.js'
import { pinPage, pinPageOfPoints, rangeCursor } from './parts/page-start.js'
import { MAX_PAGE_BYTES, pageLimit } from './parts/paging.js'
import { parameterOf } from './parts/request-parts.js'
import { stateKeyToText } from './parts/state-key-text.js'
import { TurnBudget } from './parts/turn-budget.js'
import { parseViewCall } from './parts/view-request.js'
import { PageRuns, readChanges } from './parts/view-runs.js'

/** Most keys in the header. */
const MOST_STEP_KEYS = 8
export const MOST_SAMPLES = 10_000

const SAMPLE_PARAMETERS: readonly Parameter[] = [
  {
    name: 'every',
    in: 'query',
    description:
      'Points in time instead of changes: the answers of the view at every multiple of a duration since 1970, such as 30s, 15m, 1h, 1d or 1w. Times as `from` and `to` are the first and last possible points.',
    schema: { type: 'string', examples: ['1d'] },
  },
  {
    name: 'samples',
    in: 'query',
    description:
      'Instead of changes, the answers of the view at this number of versions, evenly spaced over the range.',
    schema: { type: 'integer', minimum: 2, maximum: MOST_SAMPLES },
  },
  {
    name: 'ignore',
    in: 'query',
    description:
      'With `clock`, blocks that write only the time are skipped, even if the view reads the time; then not all changes are shown.',
    schema: { type: 'string', enum: ['clock'] },
  },
]

export const getViewHistory: Operation = {
  id: 'get_view_history',
  method: 'POST',
  path: '/v1/view/history',
  negotiates: true,
  takesTurns: true,
  tag: 'Histories',
  summary: 'Get history of a view function',
  description:
    'Lists the versions at which the answer of a view function changed, with the new answer. The list is exact: `/v1/view` at any version gives the answer of the newest entry at or below it. A run that fails has an `error` instead of `values`. Newest first, or `order=asc`; in pages, which may end early.',
  parameters: [...HISTORY_PARAMETERS, ...SAMPLE_PARAMETERS],
  requestBody: { $ref: '#/components/schemas/ViewRequest' },
  success: {
    json: changesOf({ values: { type: 'array', items: {} } }),
    csv: changesCsvOf('result (result_0 and so on where there are several)'),
  },
  isPaged: true,
  tellsCompleteness: true,
  tellsFacts: true,
  errors: BODY_ERRORS,
  async handle(request) {
    const { rules } = request.views
    const asCsv = prefersCsv(request.accept)
    const readCall = parseViewCall(request)
    const asked = parseHistoryQuery(request.query)
    const range = { ...asked, ...parseSample(request.query, asked) }
    const { order, start } = range
    // A place may be a version or a time, so it is not given without its branch.
    if (start && !start.seen) throw invalidRequest.cursorInvalid(String(start.place))
    rules.expectServed()
    request.expectOutput('json', 'View function')
    const turn = new TurnBudget(request)
    const isOfPoints = range.sample !== undefined && 'points' in range.sample
    const state = (isOfPoints ? pinPageOfPoints : pinPage)(request, range.to, start)
    const call = readCall()
    rules.expectAllowed(call.address, call.module, call.function)
    const from = range.from && firstVersionOf(request.ledger, range.from)
    if (from !== undefined) expectOrdered(range, from, state.version)
    // Points in time have no transaction.
    const transactionOf = range.sample ? undefined : transactionsOf(state)
    const body: PageBody<Change<ViewAnswer>> = asCsv
      ? new ViewChangesCsvBody(request.openBody(), transactionOf, turn)
      : new PrintedArrayBody(request.openBody(), changePrinter('values', printAnswer, transactionOf))
    const runs = new PageRuns(request.views)
    const history = viewHistory(state, call, {
      from,
      order,
      limit: pageLimit(range.limit, DEFAULT_PAGE, MAX_PAGE),
      start: start?.place,
      sample: range.sample,
      ignoresClock: range.ignoresClock,
      budget: rules.budget,
      computesElsewhere: true,
      isFull: () => body.length >= MAX_PAGE_BYTES || runs.areSpent,
      onRun: (report) => runs.add(report),
    })
    await readChanges(request.views, history, (change) => body.add(change), turn)
    const written = await body.end()
    const { cursor } = history
    if (cursor === undefined) return answerOf(state, history, written, asCsv)
    const isTime = range.sample !== undefined && !isOfPoints
    const reached = isTime ? firstVersionOf(request.ledger, { timestampUsec: cursor }) : cursor
    return {
      ...answerOf(state, history, written, asCsv),
      cursor: rangeCursor(String(cursor), state, isOfPoints ? state.version : reached, order, start),
    }
  },
}

function answerOf(state: LedgerState, history: ViewHistory, body: AnswerBody, asCsv: boolean): Answer {
  const { complete, exact, dependsOnClock, unchanged, steps } = history
  const mostFrequent = [...steps].sort(([, a], [, b]) => b - a).slice(0, MOST_STEP_KEYS)
  const stepKeys = mostFrequent.map(([hex, count]) => `${stateKeyToText(hexToBytes(hex))}=${count}`).join(', ')
  return {
    ledger: state.ledger,
    contentType: CONTENT_TYPE[asCsv ? 'csv' : 'json'],
    body,
    isComplete: complete,
    facts: {
      exact: String(exact),
      'depends-on-clock': String(dependsOnClock),
      unchanged: String(unchanged),
      'step-keys': stepKeys,
    },
  }
}

function parseSample(
  query: string,
  { from, to }: Pick<HistoryQuery, 'from' | 'to'>,
): { readonly sample: ViewSample | undefined; readonly ignoresClock: boolean } {
  const everyUsec = parameterOf(query, 'every', parseInterval)
  const points = parameterOf(query, 'samples', parseSamples)
  const ignored = parameterOf(query, 'ignore', (text) => {
    if (text !== 'clock') throw invalidRequest.ignoredUnknown(text)
    return text
  })
  if (everyUsec !== undefined && points !== undefined) throw invalidRequest.everyAndSamples()
  const sample =
    everyUsec !== undefined
      ? { everyUsec, fromUsec: momentToTime(from), toUsec: momentToTime(to) }
      : points !== undefined
        ? { points }
        : undefined
  return { sample, ignoresClock: ignored !== undefined }
}

function parseSamples(text: string): number {
  const points = parseU64(text)
  if (points < 2n || points > MOST_SAMPLES) throw invalidRequest.samplesInvalid(points, MOST_SAMPLES)
  return Number(points)
}
