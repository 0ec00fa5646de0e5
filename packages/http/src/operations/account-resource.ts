import { readResource, resourceStateKey } from '@ledger-state/ledger'
import { resourceToJson } from '../formats/resource-formats.js'
import { chooseFormat } from '../protocol/accept.js'
import {
  ADDRESS_PARAMETER,
  expectLastSegment,
  parseAccountAddress,
  parseResourceType,
  RESOURCE_TYPE_PARAMETER,
} from './parts/account-parts.js'
import { type Operation, STATE_ERRORS, STATE_PARAMETERS } from './parts/operation.js'
import { parseAskedState } from './parts/request-parts.js'
import { answerRead, PROOF_PARAMETERS, PROVEN_SCHEMA, parseAskedProof, utf8InSteps } from './parts/state-read.js'

export const getAccountResource: Operation = {
  id: 'get_account_resource',
  method: 'GET',
  path: '/v1/accounts/{address}/resource/{resource_type}',
  negotiates: true,
  tag: 'Accounts',
  summary: 'Get account resource',
  description:
    'Reads a resource of an account by its type. A member of a resource group is read like any other. In BCS: the stored bytes.',
  parameters: [ADDRESS_PARAMETER, RESOURCE_TYPE_PARAMETER, ...STATE_PARAMETERS, ...PROOF_PARAMETERS],
  success: {
    json: { anyOf: [{ $ref: '#/components/schemas/Resource' }, PROVEN_SCHEMA] },
    bcs: { $ref: '#/components/schemas/Bytes' },
  },
  errors: STATE_ERRORS,
  handle(request) {
    const format = chooseFormat(request.accept, 'json')
    expectLastSegment(request.params.resource_type)
    const address = parseAccountAddress(request)
    const type = parseResourceType(request)
    const asked = parseAskedState(request.query)
    const proof = parseAskedProof(request)
    request.expectOutput(format, 'Get account resource')
    return answerRead(request, proof, {
      format,
      asked,
      keyOf: (state) => resourceStateKey(state, address, type),
      read(state) {
        const resource = readResource(state, address, type)
        return { bytes: resource.bytes, toJson: () => utf8InSteps(resourceToJson(resource)) }
      },
    })
  },
}
