import { parseU64 } from '@ledger-state/core'
import type { LedgerBlock, LedgerState } from '@ledger-state/ledger'
import { transactionsNotKept, withTransactionsInvalid } from '../../errors.js'
import { blockToBcs, blockToJson } from '../../formats/block-formats.js'
import { chooseFormat } from '../../protocol/accept.js'
import { CONTENT_TYPE } from '../../protocol/media-types.js'
import { expectLastSegment } from './account-parts.js'
import { type Answer, type OperationRequest, type Parameter, STATE_ERRORS } from './operation.js'
import { parameterOf, parsePart } from './request-parts.js'

export const WITH_TRANSACTIONS_PARAMETER: Parameter = {
  name: 'with_transactions',
  in: 'query',
  description: 'Only false is served: transactions are not kept.',
  schema: { type: 'boolean' },
}

export const BLOCK_DESCRIPTION =
  'The hash is null if the state does not contain it; then there is no BCS form. Transactions are not kept.'

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
): Answer {
  const format = chooseFormat(request.accept, 'json')
  const text = expectLastSegment(request.params[parameter])
  const at = parsePart(`path \`${parameter}\``, () => parseU64(text))
  const withTransactions = parseWithTransactions(request.query)
  request.expectOutput(format, what)
  if (withTransactions) throw transactionsNotKept(what)
  const state = request.pin(undefined)
  const block = read(state, at)
  const body = format === 'json' ? blockToJson(block) : blockToBcs(block)
  return { ledger: state.ledger, contentType: CONTENT_TYPE[format], body }
}

function parseWithTransactions(query: string): boolean {
  const asked = parameterOf(query, 'with_transactions', (text) => {
    if (text === 'true' || text === 'false') return text === 'true'
    throw withTransactionsInvalid(text)
  })
  return asked ?? false
}
