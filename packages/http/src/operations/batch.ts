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
        'An element is any operation but a batch: its path with its query, and its body where it is a POST. It reads the state of the batch, unless it names one. A result has what the operation answers in JSON as `value`, stored bytes as `bytes`, and the headers of pages and histories as `cursor` and `complete`.',
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
