import type { ByteReader } from '@ledger-state/core'
import { readName } from '@ledger-state/type-tag'
import { readByteString } from '../bcs-list.js'
import { readVariant } from '../variant.js'
import { readWebAuthn, type WebAuthn } from './web-authn.js'

/** Bytes of a Groth16 proof: two points of G1 and, between them, one of G2. */
const GROTH16_LENGTH = 32 + 64 + 32

export type EphemeralSignature =
  | { readonly kind: 'ed25519'; readonly signature: Uint8Array }
  | ({ readonly kind: 'web_authn' } & WebAuthn)

export type KeylessCertificate =
  | {
      readonly kind: 'zero_knowledge'
      readonly proof: Uint8Array
      readonly expiryHorizonSeconds: bigint
      readonly extraField: string | undefined
      readonly overrideAudience: string | undefined
      readonly trainingWheelsSignature: EphemeralSignature | undefined
    }
  | {
      readonly kind: 'open_id'
      readonly jwtSignature: Uint8Array
      readonly jwtPayload: string
      readonly uidKey: string
      readonly blinder: Uint8Array
      readonly pepper: Uint8Array
      readonly idCommitmentAudience: string | undefined
    }

/** A signature of an account that an OpenID provider verifies. */
export interface KeylessSignature {
  readonly certificate: KeylessCertificate
  readonly jwtHeader: string
  readonly expirySeconds: bigint
  readonly ephemeralPublicKey: { readonly kind: 'ed25519' | 'secp256r1_ecdsa'; readonly key: Uint8Array }
  readonly ephemeralSignature: EphemeralSignature
}

/** Reads a keyless signature. @throws `UnknownVariantError`, `invalid_bcs` */
export function readKeylessSignature(reader: ByteReader): KeylessSignature {
  return {
    certificate: readCertificate(reader),
    jwtHeader: readName(reader),
    expirySeconds: reader.readU64(),
    ephemeralPublicKey: {
      kind: readVariant(reader, 'an ephemeral public key', 2) === 0 ? 'ed25519' : 'secp256r1_ecdsa',
      key: reader.readByteString(),
    },
    ephemeralSignature: readEphemeralSignature(reader),
  }
}

function readCertificate(reader: ByteReader): KeylessCertificate {
  if (readVariant(reader, 'the certificate of a keyless signature', 2) === 0) {
    readVariant(reader, 'a zero-knowledge proof', 1)
    return {
      kind: 'zero_knowledge',
      proof: reader.readBytes(GROTH16_LENGTH),
      expiryHorizonSeconds: reader.readU64(),
      extraField: reader.readOption(readName),
      overrideAudience: reader.readOption(readName),
      trainingWheelsSignature: reader.readOption(readEphemeralSignature),
    }
  }
  return {
    kind: 'open_id',
    jwtSignature: readByteString(reader),
    jwtPayload: readName(reader),
    uidKey: readName(reader),
    blinder: readByteString(reader),
    pepper: readByteString(reader),
    idCommitmentAudience: reader.readOption(readName),
  }
}

function readEphemeralSignature(reader: ByteReader): EphemeralSignature {
  return readVariant(reader, 'an ephemeral signature', 2) === 0
    ? { kind: 'ed25519', signature: reader.readByteString() }
    : { kind: 'web_authn', ...readWebAuthn(reader) }
}
