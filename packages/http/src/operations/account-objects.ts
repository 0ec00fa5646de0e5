import { listOwnedObjects } from '@ledger-state/ledger'
import { OBJECT_FORMAT } from '../formats/holding-formats.js'
import { ADDRESS_PARAMETER, parseAccountAddress } from './parts/account-parts.js'
import { DEFAULT_PAGE, MAX_PAGE } from './parts/history-page.js'
import { answerPage, listSuccess, parseAskedPage } from './parts/holdings-page.js'
import { type Operation, STATE_ERRORS, STATE_PARAMETERS } from './parts/operation.js'
import { pinPage } from './parts/page-start.js'
import { limitParameter, START_PARAMETER } from './parts/paging.js'
import { parseAskedState } from './parts/request-parts.js'

export const getAccountObjects: Operation = {
  id: 'get_account_objects',
  method: 'GET',
  path: '/v1/accounts/{address}/objects',
  negotiates: true,
  takesTurns: true,
  tag: 'Holdings',
  summary: 'Get objects of an account',
  description:
    'Lists the objects that an account or an object owns directly, by address, in pages. For nested ownership, ask for the objects of the object.',
  parameters: [ADDRESS_PARAMETER, ...STATE_PARAMETERS, START_PARAMETER, limitParameter(DEFAULT_PAGE, MAX_PAGE)],
  success: listSuccess(OBJECT_FORMAT.schema, OBJECT_FORMAT.columns),
  isPaged: true,
  errors: STATE_ERRORS,
  async handle(request) {
    const owner = parseAccountAddress(request)
    const asked = parseAskedState(request.query)
    const page = parseAskedPage(request.query)
    request.expectOutput('json', 'Get objects of an account')
    const state = pinPage(request, asked, page.start)
    return answerPage(request, state, page, OBJECT_FORMAT, (options) => listOwnedObjects(state, owner, options))
  },
}
