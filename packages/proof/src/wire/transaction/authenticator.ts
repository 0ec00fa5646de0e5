import { ADDRESS_LENGTH, type ByteReader } from '@ledger-state/core'
import { readName } from '@ledger-state/type-tag'
import { type BcsList, readBcsList } from '../bcs-list.js'
import { readVariant } from '../variant.js'
import { type AnyPublicKey, type AnySignature, readAnyPublicKey, readAnySignature } from './any-key.js'

// See docs/ledger-formats.md, "Authenticators".

const ED25519 = 0
const MULTI_ED25519 = 1
const MULTI_AGENT = 2
const FEE_PAYER = 3
const SINGLE_SENDER = 4
const TRANSACTION_AUTHENTICATORS = 5

const SINGLE_KEY = 2
const MULTI_KEY = 3
const NO_ACCOUNT = 4
const ACCOUNT_AUTHENTICATORS = 6
const ABSTRACT_VARIANTS = 2

/** One key, or several keys and their threshold, and its signature, or several signatures and their bitmap. */
export interface Ed25519Authenticator {
  readonly kind: 'ed25519' | 'multi_ed25519'
  readonly publicKey: Uint8Array
  readonly signature: Uint8Array
}

/** The signature of one account. */
export type AccountAuthenticator =
  | Ed25519Authenticator
  | { readonly kind: 'single_key'; readonly publicKey: AnyPublicKey; readonly signature: AnySignature }
  | {
      readonly kind: 'multi_key'
      readonly publicKeys: BcsList<AnyPublicKey>
      readonly signaturesRequired: number
      readonly signatures: BcsList<AnySignature>
      /** Keys that have signed; the most significant bit of each byte comes first. */
      readonly bitmap: Uint8Array
    }
  /** Simulations have it. */
  | { readonly kind: 'no_account' }
  | {
      readonly kind: 'abstract'
      readonly address: Uint8Array
      readonly module: string
      readonly name: string
      readonly digest: Uint8Array
      readonly signature: Uint8Array
      /** The public key of an account that is derived from one; undefined for others. */
      readonly publicKey: Uint8Array | undefined
    }

/** The sender and the secondary signers of a transaction. */
export interface Signers {
  readonly sender: AccountAuthenticator
  readonly secondaryAddresses: BcsList<Uint8Array>
  readonly secondarySigners: BcsList<AccountAuthenticator>
}

/** The signatures of a user's transaction. */
export type TransactionAuthenticator =
  | Ed25519Authenticator
  | ({ readonly kind: 'multi_agent' } & Signers)
  | ({
      readonly kind: 'fee_payer'
      readonly feePayerAddress: Uint8Array
      readonly feePayer: AccountAuthenticator
    } & Signers)
  | { readonly kind: 'single_sender'; readonly sender: AccountAuthenticator }

/** Reads the authenticator of a user's transaction. @throws `UnknownVariantError`, `invalid_bcs` */
export function readTransactionAuthenticator(reader: ByteReader): TransactionAuthenticator {
  const variant = readVariant(reader, 'a transaction authenticator', TRANSACTION_AUTHENTICATORS)
  switch (variant) {
    case MULTI_AGENT:
      return { kind: 'multi_agent', ...readSigners(reader) }
    case FEE_PAYER:
      return {
        kind: 'fee_payer',
        ...readSigners(reader),
        feePayerAddress: reader.readBytes(ADDRESS_LENGTH),
        feePayer: readAccountAuthenticator(reader),
      }
    case SINGLE_SENDER:
      return { kind: 'single_sender', sender: readAccountAuthenticator(reader) }
    default:
      return readEd25519(reader, variant)
  }
}

function readSigners(reader: ByteReader): Signers {
  return {
    sender: readAccountAuthenticator(reader),
    secondaryAddresses: readBcsList(reader, readAddress),
    secondarySigners: readBcsList(reader, readAccountAuthenticator),
  }
}

function readAccountAuthenticator(reader: ByteReader): AccountAuthenticator {
  const variant = readVariant(reader, 'an account authenticator', ACCOUNT_AUTHENTICATORS)
  switch (variant) {
    case ED25519:
    case MULTI_ED25519:
      return readEd25519(reader, variant)
    case SINGLE_KEY:
      return { kind: 'single_key', publicKey: readAnyPublicKey(reader), signature: readAnySignature(reader) }
    case MULTI_KEY:
      return {
        kind: 'multi_key',
        publicKeys: readBcsList(reader, readAnyPublicKey),
        signaturesRequired: reader.readU8(),
        signatures: readBcsList(reader, readAnySignature),
        bitmap: reader.readByteString(),
      }
    case NO_ACCOUNT:
      return { kind: 'no_account' }
    default:
      return readAbstract(reader)
  }
}

function readEd25519(reader: ByteReader, variant: number): Ed25519Authenticator {
  const kind = variant === ED25519 ? 'ed25519' : 'multi_ed25519'
  return { kind, publicKey: reader.readByteString(), signature: reader.readByteString() }
}

function readAbstract(reader: ByteReader): AccountAuthenticator {
  const called = { address: reader.readBytes(ADDRESS_LENGTH), module: readName(reader), name: readName(reader) }
  const variant = readVariant(reader, 'the data of an abstract authenticator', ABSTRACT_VARIANTS)
  return {
    kind: 'abstract',
    ...called,
    digest: reader.readByteString(),
    signature: reader.readByteString(),
    publicKey: variant === 1 ? reader.readByteString() : undefined,
  }
}

function readAddress(reader: ByteReader): Uint8Array {
  return reader.readBytes(ADDRESS_LENGTH)
}
