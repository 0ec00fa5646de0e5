import { ADDRESS_LENGTH, type ByteReader } from '@ledger-state/core'
import { readName } from '@ledger-state/type-tag'
import { readVariant } from '../variant.js'
import { type KeylessSignature, readKeylessSignature } from './keyless-signature.js'
import { readWebAuthn, type WebAuthn } from './web-authn.js'

/** Kinds of public keys by their variants. */
const PUBLIC_KEY_KINDS = ['ed25519', 'secp256k1_ecdsa', 'secp256r1_ecdsa', 'keyless', 'federated_keyless'] as const
/** Kinds of signatures by their variants. */
const SIGNATURE_KINDS = ['ed25519', 'secp256k1_ecdsa', 'web_authn', 'keyless'] as const

/** A public key of one of several schemes. */
export type AnyPublicKey =
  | { readonly kind: 'ed25519' | 'secp256k1_ecdsa' | 'secp256r1_ecdsa'; readonly key: Uint8Array }
  | {
      readonly kind: 'keyless' | 'federated_keyless'
      /** Account with the keys of the issuer, of a federated key. */
      readonly jwkAddress: Uint8Array | undefined
      readonly issuer: string
      readonly idCommitment: Uint8Array
      /** The whole key in BCS, without its variant. */
      readonly bytes: Uint8Array
    }

/** A signature of one of several schemes. */
export type AnySignature =
  | { readonly kind: 'ed25519' | 'secp256k1_ecdsa'; readonly signature: Uint8Array }
  | ({ readonly kind: 'web_authn'; readonly bytes: Uint8Array } & WebAuthn)
  | ({ readonly kind: 'keyless'; readonly bytes: Uint8Array } & KeylessSignature)

/** Reads a public key. @throws `UnknownVariantError`, `invalid_bcs` */
export function readAnyPublicKey(reader: ByteReader): AnyPublicKey {
  const kind = PUBLIC_KEY_KINDS[readVariant(reader, 'a public key', PUBLIC_KEY_KINDS.length)]!
  if (kind !== 'keyless' && kind !== 'federated_keyless') return { kind, key: reader.readByteString() }
  const start = reader.offset
  const jwkAddress = kind === 'federated_keyless' ? reader.readBytes(ADDRESS_LENGTH) : undefined
  const [issuer, idCommitment] = [readName(reader), reader.readByteString()]
  return { kind, jwkAddress, issuer, idCommitment, bytes: reader.bytes.subarray(start, reader.offset) }
}

/** Reads a signature. @throws `UnknownVariantError`, `invalid_bcs` */
export function readAnySignature(reader: ByteReader): AnySignature {
  const kind = SIGNATURE_KINDS[readVariant(reader, 'a signature', SIGNATURE_KINDS.length)]!
  if (kind !== 'web_authn' && kind !== 'keyless') return { kind, signature: reader.readByteString() }
  const start = reader.offset
  if (kind === 'web_authn') {
    const signed = readWebAuthn(reader)
    return { kind, ...signed, bytes: reader.bytes.subarray(start, reader.offset) }
  }
  const signed = readKeylessSignature(reader)
  return { kind, ...signed, bytes: reader.bytes.subarray(start, reader.offset) }
}
