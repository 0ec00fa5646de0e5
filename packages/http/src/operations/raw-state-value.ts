import { ByteReader, hexToBytes, isLedgerStateError } from '@ledger-state/core'
import { readStateValue } from '@ledger-state/ledger'
import { decodeStateKey, encodeStateValue, readStateKey } from '@ledger-state/type-tag'
import { invalidParameter } from '../errors.js'
import { READ_LIMITS } from '../protocol/json-body.js'
import { BODY_ERRORS, type Operation, STATE_PARAMETERS } from './parts/operation.js'
import { expectJsonContentType, parseAskedState, parseJsonBody, stringMember } from './parts/request-parts.js'
import { answerRead, chooseRawFormat, hexValue, PROOF_PARAMETERS, parseAskedProof } from './parts/state-read.js'

const TYPE = 'RawStateValueRequest'
const WHAT = 'Get raw state value'

export const getRawStateValue: Operation = {
  id: 'get_raw_state_value',
  method: 'POST',
  path: '/v1/experimental/state_values/raw',
  negotiates: false,
  tag: 'Experimental',
  summary: WHAT,
  description:
    'Reads any state value by its BCS state key, as debuggers and simulators of the reference do. The answer is the state value in BCS, with its metadata if the chain has any; there is no JSON form, except with a proof: then `value` is hex.',
  parameters: [...STATE_PARAMETERS, ...PROOF_PARAMETERS],
  requestBody: { $ref: '#/components/schemas/RawStateValueRequest' },
  success: { bcs: { $ref: '#/components/schemas/Bytes' } },
  errors: BODY_ERRORS,
  handle(request) {
    expectJsonContentType(request.contentType)
    const text = stringMember(parseJsonBody(request.body, TYPE, READ_LIMITS), 'key', TYPE)
    const asked = parseAskedState(request.query)
    const proof = parseAskedProof(request)
    const format = chooseRawFormat(request, proof, WHAT)
    const key = parseStateKey(text)
    return answerRead(request, proof, {
      format,
      asked,
      keyOf: () => key,
      read: (state) => hexValue(encodeStateValue(readStateValue(state, key))),
    })
  },
}

/**
 * Reads a state key in BCS, and returns its database form.
 * @throws `invalid_parameter`
 */
function parseStateKey(text: string): Uint8Array {
  try {
    const reader = new ByteReader(hexToBytes(text))
    const key = readStateKey(reader)
    reader.expectEnd()
    decodeStateKey(key)
    return key
  } catch (error) {
    if (isLedgerStateError(error)) throw invalidParameter.stateKeyInvalid(error.message)
    throw error
  }
}
