import { ADDRESS_LENGTH, addressToShortHex, ByteReader, isLedgerStateError, type SizedCache } from '@ledger-state/core'
import { bytesToHexDigits, decodeUtf8 } from '@ledger-state/core/bytes'
import { isFunctionName, type KeptTransaction, type TransactionKind } from './kept-transaction.js'

/** Kinds of transactions by their tags. Block metadata and the end of a block have two tags each. */
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
 * Reads the part of a transaction that a store keeps. Sender and entry function come from the bytes that the hash
 * covers. See docs/ledger-formats.md, "Senders and entry functions".
 * @param outcome hash and success, which come from the info of the transaction, and are proven as the info is
 * @param names names of functions that were read before, by their bytes: most transactions call one of few functions
 */
export function readKeptTransaction(
  transaction: Uint8Array,
  { hash, isSuccess }: Pick<KeptTransaction, 'hash' | 'isSuccess'>,
  names?: SizedCache<string>,
): KeptTransaction {
  const kept = { kind: kindOf(transaction), hash: Uint8Array.from(hash), isSuccess }
  if (kept.kind !== 'user') return kept
  const sender = Uint8Array.from(transaction.subarray(1, 1 + ADDRESS_LENGTH))
  return { ...kept, sender, entryFunction: readEntryFunction(transaction, names) }
}

function kindOf(transaction: Uint8Array): TransactionKind {
  const kind = KINDS[transaction[0]!] ?? 'other'
  return kind === 'user' && transaction.length < 1 + ADDRESS_LENGTH ? 'other' : kind
}

/**
 * Reads the entry function of a user transaction. Undefined for scripts, for payloads that are encrypted or kept
 * elsewhere, and for payloads that later chains add.
 */
function readEntryFunction(transaction: Uint8Array, names: SizedCache<string> | undefined): string | undefined {
  const reader = new ByteReader(transaction, 1 + ADDRESS_LENGTH)
  try {
    reader.skip(8)
    if (!isAtEntryFunction(reader)) return undefined
    const start = reader.skip(ADDRESS_LENGTH)
    const module = reader.readByteString()
    const called = reader.readByteString()
    const key = bytesToHexDigits(transaction.subarray(start, reader.offset))
    const known = names?.get(key)
    if (known !== undefined) return known
    const address = addressToShortHex(transaction.subarray(start, start + ADDRESS_LENGTH))
    const name = `${address}::${decodeUtf8(module)}::${decodeUtf8(called)}`
    if (!isFunctionName(name)) return undefined
    names?.set(key, name, key.length + name.length)
    return name
  } catch (error) {
    if (isLedgerStateError(error, 'invalid_bcs')) return undefined
    throw error
  }
}

/** Reads the bytes before the entry function of a payload. Returns whether there is one. */
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
