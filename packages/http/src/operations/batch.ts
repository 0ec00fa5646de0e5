import { type FindOperation, readOperationElement } from './parts/batch-element.js'
import { createBatchOperation } from './parts/batch-operation.js'
import type { Operation } from './parts/operation.js'

/** Creates the operation that does many operations. `find` knows those that an element may name. */
export function createBatch(archivalEndpoint: string | undefined, find: FindOperation): Operation {
  return createBatchOperation(
    {
      id: 'batch',
      path: '/v1/batch',
      tag: 'Batches',
      summary: 'Do many operations',
      about:
        'An element is any operation except a batch: its path with its query, and its body if it is a POST. It reads the state of the batch, unless it names another. A result has the JSON answer of the operation as `value`, stored bytes as `bytes`, and the headers of pages and histories as `cursor` and `complete`.',
      element: 'OperationElement',
      result: {
        value: {},
        bytes: { type: 'string' },
        cursor: { type: 'string' },
        complete: { type: 'boolean' },
      },
      read: (request, state, element, answerBody) => readOperationElement(request, state, element, find, answerBody),
    },
    archivalEndpoint,
  )
}
