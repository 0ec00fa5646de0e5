import { listTokens } from '@ledger-state/ledger'
import { TOKEN_FORMAT } from '../formats/holding-formats.js'
import { parseAccountAddress } from './parts/account-parts.js'
import { DEFAULT_PAGE, MAX_PAGE } from './parts/history-page.js'
import { answerPage, listSuccess, parseAskedPage } from './parts/holdings-page.js'
import { type Operation, STATE_ERRORS, STATE_PARAMETERS } from './parts/operation.js'
import { pinPage } from './parts/page-start.js'
import { limitParameter, START_PARAMETER } from './parts/paging.js'
import { parseAskedState } from './parts/request-parts.js'

export const getCollectionTokens: Operation = {
  id: 'get_collection_tokens',
  method: 'GET',
  path: '/v1/collections/{address}/tokens',
  negotiates: true,
  takesTurns: true,
  tag: 'Holdings',
  summary: 'Get tokens of a collection',
  description: 'Lists the tokens of a collection of digital assets with their owners, by address, in pages.',
  parameters: [
    {
      name: 'address',
      in: 'path',
      description: 'The collection, with or without 0x.',
      schema: { $ref: '#/components/schemas/Address' },
    },
    ...STATE_PARAMETERS,
    START_PARAMETER,
    limitParameter(DEFAULT_PAGE, MAX_PAGE),
  ],
  success: listSuccess(TOKEN_FORMAT.schema, TOKEN_FORMAT.columns),
  isPaged: true,
  errors: STATE_ERRORS,
  async handle(request) {
    const collection = parseAccountAddress(request)
    const asked = parseAskedState(request.query)
    const page = parseAskedPage(request.query)
    request.expectOutput('json', 'Get tokens of a collection')
    const state = pinPage(request, asked, page.start)
    return answerPage(request, state, page, TOKEN_FORMAT, (options) => listTokens(state, collection, options))
  },
}
