import { addressToShortHex, bytesToHex, clip, LedgerStateError, type ParseErrorCode } from '@ledger-state/core'

export type LedgerErrorCode =
  | ParseErrorCode
  | 'invalid_type_tag'
  | 'invalid_value'
  | 'value_type_mismatch'
  | 'table_item_not_found'
  | 'balance_overflow'

/** Characters of what a caller sent that a message quotes. */
const LONGEST_QUOTE = 1_000

export function quote(text: string): string {
  return clip(text, LONGEST_QUOTE)
}

/**
 * Characters of the key in the message about a missing table item. Clients match this message word for word, with the keys
 * that ledgers have, some of which are several thousand bytes long.
 */
const LONGEST_KEY_QUOTE = 16_384

/** The JSON of a key, for the message about a missing table item. */
export function quoteKey(text: string): string {
  return clip(text, LONGEST_KEY_QUOTE)
}

/** As `quoteKey`, of bytes: in hex, without printing what the message leaves out. */
export function quoteKeyBytes(bytes: Uint8Array): string {
  const shown = LONGEST_KEY_QUOTE / 2
  return bytes.length <= shown ? bytesToHex(bytes) : `${bytesToHex(bytes.subarray(0, shown))}… (${bytes.length} bytes)`
}

export function invalidAsset(text: string, cause: unknown): LedgerStateError<LedgerErrorCode> {
  const message = `${JSON.stringify(clip(text))} is neither an address nor a struct tag 0x…::module::Name`
  return new LedgerStateError('invalid_type_tag', message, {}, { cause })
}

export function tableItemNotFound(
  handle: Uint8Array,
  quotedKey: string,
  version: bigint,
): LedgerStateError<LedgerErrorCode> {
  const message = `Table Item not found by Table handle(${addressToShortHex(handle)}), Table key(${quotedKey}) and Ledger version(${version})`
  return new LedgerStateError('table_item_not_found', message)
}

/** The key of a table item does not fit its type, or the type cannot be resolved. */
export function keyDoesNotFit(keyType: string, why: LedgerStateError): LedgerStateError<LedgerErrorCode> {
  return new LedgerStateError('invalid_value', `key of type ${quote(keyType)}: ${why.message}`, why.fields)
}

export function valueTypeUnresolved(valueType: string, why: LedgerStateError): LedgerStateError<LedgerErrorCode> {
  return new LedgerStateError('value_type_mismatch', `value_type ${quote(valueType)}: ${why.message}`, why.fields)
}

export function valueTypeMismatch(valueType: string, why: LedgerStateError): LedgerStateError<LedgerErrorCode> {
  const message = `the stored value is not a ${quote(valueType)}: ${why.message}`
  return new LedgerStateError('value_type_mismatch', message, why.fields)
}

export function storedResourceInvalid(
  name: string,
  address: Uint8Array,
  why: LedgerStateError,
): LedgerStateError<LedgerErrorCode> {
  const message = `the stored ${name} at ${addressToShortHex(address)}: ${why.message}`
  return new LedgerStateError('invalid_bcs', message, why.fields)
}

export function balanceOverflow(owner: Uint8Array, sum: bigint): LedgerStateError<LedgerErrorCode> {
  const message = `the coin balance and the fungible asset balance of ${addressToShortHex(owner)} add up to ${sum}, above 2^64 - 1`
  return new LedgerStateError('balance_overflow', message)
}
