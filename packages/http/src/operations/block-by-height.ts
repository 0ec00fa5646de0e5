import { blockByHeight } from '@ledger-state/ledger'
import { BLOCK_DESCRIPTION, BLOCK_OPERATION, readBlock, WITH_TRANSACTIONS_PARAMETER } from './parts/block-read.js'
import { blockInPath } from './parts/named-place.js'
import type { Operation } from './parts/operation.js'

export const getBlockByHeight: Operation = {
  ...BLOCK_OPERATION,
  id: 'get_block_by_height',
  path: '/v1/blocks/by_height/{block_height}',
  summary: 'Get block by height',
  description: `Describes the block of a height. ${BLOCK_DESCRIPTION}`,
  parameters: [
    {
      name: 'block_height',
      in: 'path',
      description: 'The height of the block.',
      schema: { $ref: '#/components/schemas/U64' },
    },
    WITH_TRANSACTIONS_PARAMETER,
  ],
  namedPlace: blockInPath('block_height'),
  handle: (request) =>
    readBlock(request, 'block_height', 'Get block by height', (state, height) => blockByHeight(state, height)),
}
