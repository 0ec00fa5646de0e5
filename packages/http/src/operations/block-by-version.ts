import { blockByVersion } from '@ledger-state/ledger'
import { BLOCK_DESCRIPTION, BLOCK_OPERATION, readBlock, WITH_TRANSACTIONS_PARAMETER } from './parts/block-read.js'
import type { Operation } from './parts/operation.js'

export const getBlockByVersion: Operation = {
  ...BLOCK_OPERATION,
  id: 'get_block_by_version',
  path: '/v1/blocks/by_version/{version}',
  summary: 'Get block by version',
  description: `Describes the block that a version belongs to. ${BLOCK_DESCRIPTION}`,
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
    readBlock(request, 'version', 'Get block by version', (state, version) => blockByVersion(state, version)),
}
