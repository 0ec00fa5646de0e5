import { ByteWriter } from '@ledger-state/core'
import { type Asset, type LedgerState, readBalance } from '@ledger-state/ledger'
import { routeNotFound } from '../errors.js'
import type { JsonSchema } from '../formats/json-schema.js'
import { chooseFormat } from '../protocol/accept.js'
import { matchesEtag, valueEtag } from '../protocol/etag.js'
import { CONTENT_TYPE, type OutputFormat } from '../protocol/media-types.js'
import { ADDRESS_PARAMETER, ASSET_TYPE_PARAMETER, parseAccountAddress, parseAssetType } from './parts/account-parts.js'
import {
  type Answer,
  type Operation,
  type OperationRequest,
  STATE_ERRORS,
  STATE_PARAMETERS,
} from './parts/operation.js'
import { answerWithValues } from './parts/proven-values.js'
import { parseAskedState } from './parts/request-parts.js'
import { type AskedProof, expectProofSource, orProven, PROOF_PARAMETERS, parseAskedProof } from './parts/state-read.js'
import { TurnBudget } from './parts/turn-budget.js'

/** JSON schema of a balance: a number, as in the reference. */
export const BALANCE_SCHEMA: JsonSchema = { type: 'integer', format: 'uint64', minimum: 0 }

export const getAccountBalance: Operation = {
  id: 'get_account_balance',
  method: 'GET',
  negotiates: true,
  path: '/v1/accounts/{address}/balance/{asset_type}',
  tag: 'Accounts',
  summary: 'Get account balance',
  description:
    'Reads the balance of an account in a coin or fungible asset: the sum of the coin store (if the asset is a coin) and the primary fungible store. A store that does not exist counts as 0. With `proof=true` the answer is `{value, proof}`, with a proof of both stores, there or not. In BCS: a u64.',
  parameters: [
    ADDRESS_PARAMETER,
    ASSET_TYPE_PARAMETER,
    ...STATE_PARAMETERS,
    ...PROOF_PARAMETERS,
    {
      name: 'If-None-Match',
      in: 'header',
      description: 'The `ETag` of an earlier answer at a version: 304 if the balance is still the same.',
      schema: { type: 'string' },
    },
  ],
  success: {
    json: orProven(BALANCE_SCHEMA, 'ValuesProof'),
    bcs: { $ref: '#/components/schemas/Bytes' },
  },
  isTagged: true,
  errors: STATE_ERRORS,
  handle(request) {
    const format = chooseFormat(request.accept, 'json')
    if (request.params.asset_type === '') throw routeNotFound()
    const owner = parseAccountAddress(request)
    const asset = parseAssetType(request)
    const asked = parseAskedState(request.query)
    const proof = parseAskedProof(request)
    request.expectOutput(format, 'Get account balance')
    const state = request.pin(asked)
    if (proof) return proveBalance(request, { state, owner, asset }, proof, format)
    const contentType = CONTENT_TYPE[format]
    const balance = readBalance(state, owner, asset)
    const body = encodeBalance(balance, format)
    // The balance at the latest version changes, so it has no tag.
    if (asked === undefined || !('version' in asked)) return { ledger: state.ledger, contentType, body }
    const etag = valueEtag(balance, format)
    const notModified = matchesEtag(request.ifNoneMatch, etag)
    return { ledger: state.ledger, contentType, body: notModified ? '' : body, etag, notModified }
  },
}

function encodeBalance(balance: bigint, format: OutputFormat): string | Uint8Array {
  return format === 'json' ? String(balance) : new ByteWriter().u64(balance).toBytes()
}

/** A balance to prove. */
interface BalanceRead {
  readonly state: LedgerState
  readonly owner: Uint8Array
  readonly asset: Asset
}

async function proveBalance(
  request: OperationRequest,
  { state, owner, asset }: BalanceRead,
  { from }: AskedProof,
  format: OutputFormat,
): Promise<Answer> {
  const source = expectProofSource(request, state)
  const { coinStore, primaryStore } = state.source.balanceKeys.keysOf(owner, asset)
  const keys = coinStore ? [coinStore, primaryStore] : [primaryStore]
  const value = Buffer.from(encodeBalance(readBalance(state, owner, asset), format))
  return await answerWithValues(request, { state, source, from, format, turn: new TurnBudget(request) }, keys, value)
}
