import { ADDRESS_LENGTH, type ByteReader } from '@ledger-state/core'
import { readName } from '@ledger-state/type-tag'
import { type BcsList, readBcsList, readByteString } from '../bcs-list.js'
import { readVariant } from '../variant.js'

/** The result of the validators' generation of keys for an epoch. */
export interface DkgResult {
  readonly kind: 'dkg_result'
  readonly epoch: bigint
  readonly author: Uint8Array
  readonly transcript: Uint8Array
}

/** A key of an OpenID provider: the name of its type, and its BCS. */
export interface Jwk {
  readonly type: string
  readonly bytes: Uint8Array
}

/** Keys of an OpenID provider that the validators observed. */
export interface ObservedJwkUpdate {
  readonly kind: 'observed_jwk_update'
  readonly issuer: Uint8Array
  readonly version: bigint
  readonly jwks: BcsList<Jwk>
  /** Validators that signed, a bit each. */
  readonly signers: Uint8Array
  readonly signature: Uint8Array | undefined
}

/** A transaction that validators make. */
export type ValidatorTransaction = DkgResult | ObservedJwkUpdate

/** Reads a transaction of validators. @throws `UnknownVariantError`, `invalid_bcs` */
export function readValidatorTransaction(reader: ByteReader): ValidatorTransaction {
  if (readVariant(reader, 'a validator transaction', 2) === 0) {
    return {
      kind: 'dkg_result',
      epoch: reader.readU64(),
      author: reader.readBytes(ADDRESS_LENGTH),
      transcript: reader.readByteString(),
    }
  }
  return {
    kind: 'observed_jwk_update',
    issuer: reader.readByteString(),
    version: reader.readU64(),
    jwks: readBcsList(reader, readJwk),
    signers: reader.readByteString(),
    signature: reader.readOption(readByteString),
  }
}

function readJwk(reader: ByteReader): Jwk {
  return { type: readName(reader), bytes: reader.readByteString() }
}
