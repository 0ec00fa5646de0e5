import type { JsonObject } from '@ledger-state/bcs'
import { type LedgerState, readResource } from '@ledger-state/ledger'
import { isStructTag } from '@ledger-state/type-tag'
import { invalidRequest } from '../errors.js'
import { resourceToJson } from '../formats/resource-formats.js'
import { createBatchOperation, type ElementReading, valueInTurns } from './parts/batch-operation.js'
import type { Operation, OperationRequest } from './parts/operation.js'
import { parseAddressMember, parseTypeMember, stringMember } from './parts/request-parts.js'

/** Creates the operation that reads many resources. */
export function createResourcesBatch(archivalEndpoint: string | undefined): Operation {
  return createBatchOperation(
    {
      id: 'get_resources_batch',
      path: '/v1/resources:batch',
      tag: 'Accounts',
      summary: 'Get many resources',
      element: 'ResourceElement',
      result: { value: { $ref: '#/components/schemas/Resource' } },
      read: readResourceElement,
    },
    archivalEndpoint,
  )
}

function readResourceElement(request: OperationRequest, state: LedgerState, element: JsonObject): ElementReading {
  const address = parseAddressMember(element, 'address', 'ResourceElement')
  const text = stringMember(element, 'resource_type', 'ResourceElement')
  const type = parseTypeMember(request, 'resource_type', text)
  if (!isStructTag(type)) throw invalidRequest.structTagExpected('request payload: member `resource_type`', text)
  return valueInTurns(request, resourceToJson(readResource(state, address, type)))
}
