import { eventsOfType, type FieldFilter } from '@ledger-state/ledger'
import { invalidParameter } from '../errors.js'
import { queryParameter, queryParametersUnder } from '../protocol/query.js'
import { expectLastSegment } from './parts/account-parts.js'
import { EVENTS_OPERATION } from './parts/event-parts.js'
import { answerFound, FOUND_PARAMETERS } from './parts/found-page.js'
import type { Parameter } from './parts/operation.js'
import { parsePart } from './parts/request-parts.js'
import { overWholeTransactions } from './parts/transaction-parts.js'
import { asksForEventProofs, EVENT_PROOF_PARAMETER, eventForms, mostEvents } from './parts/transaction-proofs.js'

const FILTER_PREFIX = 'field.'
const MOST_FILTERS = 8

/** The filters are query parameters of their own: `style` and `explode` of a query's object are `form` and true. */
const FILTERS_PARAMETER: Parameter = {
  name: 'filters',
  in: 'query',
  description:
    'Values of fields, each as a query parameter `field.NAME=VALUE`; `field.NAME.INNER` is a field of an inner struct.',
  schema: {
    type: 'object',
    patternProperties: { '^field\\.[A-Za-z_$][A-Za-z0-9_$.]*$': { type: 'string' } },
    additionalProperties: false,
    maxProperties: MOST_FILTERS,
  },
}

export const getEventsByType = overWholeTransactions({
  ...EVENTS_OPERATION,
  id: 'get_events_by_type',
  path: '/v1/events/{event_type}',
  takesTurns: true,
  isPaged: true,
  tellsCompleteness: true,
  summary: 'Get events by type',
  description:
    'Lists the events of a type, with its type arguments, in pages. Module events are among them. A query parameter `field.NAME=VALUE` keeps the events whose field has that value: a boolean, an integer, an address, an object, a string or bytes; `field.NAME.INNER` is a field of an inner struct. A filtered page may end early, even without events, and then has a cursor.',
  parameters: [
    {
      name: 'event_type',
      in: 'path',
      description: 'The type of the events.',
      schema: { $ref: '#/components/schemas/MoveType' },
    },
    ...FOUND_PARAMETERS,
    FILTERS_PARAMETER,
    EVENT_PROOF_PARAMETER,
  ],
  handle(request) {
    const text = expectLastSegment(request.params.event_type)
    const type = parsePart('path `event_type`', () => request.ledger.parseType(text))
    const filters = parseFilters(request.query)
    const withProofs = asksForEventProofs(request)
    const what = 'Get events by type'
    return answerFound(
      request,
      what,
      (state, page) => eventsOfType(state, type, page, filters),
      eventForms(withProofs),
      mostEvents(withProofs),
    )
  },
})

/** @throws `invalid_parameter` for too many filters, or the name of their object instead of theirs */
function parseFilters(query: string): readonly FieldFilter[] {
  const { name } = FILTERS_PARAMETER
  if (queryParameter(query, name) !== undefined) throw invalidParameter.filtersTogether(name, `${FILTER_PREFIX}NAME`)
  const filters: FieldFilter[] = []
  for (const [path, value] of queryParametersUnder(query, FILTER_PREFIX)) {
    if (filters.length === MOST_FILTERS) throw invalidParameter.tooManyFilters(MOST_FILTERS)
    filters.push({ path, value })
  }
  return filters
}
