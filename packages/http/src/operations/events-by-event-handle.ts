import { addressToShortHex, isLedgerStateError } from '@ledger-state/core'
import { type EventStream, type LedgerState, readEventHandle, readField, streamEvents } from '@ledger-state/ledger'
import { isStructTag, type StructTag, typeTagToText } from '@ledger-state/type-tag'
import { invalidParameter, invalidRequest, structFieldNotFound } from '../errors.js'
import { chooseFormat } from '../protocol/accept.js'
import { ADDRESS_PARAMETER, expectLastSegment, isIdentifier, parseAccountAddress } from './parts/account-parts.js'
import { EVENT_PAGE_PARAMETERS, EVENTS_OPERATION } from './parts/event-parts.js'
import type { OperationRequest } from './parts/operation.js'
import { pageLimit } from './parts/paging.js'
import { parseAskedState, parsePart } from './parts/request-parts.js'
import {
  answerItems,
  DEFAULT_ITEMS,
  overWholeTransactions,
  parseItemLimit,
  parseU64Query,
} from './parts/transaction-parts.js'
import { asksForEventProofs, eventForms, mostEvents } from './parts/transaction-proofs.js'

export const getEventsByEventHandle = overWholeTransactions({
  ...EVENTS_OPERATION,
  id: 'get_events_by_event_handle',
  path: '/v1/accounts/{address}/events/{event_handle}/{field_name}',
  summary: 'Get events by event handle',
  description: 'Lists the events of the stream that a field of a resource names, as by creation number.',
  parameters: [
    ADDRESS_PARAMETER,
    {
      name: 'event_handle',
      in: 'path',
      description: 'The struct tag of the resource.',
      schema: { $ref: '#/components/schemas/MoveType' },
    },
    { name: 'field_name', in: 'path', description: 'The field with the event handle.', schema: { type: 'string' } },
    ...EVENT_PAGE_PARAMETERS,
  ],
  handle(request) {
    const format = chooseFormat(request.accept, 'json')
    const address = parseAccountAddress(request)
    const tag = parseHandleType(request)
    const field = expectLastSegment(request.params.field_name)
    if (!isIdentifier(field)) throw invalidRequest.fieldNameInvalid(field)
    const start = parseU64Query(request.query, 'start')
    const asked = parseItemLimit(request.query)
    const withProofs = asksForEventProofs(request)
    const moment = parseAskedState(request.query)
    request.expectOutput(format, 'Get events by event handle')
    const state = request.pin(moment)
    const stream = findStream(state, address, tag, field)
    const limit = pageLimit(asked, DEFAULT_ITEMS, mostEvents(withProofs))
    return answerItems(request, state, format, streamEvents(state, stream, { start, limit }), eventForms(withProofs))
  },
})

function parseHandleType({ ledger, params }: OperationRequest): StructTag {
  const text = params.event_handle!
  const type = parsePart('path `event_handle`', () => ledger.parseType(text))
  if (!isStructTag(type)) throw invalidRequest.structTagExpected('path `event_handle`', text)
  return type
}

function findStream(state: LedgerState, address: Uint8Array, tag: StructTag, field: string): EventStream {
  const bytes = readField(state, address, tag, field)
  if (!bytes) throw structFieldNotFound(addressToShortHex(address), typeTagToText(tag), field, state.version)
  try {
    return readEventHandle(bytes)
  } catch (error) {
    if (!isLedgerStateError(error, 'invalid_bcs')) throw error
    throw invalidParameter.notAnEventHandle(
      field,
      bytes.length > HANDLE_LENGTH ? 'remaining input' : 'unexpected end of input',
    )
  }
}

/** Bytes of an event handle: count of events, creation number, address. */
const HANDLE_LENGTH = 8 + 8 + 32
