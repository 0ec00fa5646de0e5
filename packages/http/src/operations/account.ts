import { bytesToHex } from '@ledger-state/core'
import type { Account } from '@ledger-state/ledger'
import { parseStructTag, resourceKey } from '@ledger-state/type-tag'
import { chooseFormat } from '../protocol/accept.js'
import { CONTENT_TYPE } from '../protocol/media-types.js'
import { ADDRESS_PARAMETER, expectLastSegment, parseAccountAddress } from './account-parts.js'
import { type Operation, STATE_ERRORS, STATE_PARAMETERS } from './operation.js'
import { answerWithProof, PROOF_PARAMETERS, PROVEN_SCHEMA, parseAskedProof } from './proof-answer.js'
import { parseAskedState } from './request-parts.js'

const ACCOUNT = parseStructTag('0x1::account::Account')

export const getAccount: Operation = {
  id: 'get_account',
  method: 'GET',
  path: '/v1/accounts/{address}',
  negotiates: true,
  tag: 'Accounts',
  summary: 'Get account',
  description:
    'Reads the sequence number and the authentication key of an account. Where the chain lets accounts be without a stored resource, every address is one.',
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
    if (proof) {
      return answerWithProof(request, proof, {
        format,
        asked,
        keyOf: () => resourceKey(address, ACCOUNT),
        read(state) {
          const account = state.readAccount(address)
          return { bytes: account.bytes, toJson: () => accountToJson(account) }
        },
      })
    }
    const state = request.pin(asked)
    const account = state.readAccount(address)
    const body = format === 'json' ? accountToJson(account) : account.bytes
    return { ledger: state.ledger, contentType: CONTENT_TYPE[format], body }
  },
}

function accountToJson(account: Account): string {
  const { sequenceNumber, authenticationKey } = account.readFields()
  return `{"sequence_number":"${sequenceNumber}","authentication_key":"${bytesToHex(authenticationKey)}"}`
}
