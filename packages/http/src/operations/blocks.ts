import { parseU64 } from '@ledger-state/core'
import type { LedgerBlock, LedgerState } from '@ledger-state/ledger'
import { transactionsNotKept, withTransactionsInvalid } from '../errors.js'
import { chooseFormat } from '../protocol/accept.js'
import { CONTENT_TYPE } from '../protocol/media-types.js'
import { expectLastSegment } from './account-parts.js'
import { blockToBcs, blockToJson } from './block-formats.js'
import { type Answer, type Operation, type OperationRequest, type Parameter, STATE_ERRORS } from './operation.js'
import { parameterOf, parsePart } from './request-parts.js'

const WITH_TRANSACTIONS_PARAMETER: Parameter = {
  name: 'with_transactions',
  in: 'query',
  description: 'Only false is served: transactions are not kept.',
  schema: { type: 'boolean' },
}

const DESCRIPTION =
  'The hash is null where the state does not tell it, and then there is no BCS form. Transactions are not kept.'

const SHARED = {
  method: 'GET',
  negotiates: true,
  tag: 'Blocks',
  success: { json: { $ref: '#/components/schemas/Block' }, bcs: { $ref: '#/components/schemas/Bytes' } },
  errors: STATE_ERRORS,
} as const

export const getBlockByHeight: Operation = {
  ...SHARED,
  id: 'get_block_by_height',
  path: '/v1/blocks/by_height/{block_height}',
  summary: 'Get block by height',
  description: `Describes the block of a height. ${DESCRIPTION}`,
  parameters: [
    {
      name: 'block_height',
      in: 'path',
      description: 'The height of the block.',
      schema: { $ref: '#/components/schemas/U64' },
    },
    WITH_TRANSACTIONS_PARAMETER,
  ],
  handle: (request) =>
    readBlock(request, 'block_height', 'Get block by height', (state, height) => state.blockByHeight(height)),
}

export const getBlockByVersion: Operation = {
  ...SHARED,
  id: 'get_block_by_version',
  path: '/v1/blocks/by_version/{version}',
  summary: 'Get block by version',
  description: `Describes the block that a version belongs to. ${DESCRIPTION}`,
  parameters: [
    {
      name: 'version',
      in: 'path',
      description: 'Any version of the block.',
      schema: { $ref: '#/components/schemas/U64' },
    },
    WITH_TRANSACTIONS_PARAMETER,
  ],
  handle: (request) =>
    readBlock(request, 'version', 'Get block by version', (state, version) => state.blockByVersion(version)),
}

function readBlock(
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
