import { eventsOfType } from '@ledger-state/ledger'
import { expectLastSegment } from './parts/account-parts.js'
import { EVENT_FORMS, EVENTS_OPERATION } from './parts/event-parts.js'
import { answerFound, FOUND_PARAMETERS } from './parts/found-page.js'
import { parsePart } from './parts/request-parts.js'
import { overWholeTransactions } from './parts/transaction-parts.js'

export const getEventsByType = overWholeTransactions({
  ...EVENTS_OPERATION,
  id: 'get_events_by_type',
  path: '/v1/events/{event_type}',
  takesTurns: true,
  isPaged: true,
  summary: 'Get events by type',
  description: 'Lists the events of a type, with its type arguments, in pages. Module events are among them.',
  parameters: [
    {
      name: 'event_type',
      in: 'path',
      description: 'The type of the events.',
      schema: { $ref: '#/components/schemas/MoveType' },
    },
    ...FOUND_PARAMETERS,
  ],
  handle(request) {
    const text = expectLastSegment(request.params.event_type)
    const type = parsePart('path `event_type`', () => request.ledger.parseType(text))
    return answerFound(request, 'Get events by type', (state, page) => eventsOfType(state, type, page), EVENT_FORMS)
  },
})
