import {
  ADDRESS_LENGTH,
  addressToShortHex,
  ByteReader,
  isFunctionName,
  isLedgerStateError,
  type KeptTransaction,
  type TransactionKind,
} from '@ledger-state/core'
import { decodeUtf8 } from '@ledger-state/core/bytes'
import { readOutcome } from '@ledger-state/proof'

/** Kinds of transactions by their tags. Block metadata has two, and so has what ends a block. */
const KINDS: readonly TransactionKind[] = [
  'user',
  'genesis',
  'block_metadata',
  'state_checkpoint',
  'validator',
  'block_metadata',
  'block_epilogue',
]

const PAYLOAD_ENTRY_FUNCTION = 2
const PAYLOAD_MULTISIG = 3
const PAYLOAD_VERSIONED = 4
const VERSIONED_V1 = 0
const MULTISIG_ENTRY_FUNCTION = 0
const EXECUTABLE_ENTRY_FUNCTION = 1

/**
 * What a store keeps of a transaction. Hash and success are those that its info has, so that they are as proven as the info;
 * sender and entry function are in the bytes that the hash is of.
 * See docs/ledger-formats.md, "Senders and entry functions".
 * @param bytes that have the info of the transaction at `infoStart`
 */
export function readKeptTransaction(transaction: Uint8Array, bytes: Uint8Array, infoStart: number): KeptTransaction {
  const { hash, isSuccess } = readOutcome(bytes, infoStart)
  const kept = { kind: kindOf(transaction), hash: Uint8Array.from(hash), isSuccess }
  if (kept.kind !== 'user') return kept
  const sender = Uint8Array.from(transaction.subarray(1, 1 + ADDRESS_LENGTH))
  return { ...kept, sender, entryFunction: readEntryFunction(transaction) }
}

function kindOf(transaction: Uint8Array): TransactionKind {
  const kind = KINDS[transaction[0]!] ?? 'other'
  return kind === 'user' && transaction.length < 1 + ADDRESS_LENGTH ? 'other' : kind
}

/** Undefined of scripts, of what is kept elsewhere or encrypted, and of payloads that later chains add. */
function readEntryFunction(transaction: Uint8Array): string | undefined {
  const reader = new ByteReader(transaction, 1 + ADDRESS_LENGTH)
  try {
    reader.skip(8)
    if (!isAtEntryFunction(reader)) return undefined
    const address = addressToShortHex(reader.readBytes(ADDRESS_LENGTH))
    const module = decodeUtf8(reader.readByteString())
    const name = `${address}::${module}::${decodeUtf8(reader.readByteString())}`
    return isFunctionName(name) ? name : undefined
  } catch (error) {
    if (isLedgerStateError(error, 'invalid_bcs')) return undefined
    throw error
  }
}

/** Reads what precedes the entry function of a payload. Returns whether there is one. */
function isAtEntryFunction(reader: ByteReader): boolean {
  const payload = reader.readUleb128()
  if (payload === PAYLOAD_ENTRY_FUNCTION) return true
  if (payload === PAYLOAD_MULTISIG) {
    reader.skip(ADDRESS_LENGTH)
    return reader.readBool() && reader.readUleb128() === MULTISIG_ENTRY_FUNCTION
  }
  if (payload !== PAYLOAD_VERSIONED) return false
  return reader.readUleb128() === VERSIONED_V1 && reader.readUleb128() === EXECUTABLE_ENTRY_FUNCTION
}
