import { ADDRESS_LENGTH, type ByteReader } from '@ledger-state/core'
import { readVariant } from '../variant.js'
import { readTransactionAuthenticator, type TransactionAuthenticator } from './authenticator.js'
import {
  type BlockEpilogue,
  type BlockMetadata,
  readBlockEpilogue,
  readBlockMetadata,
  readExtendedBlockMetadata,
  readStateCheckpoint,
  type StateCheckpoint,
} from './block-transaction.js'
import { type Payload, readPayload } from './payload.js'
import { readValidatorTransaction, type ValidatorTransaction } from './validator-transaction.js'
import { readWriteSetPayload, type WriteSetPayload } from './write-set-payload.js'

// See docs/ledger-formats.md, "Transactions". Byte strings are views of the reader's bytes.

/** A transaction that a user signed. */
export interface UserTransaction {
  readonly kind: 'user'
  readonly sender: Uint8Array
  /** 2^64 - 1 if the transaction has a nonce instead. */
  readonly sequenceNumber: bigint
  readonly payload: Payload
  readonly maxGas: bigint
  readonly gasUnitPrice: bigint
  readonly expirationSeconds: bigint
  readonly chainId: number
  readonly authenticator: TransactionAuthenticator
}

/** The first transaction of a ledger, or one that replaces its state. */
export interface GenesisTransaction {
  readonly kind: 'genesis'
  readonly payload: WriteSetPayload
}

/** A transaction of any kind. */
export type Transaction =
  | UserTransaction
  | GenesisTransaction
  | BlockMetadata
  | StateCheckpoint
  | { readonly kind: 'validator'; readonly validator: ValidatorTransaction }
  | BlockEpilogue

/** Readers of transactions by their variants. */
const READERS: readonly ((reader: ByteReader) => Transaction)[] = [
  readUserTransaction,
  (reader) => ({ kind: 'genesis', payload: readWriteSetPayload(reader) }),
  readBlockMetadata,
  readStateCheckpoint,
  (reader) => ({ kind: 'validator', validator: readValidatorTransaction(reader) }),
  readExtendedBlockMetadata,
  readBlockEpilogue,
]

/**
 * Reads a transaction, and moves the reader past it. The time is linear in its length, and the memory does not depend
 * on it: lists are read again when they are iterated.
 * @throws `UnknownVariantError`, `invalid_bcs`
 */
export function readTransaction(reader: ByteReader): Transaction {
  return READERS[readVariant(reader, 'a transaction', READERS.length)]!(reader)
}

function readUserTransaction(reader: ByteReader): UserTransaction {
  return {
    kind: 'user',
    sender: reader.readBytes(ADDRESS_LENGTH),
    sequenceNumber: reader.readU64(),
    payload: readPayload(reader),
    maxGas: reader.readU64(),
    gasUnitPrice: reader.readU64(),
    expirationSeconds: reader.readU64(),
    chainId: reader.readU8(),
    authenticator: readTransactionAuthenticator(reader),
  }
}
