import { streamEvents } from '@ledger-state/ledger'
import { chooseFormat } from '../protocol/accept.js'
import { ADDRESS_PARAMETER, expectLastSegment, parseAccountAddress } from './parts/account-parts.js'
import { EVENT_PAGE_PARAMETERS, EVENTS_OPERATION } from './parts/event-parts.js'
import { pageLimit } from './parts/paging.js'
import { parseAskedState } from './parts/request-parts.js'
import {
  answerItems,
  DEFAULT_ITEMS,
  overWholeTransactions,
  parseItemLimit,
  parseU64Path,
  parseU64Query,
} from './parts/transaction-parts.js'
import { asksForEventProofs, eventForms, mostEvents } from './parts/transaction-proofs.js'

export const getEventsByCreationNumber = overWholeTransactions({
  ...EVENTS_OPERATION,
  id: 'get_events_by_creation_number',
  path: '/v1/accounts/{address}/events/{creation_number}',
  summary: 'Get events by creation number',
  description:
    'Lists the events of a stream by sequence number; by default the newest ones. Module events have no stream.',
  parameters: [
    ADDRESS_PARAMETER,
    {
      name: 'creation_number',
      in: 'path',
      description: 'The number of the stream at its account.',
      schema: { $ref: '#/components/schemas/U64' },
    },
    ...EVENT_PAGE_PARAMETERS,
  ],
  handle(request) {
    const format = chooseFormat(request.accept, 'json')
    const address = parseAccountAddress(request)
    const creationNumber = parseU64Path('creation_number', expectLastSegment(request.params.creation_number))
    const start = parseU64Query(request.query, 'start')
    const asked = parseItemLimit(request.query)
    const withProofs = asksForEventProofs(request)
    const moment = parseAskedState(request.query)
    request.expectOutput(format, 'Get events by event key')
    const state = request.pin(moment)
    const limit = pageLimit(asked, DEFAULT_ITEMS, mostEvents(withProofs))
    const events = streamEvents(state, { address, creationNumber }, { start, limit })
    return answerItems(request, state, format, events, eventForms(withProofs))
  },
})
