import { parseU64 } from '@ledger-state/core'
import {
  type FoundCursor,
  type FoundOptions,
  type FoundPage,
  firstVersionOf,
  type LedgerState,
  lastVersionOf,
  type Moment,
} from '@ledger-state/ledger'
import { invalidRequest } from '../../errors.js'
import { chooseFormat } from '../../protocol/accept.js'
import { expectOrdered, HISTORY_PARAMETERS, parseHistoryOrder, parseRange } from './history-page.js'
import type { Answer, OperationRequest, Parameter } from './operation.js'
import { type PageStart, parsePageStart, pinPage, rangeCursor } from './page-start.js'
import { limitParameter, MAX_PAGE_BYTES, pageLimit, parseLimit } from './paging.js'
import { answerItems, DEFAULT_ITEMS, type ItemForms, MOST_ITEMS } from './transaction-parts.js'

/** Parameters of a search in the transactions of a range of versions. */
export const FOUND_PARAMETERS: readonly Parameter[] = [
  ...HISTORY_PARAMETERS.filter(({ name }) => name !== 'limit'),
  limitParameter(DEFAULT_ITEMS, MOST_ITEMS),
]

/**
 * Answers with a page of the results of a search in the transactions of a range of versions.
 * @param most most items of a page
 */
export async function answerFound<T>(
  request: OperationRequest,
  what: string,
  open: (state: LedgerState, options: FoundOptions) => FoundPage<T>,
  forms: ItemForms<T>,
  most = MOST_ITEMS,
): Promise<Answer> {
  const format = chooseFormat(request.accept, 'json')
  const range = parseRange(request.query)
  const order = parseHistoryOrder(request.query)
  const start = parsePageStart(request.query, parsePlace)
  const asked = parseLimit(request.query)
  request.expectOutput(format, what)
  const { state, to } = pinFound(request, range.to, start)
  const from = range.from && firstFoundOf(request, state, range.from)
  if (from !== undefined) expectOrdered(range, from, to)
  const limit = Math.min(pageLimit(asked, DEFAULT_ITEMS, MOST_ITEMS), most)
  let length = 0
  const counted: ItemForms<T> = {
    *toJson(item) {
      return noted(yield* forms.toJson(item))
    },
    *toBcs(item) {
      return noted(yield* forms.toBcs(item))
    },
  }
  const noted = <V extends string | Uint8Array>(value: V): V => {
    length += value.length
    return value
  }
  const page = open(state, { from, to, order, start: start?.place, limit, isFull: () => length >= MAX_PAGE_BYTES })
  const answer = await answerItems(request, state, format, page, counted)
  const { cursor } = page
  return {
    ...answer,
    isComplete: page.isComplete,
    cursor: cursor && rangeCursor(`${cursor.version}-${cursor.shown}`, state, cursor.version, order, start, to),
  }
}

/**
 * Pins the state of the last version of a range; the newest state for a version that only kept transactions may reach.
 */
function pinFound(
  request: OperationRequest,
  to: Moment | undefined,
  start: PageStart<FoundCursor> | undefined,
): { readonly state: LedgerState; readonly to: bigint } {
  if (to && 'version' in to) {
    const state = pinPage(request, undefined, start)
    const { oldestVersion } = state.ledger
    if (to.version < oldestVersion && state.transactions.oldestVersion < oldestVersion) return { state, to: to.version }
  }
  const state = pinPage(request, to, start)
  return { state, to: state.version }
}

/**
 * The first version of a range. Transactions may be kept longer than the state, which knows the times of versions.
 * @throws `version_pruned` for a time that only kept transactions may reach
 */
function firstFoundOf({ ledger }: OperationRequest, state: LedgerState, from: Moment): bigint {
  const { oldestVersion, oldestBlock } = state.ledger
  const isUnknown = 'timestampUsec' in from && from.timestampUsec < oldestBlock.timestampUsec
  return isUnknown && state.transactions.oldestVersion < oldestVersion
    ? lastVersionOf(ledger, from)
    : firstVersionOf(ledger, from)
}

const PLACE = /^(\d{1,20})-(\d{1,9})$/

function parsePlace(text: string): FoundCursor {
  const [, version, shown] = PLACE.exec(text) ?? []
  if (version === undefined) throw invalidRequest.cursorInvalid(text)
  return { version: parseU64(version), shown: Number(shown) }
}
