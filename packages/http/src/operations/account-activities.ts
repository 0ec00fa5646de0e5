import { parseU64 } from '@ledger-state/core'
import { type ActivityCursor, firstVersionOf, listActivities } from '@ledger-state/ledger'
import { invalidRequest } from '../errors.js'
import { ACTIVITY_SCHEMA, activityFormat } from '../formats/holding-formats.js'
import { transactionsOf } from '../formats/transaction-formats.js'
import { ADDRESS_PARAMETER, parseAccountAddress } from './parts/account-parts.js'
import {
  DEFAULT_PAGE,
  expectOrdered,
  HISTORY_PARAMETERS,
  MAX_PAGE,
  parseHistoryOrder,
  parseRange,
} from './parts/history-page.js'
import { ASSET_PARAMETER, listSuccess, openListBody, parseAssetQuery } from './parts/holdings-page.js'
import { type Operation, STATE_ERRORS } from './parts/operation.js'
import { parsePageStart, pinPage, rangeCursor } from './parts/page-start.js'
import { MAX_PAGE_BYTES, pageLimit, parseLimit } from './parts/paging.js'

export const getAccountActivities: Operation = {
  id: 'get_account_activities',
  method: 'GET',
  path: '/v1/accounts/{address}/activities',
  negotiates: true,
  takesTurns: true,
  tag: 'Holdings',
  summary: 'Get activities of an account',
  description:
    'Lists every change of the holdings of an account, in pages: one for each version and store, coin stores first, then by address. The changes come from the state, not from events: the sum of the changes of an asset after version a and up to version b is the difference between its balances at b and a. If the window does not begin at genesis, the changes begin after its oldest version.',
  parameters: [ADDRESS_PARAMETER, ASSET_PARAMETER, ...HISTORY_PARAMETERS],
  success: listSuccess(ACTIVITY_SCHEMA, activityFormat(undefined).columns),
  isPaged: true,
  tellsCompleteness: true,
  errors: STATE_ERRORS,
  async handle(request) {
    const owner = parseAccountAddress(request)
    const asset = parseAssetQuery(request)
    const range = parseRange(request.query)
    const order = parseHistoryOrder(request.query)
    const start = parsePageStart(request.query, parsePlace)
    const askedLimit = parseLimit(request.query)
    request.expectOutput('json', 'Get activities of an account')
    const state = pinPage(request, range.to, start)
    const from = range.from && firstVersionOf(request.ledger, range.from)
    if (from !== undefined) expectOrdered(range, from, state.version)
    const limit = pageLimit(askedLimit, DEFAULT_PAGE, MAX_PAGE)
    const body = openListBody(request, activityFormat(transactionsOf(state)))
    const isFull = (): boolean => body.length >= MAX_PAGE_BYTES
    const page = listActivities(state, owner, { from, order, asset, start: start?.place, limit, isFull })
    const written = await body.write(page, true)
    const { cursor } = page
    return {
      ledger: state.ledger,
      contentType: body.contentType,
      body: written,
      cursor: cursor && rangeCursor(placeToText(cursor), state, cursor.version, order, start),
      isComplete: page.complete,
    }
  },
}

const PLACE = /^(\d{1,20})(?:-(\d{1,9}))?$/

/** Parses a version, and the number of activities of it that were shown: `123`, or `123-4`. */
function parsePlace(text: string): ActivityCursor {
  const [, version, shown] = PLACE.exec(text) ?? []
  if (version === undefined) throw invalidRequest.activityCursorInvalid(text)
  return { version: parseU64(version), shown: Number(shown ?? 0) }
}

function placeToText({ version, shown }: ActivityCursor): string {
  return shown === 0 ? String(version) : `${version}-${shown}`
}
