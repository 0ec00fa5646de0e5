import { ADDRESS_LENGTH, addressToShortHex, parseAddress, type SizedCache } from '@ledger-state/core'
import { decodeUtf8, writeAscii } from '@ledger-state/core/bytes'

/**
 * Kinds of transactions, named as in the node's API without `_transaction`; `other` is any kind that a chain adds
 * later.
 */
export const TRANSACTION_KINDS = [
  'user',
  'genesis',
  'block_metadata',
  'state_checkpoint',
  'validator',
  'block_epilogue',
  'other',
] as const

/** Kind of the transaction that made a version: one of `TRANSACTION_KINDS`. */
export type TransactionKind = (typeof TRANSACTION_KINDS)[number]

/** The stored part of the transaction of a version. */
export interface KeptTransaction {
  readonly kind: TransactionKind
  /** Hash of the transaction, 32 bytes. */
  readonly hash: Uint8Array
  /** Whether the transaction succeeded. One that failed also writes: it pays for its gas. */
  readonly isSuccess: boolean
  /** Address of the sender, 32 bytes, of a user's transaction. */
  readonly sender?: Uint8Array | undefined
  /**
   * The entry function that it called, such as `0x1::aptos_account::transfer`; undefined for a script and for a
   * transaction that calls none.
   */
  readonly entryFunction?: string | undefined
}

// The form in which a store keeps it:
//   u8 kind | 0x10 if it succeeded | 0x20 if a function follows · hash 32 · of a user: sender 32 ·
//   of a function: u8 length of its address without leading zeros · address · module::function
const KIND_BITS = 0x0f
const SUCCESS = 0x10
const HAS_FUNCTION = 0x20
const HASH_LENGTH = 32
const SENDER_AT = 1 + HASH_LENGTH

const NAME = '[A-Za-z_][A-Za-z0-9_$]{0,254}'
const NAMES = new RegExp(`^${NAME}::${NAME}$`)
const FUNCTION = new RegExp(`^0x[0-9a-f]{1,64}::${NAME}::${NAME}$`)

/** Whether a text is a function name as in `KeptTransaction.entryFunction`. */
export function isFunctionName(text: string): boolean {
  return FUNCTION.test(text)
}

/**
 * Encodes a transaction in the form in which a store keeps it. Its function must be an `isFunctionName`, and a user's
 * transaction must have a sender.
 * @param functions a cache of encoded names: most transactions call one of a few functions
 */
export function transactionToBytes(
  { kind, hash, isSuccess, sender, entryFunction }: KeptTransaction,
  functions?: SizedCache<Uint8Array>,
): Uint8Array {
  const called = entryFunction === undefined ? undefined : encodedFunction(entryFunction, functions)
  const functionAt = functionStart(kind)
  const bytes = new Uint8Array(functionAt + (called ? called.length : 0))
  bytes[0] = TRANSACTION_KINDS.indexOf(kind) | (isSuccess ? SUCCESS : 0) | (called ? HAS_FUNCTION : 0)
  bytes.set(hash, 1)
  if (kind === 'user' && sender) bytes.set(sender, SENDER_AT)
  if (called) bytes.set(called, functionAt)
  return bytes
}

/** Encodes a function name. Undefined if the text is not the name of a function. */
function encodedFunction(text: string, functions: SizedCache<Uint8Array> | undefined): Uint8Array | undefined {
  const known = functions?.get(text)
  if (known || !isFunctionName(text)) return known
  const addressEnd = text.indexOf('::')
  const address = withoutLeadingZeros(parseAddress(text.slice(0, addressEnd)))
  const names = text.slice(addressEnd + 2)
  const bytes = new Uint8Array(1 + address.length + names.length)
  bytes[0] = address.length
  bytes.set(address, 1)
  writeAscii(bytes, 1 + address.length, names)
  functions?.set(text, bytes, text.length + bytes.length)
  return bytes
}

/** Decodes the bytes of `transactionToBytes`. Undefined for any other bytes, such as from a hostile feed. */
export function bytesToTransaction(bytes: Uint8Array): KeptTransaction | undefined {
  const head = bytes[0] ?? KIND_BITS
  const kind = TRANSACTION_KINDS[head & KIND_BITS]
  if (!kind || head > (KIND_BITS | SUCCESS | HAS_FUNCTION)) return undefined
  const functionAt = functionStart(kind)
  const hasFunction = (head & HAS_FUNCTION) !== 0
  if (hasFunction ? bytes.length <= functionAt : bytes.length !== functionAt) return undefined
  const entryFunction = hasFunction ? readFunction(bytes, functionAt) : undefined
  if (hasFunction && !entryFunction) return undefined
  return {
    kind,
    hash: Uint8Array.from(bytes.subarray(1, SENDER_AT)),
    isSuccess: (head & SUCCESS) !== 0,
    ...(kind === 'user' && { sender: Uint8Array.from(bytes.subarray(SENDER_AT, functionAt)) }),
    ...(entryFunction !== undefined && { entryFunction }),
  }
}

function functionStart(kind: TransactionKind): number {
  return SENDER_AT + (kind === 'user' ? ADDRESS_LENGTH : 0)
}

function readFunction(bytes: Uint8Array, at: number): string | undefined {
  const length = bytes[at]!
  const namesAt = at + 1 + length
  const names = length <= ADDRESS_LENGTH ? decodeUtf8(bytes.subarray(namesAt)) : undefined
  if (names === undefined || !NAMES.test(names)) return undefined
  const address = new Uint8Array(ADDRESS_LENGTH)
  address.set(bytes.subarray(at + 1, namesAt), ADDRESS_LENGTH - length)
  return `${addressToShortHex(address)}::${names}`
}

function withoutLeadingZeros(address: Uint8Array): Uint8Array {
  let first = 0
  while (first < address.length && address[first] === 0) first++
  return address.subarray(first)
}
