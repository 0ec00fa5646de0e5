import { bytesToHex } from '@ledger-state/core'
import type { Account } from '@ledger-state/ledger'
import { chooseFormat } from '../protocol/accept.js'
import { CONTENT_TYPE } from '../protocol/media-types.js'
import { ADDRESS_PARAMETER, expectLastSegment, parseAccountAddress } from './account-parts.js'
import { type Operation, STATE_ERRORS, STATE_PARAMETERS } from './operation.js'
import { parseAskedState } from './request-parts.js'

export const getAccount: Operation = {
  id: 'get_account',
  method: 'GET',
  path: '/v1/accounts/{address}',
  negotiates: true,
  tag: 'Accounts',
  summary: 'Get account',
  description:
    'Reads the sequence number and the authentication key of an account. Where the chain lets accounts be without a stored resource, every address is one.',
  parameters: [ADDRESS_PARAMETER, ...STATE_PARAMETERS],
  success: { json: { $ref: '#/components/schemas/Account' }, bcs: { $ref: '#/components/schemas/Bytes' } },
  errors: STATE_ERRORS,
  handle(request) {
    const format = chooseFormat(request.accept, 'json')
    expectLastSegment(request.params.address)
    const address = parseAccountAddress(request)
    const asked = parseAskedState(request.query)
    request.expectOutput(format, 'Get account')
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
