import { listHolders, listLargestHolders, MOST_SORTED_HOLDERS, readAssetMetadata } from '@ledger-state/ledger'
import { invalidRequest } from '../errors.js'
import { holdingFormat } from '../formats/holding-formats.js'
import { ASSET_TYPE_PARAMETER, parseAssetType } from './parts/account-parts.js'
import { DEFAULT_PAGE, MAX_PAGE } from './parts/history-page.js'
import { answerPage, listSuccess, METADATA_PARAMETER, parseAskedPage, parseSwitch } from './parts/holdings-page.js'
import { type Operation, STATE_ERRORS, STATE_PARAMETERS } from './parts/operation.js'
import { pinPage } from './parts/page-start.js'
import { limitParameter, START_PARAMETER } from './parts/paging.js'
import { parameterOf, parseAskedState } from './parts/request-parts.js'

const { schema, columns } = holdingFormat(undefined)

export const getAssetHolders: Operation = {
  id: 'get_asset_holders',
  method: 'GET',
  path: '/v1/assets/{asset_type}/holders',
  negotiates: true,
  takesTurns: true,
  tag: 'Holdings',
  summary: 'Get holders of an asset',
  description:
    'Lists who holds an asset, in pages: for a coin type the accounts with a coin store, by address; for a fungible asset its stores, by address, with their owners.',
  parameters: [
    ASSET_TYPE_PARAMETER,
    {
      name: 'order',
      in: 'query',
      description: `\`address\` (the default), or \`amount\`: the largest amount first, then by address. An asset with more than ${MOST_SORTED_HOLDERS} stores is not sorted by amount (400): read all pages as CSV, and sort them.`,
      schema: { type: 'string', enum: ['address', 'amount'] },
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
    const asset = parseAssetType(request)
    const order = parameterOf(request.query, 'order', parseOrder) ?? 'address'
    const withMetadata = parseSwitch(request.query, 'with_metadata')
    const asked = parseAskedState(request.query)
    const page = parseAskedPage(request.query)
    request.expectOutput('json', 'Get holders of an asset')
    const state = pinPage(request, asked, page.start)
    const format = holdingFormat(withMetadata ? (of) => readAssetMetadata(state, of) : undefined)
    const isSorted = order === 'amount'
    const list = isSorted ? listLargestHolders : listHolders
    return answerPage(request, state, page, format, (options) => list(state, asset, options), isSorted)
  },
}

function parseOrder(text: string): 'address' | 'amount' {
  if (text === 'address' || text === 'amount') return text
  throw invalidRequest.holderOrderInvalid(text)
}
