import {
  addressToShortHex,
  bytesToHex,
  clip,
  declareErrors,
  type FieldsOf,
  isLedgerStateError,
  LedgerStateError,
  type ParseErrorCode,
  quote,
} from '@ledger-state/core'
import type { LedgerSummary, StateErrorCode } from '@ledger-state/engine'
import type { ViewFault } from '@ledger-state/move-vm'
import type { TransactionIndex } from '@ledger-state/records'

/** UTF-16 units of a list of names in a message. */
const MOST_NAMES_LENGTH = 1_000

declare module '@ledger-state/core' {
  interface ErrorFieldsByCode {
    /** `offset` of the stored byte, and `path` in the value, if the bytes do not fit. */
    value_type_mismatch: { readonly offset?: number; readonly path?: string }
    /** `offset` of the stored byte, and `path` in the value, if the bytes do not fit. */
    stored_data_invalid: { readonly offset?: number; readonly path?: string }
    /** `offset` of the byte in the result, and `path` in its value. */
    view_result_unreadable: { readonly offset?: number; readonly path?: string }
    /** `path` within the argument, if a part of it does not fit. */
    view_argument_invalid: { readonly path?: string }
    /** Status of the VM, as its number and its name. */
    view_failed: { readonly vmErrorCode?: number | undefined; readonly vmStatus?: string | undefined }
  }
}

/** Error codes of ledger reads. */
export type LedgerErrorCode =
  | ParseErrorCode
  | StateErrorCode
  | 'invalid_type_tag'
  | 'invalid_timestamp'
  | 'invalid_value'
  | 'value_type_mismatch'
  | 'table_item_not_found'
  | 'balance_overflow'
  | 'account_not_found'
  | 'resource_not_found'
  | 'account_module_not_found'
  | 'block_not_found'
  | 'block_pruned'
  | 'stored_data_invalid'
  | 'state_value_not_found'
  | 'view_argument_invalid'
  | 'view_failed'
  | 'view_result_unreadable'
  | 'read_too_large'
  | 'holdings_not_indexed'
  | 'transactions_not_indexed'

type LedgerError = LedgerStateError<LedgerErrorCode>

/** Most characters of a type in a message. */
const LONGEST_QUOTED_TYPE = 1_000
/**
 * Most characters of a key in a message. Clients compare the text for a missing item word by word, and keys of several
 * thousand bytes occur.
 */
const LONGEST_QUOTED_KEY = 16_384

export function quoteKey(text: string): string {
  return clip(text, LONGEST_QUOTED_KEY)
}

/** Quotes bytes in hex, as `quoteKey` does for a text, and prints only the part that the message shows. */
export function quoteKeyBytes(bytes: Uint8Array): string {
  const shown = LONGEST_QUOTED_KEY / 2
  return bytes.length <= shown ? bytesToHex(bytes) : `${bytesToHex(bytes.subarray(0, shown))}… (${bytes.length} bytes)`
}

function quoteType(text: string): string {
  return clip(text, LONGEST_QUOTED_TYPE)
}

export function invalidAsset(text: string, cause: unknown): LedgerError {
  const message = `${JSON.stringify(clip(text))} is neither an address nor a struct tag 0x…::module::Name`
  return new LedgerStateError('invalid_type_tag', message, {}, { cause })
}

export function tableItemNotFound(handle: Uint8Array, quotedKey: string, version: bigint): LedgerError {
  const message = `Table Item not found by Table handle(${addressToShortHex(handle)}), Table key(${quotedKey}) and Ledger version(${version})`
  return new LedgerStateError('table_item_not_found', message)
}

/** Fields with the path to a fault in a value; empty for other faults. */
function pathOf(why: LedgerStateError): FieldsOf<'invalid_value'> {
  return isLedgerStateError(why, 'invalid_value', 'unsupported_type', 'type_too_large') ? why.fields : {}
}

/** Fields with the offset of a fault in stored bytes and its path in the value; empty for other faults. */
function placeOf(why: LedgerStateError): FieldsOf<'stored_data_invalid'> {
  return isLedgerStateError(why, 'invalid_bcs') ? why.fields : pathOf(why)
}

export const invalidValue = declareErrors('invalid_value', {
  /** Error for a key of a table item that does not fit its type, or if the type cannot be resolved. */
  keyDoesNotFit: (keyType: string, why: LedgerStateError) => [
    `key of type ${quoteType(keyType)}: ${why.message}`,
    pathOf(why),
  ],
  filterTypeUnresolved: (type: string, why: LedgerStateError) =>
    `fields of events of type ${quoteType(type)}: ${why.message}`,
  /** @param names the fields that the type has at the place where the path ends */
  filterFieldUnknown: (path: string, type: string, names: readonly string[]) => {
    const known =
      names.length === 0
        ? 'it has no fields inside'
        : `there are the fields ${clip(names.join(', '), MOST_NAMES_LENGTH)}`
    return `events of type ${quoteType(type)} cannot be filtered by the field ${quote(path)}: ${known}`
  },
  fieldValueInvalid: (path: string, why: LedgerStateError) => `value of the field ${quote(path)}: ${why.message}`,
})

