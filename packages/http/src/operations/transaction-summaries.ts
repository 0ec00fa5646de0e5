import { addressToShortHex, ByteWriter, bytesToHex } from '@ledger-state/core'
import { type TransactionSummary, transactionSummaries } from '@ledger-state/ledger'
import { chooseFormat } from '../protocol/accept.js'
import { ADDRESS_PARAMETER, parseAccountAddress } from './parts/account-parts.js'
import { versionInQuery } from './parts/named-place.js'
import { type Parameter, STATE_ERRORS, STATE_PARAMETERS } from './parts/operation.js'
import { limitParameter } from './parts/paging.js'
import { parseAskedState } from './parts/request-parts.js'
import {
  answerItems,
  MOST_ITEMS,
  overWholeTransactions,
  parseItemLimit,
  parseU64Query,
  shortForms,
} from './parts/transaction-parts.js'

/** Variants of the replay protection in BCS. */
const PROTECTION = { nonce: 0, sequence_number: 1 } as const

const FORMS = shortForms<TransactionSummary>(
  ({ sender, version, hash, protection }) => {
    return `{"sender":"${addressToShortHex(sender)}","version":"${version}","transaction_hash":"${bytesToHex(hash)}","replay_protector":"${protection.number}"}`
  },
  ({ sender, version, hash, protection }) => {
    const writer = new ByteWriter().u8(0).bytes(sender).u64(version).bytes(hash)
    return writer.u8(PROTECTION[protection.kind]).u64(protection.number).toBytes()
  },
)

function versionParameter(name: string, description: string): Parameter {
  return { name, in: 'query', description, schema: { $ref: '#/components/schemas/U64' } }
}

export const getAccountTransactionSummaries = overWholeTransactions({
  id: 'get_account_transaction_summaries',
  method: 'GET',
  path: '/v1/accounts/{address}/transaction_summaries',
  negotiates: true,
  tag: 'Transactions',
  summary: 'Get account transaction summaries',
  description:
    'Lists version, hash and replay protection of the transactions that an account sent, by version, including those without sequence numbers.',
  parameters: [
    ADDRESS_PARAMETER,
    versionParameter('start_version', 'The first version. The oldest summaries since then are listed.'),
    versionParameter('end_version', 'The last version, without `start_version`: the newest summaries up to there.'),
    ...STATE_PARAMETERS,
    limitParameter(MOST_ITEMS, MOST_ITEMS),
  ],
  success: {
    json: { type: 'array', items: { $ref: '#/components/schemas/TransactionSummary' } },
    bcs: { $ref: '#/components/schemas/Bytes' },
  },
  errors: STATE_ERRORS,
  namedPlace: versionInQuery('start_version', 'end_version'),
  handle(request) {
    const format = chooseFormat(request.accept, 'json')
    const address = parseAccountAddress(request)
    const startVersion = parseU64Query(request.query, 'start_version')
    const endVersion = parseU64Query(request.query, 'end_version')
    const limit = Math.min(parseItemLimit(request.query) ?? MOST_ITEMS, MOST_ITEMS)
    const moment = parseAskedState(request.query)
    request.expectOutput(format, 'Get account transaction summaries')
    const state = request.pin(moment)
    const summaries = transactionSummaries(state, address, { startVersion, endVersion, limit })
    return answerItems(request, state, format, summaries, FORMS)
  },
})
