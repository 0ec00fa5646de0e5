import { listBalances, readAssetMetadata } from '@ledger-state/ledger'
import { holdingFormat } from '../formats/holding-formats.js'
import { ADDRESS_PARAMETER, parseAccountAddress } from './parts/account-parts.js'
import { DEFAULT_PAGE, MAX_PAGE } from './parts/history-page.js'
import {
  ASSET_PARAMETER,
  answerPage,
  listSuccess,
  METADATA_PARAMETER,
  parseAskedPage,
  parseAssetQuery,
  parseSwitch,
} from './parts/holdings-page.js'
import { type Operation, STATE_ERRORS, STATE_PARAMETERS } from './parts/operation.js'
import { pinPage } from './parts/page-start.js'
import { limitParameter, START_PARAMETER } from './parts/paging.js'
import { parseAskedState } from './parts/request-parts.js'

const { schema, columns } = holdingFormat(undefined)

export const getAccountBalances: Operation = {
  id: 'get_account_balances',
  method: 'GET',
  path: '/v1/accounts/{address}/balances',
  negotiates: true,
  takesTurns: true,
  tag: 'Holdings',
  summary: 'Get balances of an account',
  description:
    'Lists the holdings of an account, in pages: its coin stores by coin type, then its fungible stores by address, with the account as their direct owner. An asset that it holds as a coin and in several stores has several items. A page may end before its limit.',
  parameters: [
    ADDRESS_PARAMETER,
    ASSET_PARAMETER,
    {
      name: 'nonzero',
      in: 'query',
      description: 'With `true`, stores that hold nothing are omitted.',
      schema: { type: 'boolean' },
    },
    METADATA_PARAMETER,
    ...STATE_PARAMETERS,
    START_PARAMETER,
    limitParameter(DEFAULT_PAGE, MAX_PAGE),
  ],
  success: listSuccess(schema, columns),
  isPaged: true,
  errors: STATE_ERRORS,
  async handle(request) {
    const owner = parseAccountAddress(request)
    const asset = parseAssetQuery(request)
    const isNonzero = parseSwitch(request.query, 'nonzero')
    const withMetadata = parseSwitch(request.query, 'with_metadata')
    const asked = parseAskedState(request.query)
    const page = parseAskedPage(request.query)
    request.expectOutput('json', 'Get balances of an account')
    const state = pinPage(request, asked, page.start)
    const format = holdingFormat(withMetadata ? (of) => readAssetMetadata(state, of) : undefined)
    return answerPage(request, state, page, format, (options) =>
      listBalances(state, owner, { asset, isNonzero, ...options }),
    )
  },
}