export const valueTypeMismatch = declareErrors('value_type_mismatch', {
  valueTypeUnresolved: (valueType: string, why: LedgerStateError) => [
    `value_type ${quoteType(valueType)}: ${why.message}`,
    placeOf(why),
  ],
  stored: (valueType: string, why: LedgerStateError) => [
    `the stored value is not a ${quoteType(valueType)}: ${why.message}`,
    placeOf(why),
  ],
})

export function balanceOverflow(owner: Uint8Array, sum: bigint): LedgerError {
  const message = `the coin balance and the fungible asset balance of ${addressToShortHex(owner)} add up to ${sum}, above 2^64 - 1`
  return new LedgerStateError('balance_overflow', message)
}

export function accountNotFound(address: Uint8Array, version: bigint): LedgerError {
  const message = `Account not found by Address(${addressToShortHex(address)}) and Ledger version(${version})`
  return new LedgerStateError('account_not_found', message)
}

export function resourceNotFound(address: Uint8Array, structTag: string, version: bigint): LedgerError {
  const message = `Resource not found by Address(${addressToShortHex(address)}), Struct tag(${quoteType(structTag)}) and Ledger version(${version})`
  return new LedgerStateError('resource_not_found', message)
}

/**
 * Error for a requested module that is absent. A layout with an absent module has another code, since that is a fault
 * of the stored data or of the type.
 */
export function accountModuleNotFound(address: Uint8Array, name: string, version: bigint): LedgerError {
  const message = `Module not found by Address(${addressToShortHex(address)}), Module name(${clip(name)}) and Ledger version(${version})`
  return new LedgerStateError('account_module_not_found', message)
}

export function stateValueNotFound(key: Uint8Array, version: bigint): LedgerError {
  const message = `State Value not found by State key(${quoteKeyBytes(key)}) and Ledger version(${version})`
  return new LedgerStateError('state_value_not_found', message)
}

// Texts about arguments in JSON, the same as in the reference.

/**
 * Name of a module in messages.
 * @param address 64 hex digits
 */
function moduleIdText(address: string, name: string): string {
  return `ModuleId { address: ${address}, name: Identifier(${JSON.stringify(clip(name))}) }`
}

export const viewArgumentInvalid = declareErrors('view_argument_invalid', {
  viewModuleAbsent: (address: string, name: string) => `Module ${moduleIdText(address, name)} can't be found`,
  viewModuleUnreadable: (address: string, name: string, why: LedgerStateError) =>
    `Module ${moduleIdText(address, name)} deserialize with error code ${why.message}`,
  /**
   * Error for a function that its module does not have.
   * @param name as `0x1::coin::balance`
   */
  viewFunctionAbsent: (name: string) => `could not find view function by ${clip(name)}`,
  viewTypeArgumentCount: (name: string, expected: number, given: number) =>
    `expected ${expected} type arguments for view function ${clip(name)}, but got ${given}`,
  /**
   * Error for a wrong number of arguments.
   * @param types types of the parameters as a text
   * @param shown arguments as a text
   */
  viewArgumentCount: (expected: number, types: string, given: number, shown: string) =>
    `expected ${expected} arguments [${quoteType(types)}], but got ${given} (${shown})`,
  viewParameterReference: (mutable: boolean) =>
    `Invalid move type for converting into \`TypeTag\`: Reference { mutable: ${mutable}, … }: references cannot be given`,
  argument: (at: number, expected: string, why: string, cause?: LedgerStateError) => [
    `parse arguments[${at}] failed, expect ${quoteType(expected)}, caused by error: ${why}`,
    cause ? pathOf(cause) : {},
  ],
})

/** Error for a view that ended in a fault. Its field `vmErrorCode` is the status code of the vm, if one is known. */
export function viewFailed({ code, name, message }: ViewFault): LedgerError {
  return new LedgerStateError('view_failed', message, { vmErrorCode: code, vmStatus: name })
}

export function viewResultUnreadable(at: number, type: string, why: LedgerStateError): LedgerError {
  const message = `result ${at} of type ${quoteType(type)} has no JSON form: ${why.message}`
  return new LedgerStateError('view_result_unreadable', message, placeOf(why))
}

export const invalidTimestamp = declareErrors('invalid_timestamp', {
  notATime: (text: string, why: string) => `${JSON.stringify(clip(text))} is not a time: ${why}`,
  invalidInterval: (text: string) => `${JSON.stringify(clip(text))} is not a duration such as 30s, 15m, 1h, 1d or 1w`,
})

export function timeNotReached(timestampUsec: bigint): LedgerStateError<StateErrorCode> {
  const message = `Ledger version not found by Ledger timestamp(${timestampUsec}): this time is in the future`
  return new LedgerStateError('version_not_found', message, { timestampUsec })
}

