import { addressToShortHex, ByteReader } from '@ledger-state/core'
import { decodeUtf8 } from '@ledger-state/core/bytes'
import type { Jwk, ObservedJwkUpdate, ValidatorTransaction } from '@ledger-state/proof/transactions'
import { readName } from '@ledger-state/type-tag'
import { hexText, jsonList } from './render-context.js'
import { setBits } from './signature.js'

/** Members of a transaction of validators as JSON, in the order of the reference. @throws `invalid_bcs` */
export function validatorMembers(transaction: ValidatorTransaction): string {
  if (transaction.kind === 'dkg_result') {
    const { epoch, author, transcript } = transaction
    const members = `"epoch":"${epoch}","author":"${addressToShortHex(author)}","payload":${hexText(transcript)}`
    return `"dkg_transcript":{${members}},"validator_transaction_type":"dkg_result"`
  }
  return `"quorum_certified_update":${jwkUpdateToJson(transaction)},"validator_transaction_type":"observed_jwk_update"`
}

/** Name of an issuer that is not UTF-8, as the reference prints it. */
const NOT_UTF8 = 'non_utf8_issuer'

function jwkUpdateToJson({ issuer, version, jwks, signers, signature }: ObservedJwkUpdate): string {
  const name = JSON.stringify(decodeUtf8(issuer) ?? NOT_UTF8)
  const update = `{"issuer":${name},"version":${version},"jwks":${jsonList(Array.from(jwks, jwkToJson))}}`
  const signed = `{"signer_indices":[${setBits(signers).join(',')}],"sig":${signature ? hexText(signature) : 'null'}}`
  return `{"update":${update},"multi_sig":${signed}}`
}

const RSA_JWK = '0x1::jwks::RSA_JWK'

/** A key by the published schema. The members of an unknown kind are arrays of bytes. */
function jwkToJson({ type, bytes }: Jwk): string {
  const reader = new ByteReader(bytes)
  if (type === RSA_JWK) {
    const text = () => JSON.stringify(readName(reader))
    return `{"kid":${text()},"kty":${text()},"alg":${text()},"e":${text()},"n":${text()}}`
  }
  const numbers = () => `[${reader.readByteString().join(',')}]`
  return `{"id":${numbers()},"payload":${numbers()}}`
}
