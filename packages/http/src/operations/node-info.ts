import { storeBaseOf, transactionsSince, wholeTransactionsSince } from '@ledger-state/ledger'
import { CONTENT_TYPE } from '../protocol/media-types.js'
import type { Operation } from './parts/operation.js'

export const getNodeInfo: Operation = {
  id: 'info',
  method: 'GET',
  path: '/v1/info',
  negotiates: false,
  tag: 'General',
  summary: 'Show node information',
  description: 'The program that answers, its chain and the versions that can be read.',
  parameters: [],
  success: {
    json: {
      type: 'object',
      required: ['software', 'chain_id', 'oldest_ledger_version', 'ledger_version', 'base', 'base_version'],
      properties: {
        software: { type: 'string', enum: ['ledger-state'] },
        chain_id: { type: 'integer', minimum: 0, maximum: 255 },
        oldest_ledger_version: { $ref: '#/components/schemas/U64' },
        ledger_version: { $ref: '#/components/schemas/U64' },
        base: {
          type: 'string',
          enum: ['genesis', 'state', 'assumed_empty'],
          description:
            'The state that the store began with. After an assumed empty one, values that were written earlier are missing.',
        },
        base_version: { $ref: '#/components/schemas/U64' },
        transactions_since: {
          oneOf: [{ $ref: '#/components/schemas/U64' }, { type: 'null' }],
          description:
            'The first version since which every version that wrote state has its transaction, without pruned ones; null if transactions are not kept.',
        },
        whole_transactions_since: {
          oneOf: [{ $ref: '#/components/schemas/U64' }, { type: 'null' }],
          description:
            'The first version since which every version has its whole transaction, or every one of the slice, without pruned ones; null if the newest has none.',
        },
      },
    },
  },
  errors: [400, 403, 500, 503],
  handle(request) {
    request.expectOutput('json', 'Show node information')
    const state = request.pin(undefined)
    const { ledger } = state
    const since = transactionsSince(state)
    const wholeSince = wholeTransactionsSince(state)
    const base = storeBaseOf(state)
    const body = JSON.stringify({
      software: 'ledger-state',
      chain_id: Number(ledger.chainId),
      oldest_ledger_version: String(ledger.oldestVersion),
      ledger_version: String(ledger.latestVersion),
      base: base.kind,
      base_version: String(base.version),
      transactions_since: since === undefined ? null : String(since),
      whole_transactions_since: wholeSince === undefined ? null : String(wholeSince),
    })
    return { ledger, contentType: CONTENT_TYPE.json, body }
  },
}
