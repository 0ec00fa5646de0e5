import { readAccountModule } from '@ledger-state/ledger'
import { moduleKey } from '@ledger-state/type-tag'
import { moduleToJson } from '../formats/module-formats.js'
import { chooseFormat } from '../protocol/accept.js'
import { ADDRESS_PARAMETER, expectLastSegment, parseAccountAddress, parseModuleName } from './parts/account-parts.js'
import { type Operation, STATE_ERRORS, STATE_PARAMETERS } from './parts/operation.js'
import { parseAskedState } from './parts/request-parts.js'
import { answerRead, orProven, PROOF_PARAMETERS, parseAskedProof, utf8InSteps } from './parts/state-read.js'

export const getAccountModule: Operation = {
  id: 'get_account_module',
  method: 'GET',
  path: '/v1/accounts/{address}/module/{module_name}',
  negotiates: true,
  tag: 'Accounts',
  summary: 'Get account module',
  description: 'Reads a module of an account: its bytecode and its ABI. In BCS: the bytecode.',
  parameters: [
    ADDRESS_PARAMETER,
    {
      name: 'module_name',
      in: 'path',
      description: 'The name of the module.',
      schema: { type: 'string', pattern: '^([a-zA-Z][a-zA-Z0-9_$]*|[_$][a-zA-Z0-9_$]+)$' },
    },
    ...STATE_PARAMETERS,
    ...PROOF_PARAMETERS,
  ],
  success: {
    json: orProven({ $ref: '#/components/schemas/Module' }, 'StateProof'),
    bcs: { $ref: '#/components/schemas/Bytes' },
  },
  errors: STATE_ERRORS,
  handle(request) {
    const format = chooseFormat(request.accept, 'json')
    expectLastSegment(request.params.module_name)
    const address = parseAccountAddress(request)
    const name = parseModuleName(request.params.module_name!)
    const asked = parseAskedState(request.query)
    const proof = parseAskedProof(request)
    request.expectOutput(format, 'Get account module')
    return answerRead(request, proof, {
      format,
      asked,
      keyOf: () => moduleKey(address, name),
      read(state) {
        const module = readAccountModule(state, address, name)
        return { bytes: module.bytes, toJson: () => utf8InSteps(moduleToJson(module)) }
      },
    })
  },
}
