import type { LedgerEvent } from '@ledger-state/ledger'
import { STATE_ERRORS, STATE_PARAMETERS } from './operation.js'
import { limitParameter } from './paging.js'
import { DEFAULT_ITEMS, type ItemForms, MOST_ITEMS, START_NUMBER_PARAMETER } from './transaction-parts.js'

/** Properties that the operations on events share. */
export const EVENTS_OPERATION = {
  method: 'GET',
  negotiates: true,
  tag: 'Events',
  success: {
    json: { type: 'array', items: { $ref: '#/components/schemas/VersionedEvent' } },
    bcs: { $ref: '#/components/schemas/Bytes' },
  },
  errors: STATE_ERRORS,
} as const

export const EVENT_PAGE_PARAMETERS = [
  START_NUMBER_PARAMETER,
  ...STATE_PARAMETERS,
  limitParameter(DEFAULT_ITEMS, MOST_ITEMS),
]

export const EVENT_FORMS: ItemForms<LedgerEvent> = { toJson: (event) => event.toJson(), toBcs: ({ bytes }) => bytes }
