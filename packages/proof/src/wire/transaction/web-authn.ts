import type { ByteReader } from '@ledger-state/core'
import { readVariant } from '../variant.js'

/** A signature that a browser or a phone made. */
export interface WebAuthn {
  readonly signature: Uint8Array
  readonly authenticatorData: Uint8Array
  readonly clientData: Uint8Array
}

/** Reads a WebAuthn signature. @throws `UnknownVariantError`, `invalid_bcs` */
export function readWebAuthn(reader: ByteReader): WebAuthn {
  readVariant(reader, 'the assertion of a WebAuthn signature', 1)
  return {
    signature: reader.readByteString(),
    authenticatorData: reader.readByteString(),
    clientData: reader.readByteString(),
  }
}
