import { ByteReader, ByteWriter } from '@ledger-state/core'
import { readTransaction, type ValidatorTransaction } from '@ledger-state/proof/transactions'
import { expect, it } from 'vitest'
import { validatorMembers } from './validator.js'

/** An update of the keys of an issuer: one RSA key and one of an unknown kind, signed by the validators 1 and 8. */
function updateOf(issuer: Uint8Array): ValidatorTransaction {
  const rsa = new ByteWriter().string('k').string('RSA').string('RS256').string('AQAB').string('n')
  const other = new ByteWriter().byteString(Uint8Array.of(1)).byteString(Uint8Array.of(2, 3))
  const update = new ByteWriter().u8(4).u8(1).byteString(issuer).u64(7n).uleb128(2)
  update.string('0x1::jwks::RSA_JWK').byteString(rsa.toBytes())
  update.string('0x1::jwks::UnsupportedJWK').byteString(other.toBytes())
  update.byteString(Uint8Array.of(0x40, 0x80)).bool(false)
  const transaction = readTransaction(new ByteReader(update.toBytes()))
  if (transaction.kind !== 'validator') throw new TypeError(transaction.kind)
  return transaction.validator
}

it.each([
  ['https://é', Buffer.from('https://é')],
  // As the reference names it.
  ['non_utf8_issuer', Uint8Array.of(0xff)],
])('an update of the keys of %s is printed as the reference prints it', (issuer, bytes) => {
  expect(JSON.parse(`{${validatorMembers(updateOf(bytes))}}`)).toEqual({
    quorum_certified_update: {
      update: {
        issuer,
        version: 7,
        jwks: [
          { kid: 'k', kty: 'RSA', alg: 'RS256', e: 'AQAB', n: 'n' },
          { id: [1], payload: [2, 3] },
        ],
      },
      multi_sig: { signer_indices: [1, 8], sig: null },
    },
    validator_transaction_type: 'observed_jwk_update',
  })
})