export function timePruned(
  timestampUsec: bigint,
  { oldestVersion, oldestBlock }: LedgerSummary,
): LedgerStateError<StateErrorCode> {
  const message = `Ledger timestamp(${timestampUsec}) has been pruned: the oldest block has the timestamp ${oldestBlock.timestampUsec}`
  return new LedgerStateError('version_pruned', message, { timestampUsec, oldestVersion })
}

export function blockNotFound(height: bigint): LedgerError {
  return new LedgerStateError('block_not_found', `Block not found by Block height(${height})`)
}

export function blockPruned(height: bigint): LedgerError {
  return new LedgerStateError('block_pruned', `Block(${height}) has been pruned`)
}

/** Errors for transactions, or their events, that the store had once or was never given. */
export const transactionsPruned = declareErrors('version_pruned', {
  newest: (version: bigint, oldestVersion: bigint) => [
    `the whole transaction of version ${version} is not kept, so newer items of the list may be missing`,
    { version, oldestVersion },
  ],
  notKept: (version: bigint, oldestVersion: bigint) => [
    `the whole transaction of version ${version} is not kept`,
    { version, oldestVersion },
  ],
  /** @param since first version since which the store has all whole transactions */
  before: (version: bigint, since: bigint) => [
    `whole transactions are not kept at version ${version}: the store has all of them since version ${since}`,
    { version, oldestVersion: since },
  ],
  /** @param number first number of the list that is missing */
  numberMissing: (what: 'event' | 'transaction', number: bigint, since: bigint) => [
    `the ${what} with sequence number ${number} is not kept: the store has all whole transactions since version ${since}`,
    { version: since - 1n, oldestVersion: since },
  ],
})

const FOUND_BY: Readonly<Record<TransactionIndex, string>> = {
  hash: 'transactions by their hash',
  sender: 'transactions by their sender',
  affected: 'transactions by the accounts that they affect',
  'event-key': 'events by their stream',
  'event-type': 'events by their type',
}

export function transactionsNotIndexed(index: TransactionIndex): LedgerError {
  const message = `this store does not index ${FOUND_BY[index]}: --transaction-indexes of its ingest left out ${index}`
  return new LedgerStateError('transactions_not_indexed', message)
}

export const storedDataInvalid = declareErrors('stored_data_invalid', {
  /** Error for stored bytes that do not fit their type, or for a stored resource of an unresolvable type. */
  storedAccountInvalid: (why: LedgerStateError) => storedData('Internal error deserializing response from DB', why),
  storedResourceUnreadable: (why: LedgerStateError) =>
    storedData('Failed to deserialize resource data retrieved from DB', why),
  listedResourceUnreadable: (why: LedgerStateError) =>
    storedData('Failed to build move resource response from data in DB', why),
  /** Error for a whole transaction if the state does not have its writes. */
  writesUnknown: (version: bigint) => `the state does not have the writes of version ${version}`,
  /** Error for a stored transaction whose info does not have the stored hash. */
  infoDiffers: (version: bigint) =>
    `the transaction and the state of version ${version} do not have the stored hash of its transaction info`,
  /** Error for a stored frontier of the accumulator that is not one. */
  frontierInvalid: (version: bigint) => `the stored accumulator of version ${version} cannot be decoded`,
  transactionWith: (version: bigint, why: string) => `the transaction of version ${version} has ${why}`,
  transactionUndecodable: (version: bigint, why: LedgerStateError) =>
    storedData(`the transaction of version ${version} cannot be decoded`, why),
})

/** Error for a transaction that has no JSON. @param why the reason, or the error with which its reading ended */
export function transactionUnreadable(version: bigint, why: unknown): unknown {
  if (typeof why === 'string') return storedDataInvalid.transactionWith(version, why)
  if (!isLedgerStateError(why, 'invalid_bcs')) return why
  return storedDataInvalid.transactionUndecodable(version, why)
}

function storedData(what: string, why: LedgerStateError) {
  return [`${what}: ${why.message}`, placeOf(why)] as const
}

export const readTooLarge = declareErrors('read_too_large', {
  /** Error for a read over an async engine that needs more than one read may load. */
  tooManyBytes: (mostBytes: number) => `the read needs more than ${mostBytes} bytes of the state; ask for less at once`,
  tooManyRounds: (mostRounds: number) =>
    `the read needs more than ${mostRounds} round trips to the state servers; ask for less at once`,
  tooManyHolders: (most: number) =>
    `the asset has more than ${most} stores, which one request does not sort by amount: read all of them as CSV (Accept: text/csv) in the order of their addresses, page by page, and sort them`,
})

// Holdings

export function holdingsNotIndexed(version: bigint): LedgerError {
  const message = `this store has no index of holdings at version ${version}: \`ledger-state index\` builds it for all its versions`
  return new LedgerStateError('holdings_not_indexed', message)
}
