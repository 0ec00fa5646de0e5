import { parseU64 } from '@ledger-state/core'
import { hasWholeTransactions, type LedgerBlock, type LedgerState } from '@ledger-state/ledger'
import { invalidRequest, operationDisabled, transactionNotKept } from '../../errors.js'
import { blockToBcs, blockToBcsHead, blockToJson, blockToJsonHead } from '../../formats/block-formats.js'
import { chooseFormat } from '../../protocol/accept.js'
import { CONTENT_TYPE, type OutputFormat } from '../../protocol/media-types.js'
import { expectLastSegment } from './account-parts.js'
import { type Answer, type OperationRequest, type Parameter, STATE_ERRORS } from './operation.js'
import { parameterOf, parsePart } from './request-parts.js'
import { bodyOfItems, lastOfPage, TRANSACTION_FORMS, transactionsBetween } from './transaction-parts.js'

export const WITH_TRANSACTIONS_PARAMETER: Parameter = {
  name: 'with_transactions',
  in: 'query',
  description: 'With `true`, the transactions of the block, if the store keeps them: 10,000 at most.',
  schema: { type: 'boolean' },
}

export const BLOCK_DESCRIPTION =
  'The hash is null if neither the state nor a kept transaction contains it; then there is no BCS form.'

/** Properties that both operations on blocks share. */
export const BLOCK_OPERATION = {
  method: 'GET',
  negotiates: true,
  tag: 'Blocks',
  success: { json: { $ref: '#/components/schemas/Block' }, bcs: { $ref: '#/components/schemas/Bytes' } },
  errors: STATE_ERRORS,
} as const

/** Answers with the block that `read` finds by the parameter of the path. */
export function readBlock(
  request: OperationRequest,
  parameter: string,
  what: string,
  read: (state: LedgerState, at: bigint) => LedgerBlock,
): Answer | Promise<Answer> {
  const format = chooseFormat(request.accept, 'json')
  const text = expectLastSegment(request.params[parameter])
  const at = parsePart(`path \`${parameter}\``, () => parseU64(text))
  const withTransactions = parseWithTransactions(request.query)
  request.expectOutput(format, what)
  const state = withTransactions ? pinWhole(request, what) : request.pin(undefined)
  const block = read(state, at)
  if (format === 'bcs') expectHashInSlice(state, block)
  if (withTransactions) return blockWithTransactions(request, state, format, block)
  const body = format === 'json' ? blockToJson(block) : blockToBcs(block)
  return { ledger: state.ledger, contentType: CONTENT_TYPE[format], body }
}

/** @throws `transaction_not_kept` if a slice left out the transaction that has the hash of the block */
function expectHashInSlice(state: LedgerState, { hash, firstVersion }: LedgerBlock): void {
  if (!hash && state.source.sliced && hasWholeTransactions(state)) throw transactionNotKept.notInSlice(firstVersion)
}

/** @throws `operation_disabled` if the store keeps no whole transactions */
function pinWhole(request: OperationRequest, what: string): LedgerState {
  const state = request.pin(undefined)
  if (!hasWholeTransactions(state)) throw operationDisabled.transactionsNotKept(what)
  return state
}

/** Most transactions of a block in an answer, as in the reference. */
const MOST_TRANSACTIONS = 10_000

async function blockWithTransactions(
  request: OperationRequest,
  state: LedgerState,
  format: OutputFormat,
  block: LedgerBlock,
): Promise<Answer> {
  const { firstVersion, lastVersion } = block
  const items = transactionsBetween(state, firstVersion, lastOfPage(firstVersion, MOST_TRANSACTIONS, lastVersion))
  const head = format === 'json' ? blockToJsonHead(block) : blockToBcsHead(block)
  const isJson = typeof head === 'string'
  const out = isJson ? request.openBody().text(head) : request.openBody()
  const ended = await bodyOfItems(request, out, format, items, TRANSACTION_FORMS)
  const body = isJson ? ended.text('}') : ended.prefix(head)
  return { ledger: state.ledger, contentType: CONTENT_TYPE[format], body }
}

function parseWithTransactions(query: string): boolean {
  const asked = parameterOf(query, 'with_transactions', (text) => {
    if (text === 'true' || text === 'false') return text === 'true'
    throw invalidRequest.withTransactionsInvalid(text)
  })
  return asked ?? false
}
