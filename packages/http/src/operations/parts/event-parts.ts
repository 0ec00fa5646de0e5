import { STATE_ERRORS, STATE_PARAMETERS } from './operation.js'
import { limitParameter } from './paging.js'
import { orProven } from './state-read.js'
import { DEFAULT_ITEMS, MOST_ITEMS, START_NUMBER_PARAMETER } from './transaction-parts.js'
import { EVENT_PROOF_PARAMETER } from './transaction-proofs.js'

/** Properties that the operations on events share. */
export const EVENTS_OPERATION = {
  method: 'GET',
  negotiates: true,
  tag: 'Events',
  success: {
    json: { type: 'array', items: orProven({ $ref: '#/components/schemas/VersionedEvent' }, 'EventProof') },
    bcs: { $ref: '#/components/schemas/Bytes' },
  },
  errors: STATE_ERRORS,
} as const

export const EVENT_PAGE_PARAMETERS = [
  START_NUMBER_PARAMETER,
  ...STATE_PARAMETERS,
  EVENT_PROOF_PARAMETER,
  limitParameter(DEFAULT_ITEMS, MOST_ITEMS),
]
