import { bytesToHex, noSteps } from '@ledger-state/core'
import { type Account, readAccount } from '@ledger-state/ledger'
import { parseStructTag, resourceKey } from '@ledger-state/type-tag'
import { chooseFormat } from '../protocol/accept.js'
import { ADDRESS_PARAMETER, expectLastSegment, parseAccountAddress } from './parts/account-parts.js'
import { type Operation, STATE_ERRORS, STATE_PARAMETERS } from './parts/operation.js'
import { parseAskedState } from './parts/request-parts.js'
import { answerRead, PROOF_PARAMETERS, PROVEN_SCHEMA, parseAskedProof } from './parts/state-read.js'

const ACCOUNT = parseStructTag('0x1::account::Account')

export const getAccount: Operation = {
  id: 'get_account',
  method: 'GET',
  path: '/v1/accounts/{address}',
  negotiates: true,
  tag: 'Accounts',
  summary: 'Get account',
  description:
    'Reads the sequence number and the authentication key of an account. If the chain allows accounts without a stored resource, every address is an account.',
  parameters: [ADDRESS_PARAMETER, ...STATE_PARAMETERS, ...PROOF_PARAMETERS],
  success: {
    json: { anyOf: [{ $ref: '#/components/schemas/Account' }, PROVEN_SCHEMA] },
    bcs: { $ref: '#/components/schemas/Bytes' },
  },
  errors: STATE_ERRORS,
  handle(request) {
    const format = chooseFormat(request.accept, 'json')
    expectLastSegment(request.params.address)
    const address = parseAccountAddress(request)
    const asked = parseAskedState(request.query)
    const proof = parseAskedProof(request)
    request.expectOutput(format, 'Get account')
    return answerRead(request, proof, {
      format,
      asked,
      keyOf: () => resourceKey(address, ACCOUNT),
      read(state) {
        const account = readAccount(state, address)
        return { bytes: account.bytes, toJson: () => noSteps(accountToJson(account)) }
      },
    })
  },
}

function accountToJson(account: Account): string {
  const { sequenceNumber, authenticationKey } = account.readFields()
  return `{"sequence_number":"${sequenceNumber}","authentication_key":"${bytesToHex(authenticationKey)}"}`
}
