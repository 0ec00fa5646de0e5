import type { JsonObject } from '@ledger-state/bcs'
import { bytesToHex } from '@ledger-state/core'
import { type LedgerState, readRawTableItem, readTableItem } from '@ledger-state/ledger'
import { createBatchOperation, type ElementReading, valueInTurns } from './parts/batch-operation.js'
import type { Operation, OperationRequest } from './parts/operation.js'
import { parseAddressMember, parseHexMember, parseTypeMember, stringMember } from './parts/request-parts.js'

/** Creates the operation that reads many table items. */
export function createTableItemsBatch(archivalEndpoint: string | undefined): Operation {
  return createBatchOperation(
    {
      id: 'get_table_items_batch',
      path: '/v1/tables/items:batch',
      tag: 'Tables',
      summary: 'Get many table items',
      about: 'An element asks by typed key, or by serialized key in `raw_key`, which is answered with `bytes`.',
      element: 'TableItemElement',
      result: { value: {}, bytes: { type: 'string' } },
      read: readTableItemElement,
    },
    archivalEndpoint,
  )
}

function readTableItemElement(request: OperationRequest, state: LedgerState, element: JsonObject): ElementReading {
  const handle = parseAddressMember(element, 'table_handle', 'TableItemElement')
  if (element.get('raw_key') !== undefined) {
    return `"bytes":"${bytesToHex(readRawTableItem(state, handle, parseHexMember(element, 'raw_key', 'TableItemElement')))}"`
  }
  const typeOf = (name: string) => parseTypeMember(request, name, stringMember(element, name, 'TableItemElement'))
  const keyType = typeOf('key_type')
  const valueType = typeOf('value_type')
  const item = readTableItem(state, { handle, keyType, valueType, key: element.get('key') ?? null })
  return valueInTurns(request, item.toJsonInSteps())
}
