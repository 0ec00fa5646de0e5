import {
  ADDRESS_LENGTH,
  addressToShortHex,
  bytesToHex,
  clip,
  type FieldsOf,
  isLedgerStateError,
  LedgerStateError,
  type ParseErrorCode,
} from '@ledger-state/core'
import type { LedgerSummary, StateErrorCode } from '@ledger-state/engine'
import type { ViewFault } from '@ledger-state/move-vm'

declare module '@ledger-state/core' {
  interface ErrorFieldsByCode {
    /** `offset` of the stored byte, and `path` in the value, where the bytes do not fit. */
    value_type_mismatch: { readonly offset?: number; readonly path?: string }
    /** `offset` of the stored byte, and `path` in the value, where the bytes do not fit. */
    stored_data_invalid: { readonly offset?: number; readonly path?: string }
    /** `offset` of the byte in the result, and `path` in its value. */
    view_result_unreadable: { readonly offset?: number; readonly path?: string }
    /** `path` in the argument, inside one. */
    view_argument_invalid: { readonly path?: string }
    /** The status of the VM, as its number and its name. */
    view_failed: { readonly vmErrorCode?: number | undefined; readonly vmStatus?: string | undefined }
  }
}

/** Codes of what a ledger does not have, or cannot answer. */
export type LedgerErrorCode =
  | ParseErrorCode
  | StateErrorCode
  | 'invalid_type_tag'
  | 'invalid_timestamp'
  | 'invalid_value'
  | 'invalid_slice'
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

type LedgerError = LedgerStateError<LedgerErrorCode>

/** Characters of a type that a message quotes. */
const LONGEST_QUOTED_TYPE = 1_000
/**
 * Characters of a key that a message quotes. Clients match the text that names a missing item word for word; keys of
 * several thousand bytes occur.
 */
const LONGEST_QUOTED_KEY = 16_384

export function quoteKey(text: string): string {
  return clip(text, LONGEST_QUOTED_KEY)
}

/** Same as `quoteKey`, of bytes: in hex, without printing what the message leaves out. */
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

/** Path to a fault in its value; nothing of other faults. */
function pathOf(why: LedgerStateError): FieldsOf<'invalid_value'> {
  return isLedgerStateError(why, 'invalid_value', 'unsupported_type', 'type_too_large') ? why.fields : {}
}

/** Offset of a fault in stored bytes, and its path in the value; nothing of other faults. */
function placeOf(why: LedgerStateError): FieldsOf<'stored_data_invalid'> {
  return isLedgerStateError(why, 'invalid_bcs') ? why.fields : pathOf(why)
}

/** The key of a table item does not fit its type, or the type cannot be resolved. */
export function keyDoesNotFit(keyType: string, why: LedgerStateError): LedgerError {
  return new LedgerStateError('invalid_value', `key of type ${quoteType(keyType)}: ${why.message}`, pathOf(why))
}

export function valueTypeUnresolved(valueType: string, why: LedgerStateError): LedgerError {
  return new LedgerStateError('value_type_mismatch', `value_type ${quoteType(valueType)}: ${why.message}`, placeOf(why))
}

export function valueTypeMismatch(valueType: string, why: LedgerStateError): LedgerError {
  const message = `the stored value is not a ${quoteType(valueType)}: ${why.message}`
  return new LedgerStateError('value_type_mismatch', message, placeOf(why))
}

export function storedResourceInvalid(name: string, address: Uint8Array, why: LedgerStateError): LedgerError {
  const message = `the stored ${name} at ${addressToShortHex(address)}: ${why.message}`
  return new LedgerStateError('invalid_bcs', message, placeOf(why))
}

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

/** Another code than that of a layout whose module is absent, which is a fault of the stored data or of the type. */
export function accountModuleNotFound(address: Uint8Array, name: string, version: bigint): LedgerError {
  const message = `Module not found by Address(${addressToShortHex(address)}), Module name(${clip(name)}) and Ledger version(${version})`
  return new LedgerStateError('account_module_not_found', message)
}

export function stateValueNotFound(key: Uint8Array, version: bigint): LedgerError {
  const message = `State Value not found by State key(${quoteKeyBytes(key)}) and Ledger version(${version})`
  return new LedgerStateError('state_value_not_found', message)
}

// Texts about arguments in JSON, as the reference has them.

function viewCallInvalid(message: string, fields: FieldsOf<'view_argument_invalid'> = {}): LedgerError {
  return new LedgerStateError('view_argument_invalid', message, fields)
}

/** @param address 64 hex digits */
function moduleIdText(address: string, name: string): string {
  return `ModuleId { address: ${address}, name: Identifier(${JSON.stringify(clip(name))}) }`
}

export function viewModuleAbsent(address: string, name: string): LedgerError {
  return viewCallInvalid(`Module ${moduleIdText(address, name)} can't be found`)
}

export function viewModuleUnreadable(address: string, name: string, why: LedgerStateError): LedgerError {
  return viewCallInvalid(`Module ${moduleIdText(address, name)} deserialize with error code ${why.message}`)
}

/** @param name as `0x1::coin::balance` */
export function viewFunctionAbsent(name: string): LedgerError {
  return viewCallInvalid(`could not find view function by ${clip(name)}`)
}

export function viewTypeArgumentCount(name: string, expected: number, given: number): LedgerError {
  return viewCallInvalid(`expected ${expected} type arguments for view function ${clip(name)}, but got ${given}`)
}

/** @param types of the parameters, and `shown` of the arguments, as texts */
export function viewArgumentCount(expected: number, types: string, given: number, shown: string): LedgerError {
  return viewCallInvalid(`expected ${expected} arguments [${quoteType(types)}], but got ${given} (${shown})`)
}

export function viewParameterReference(mutable: boolean): LedgerError {
  return viewCallInvalid(
    `Invalid move type for converting into \`TypeTag\`: Reference { mutable: ${mutable}, … }: references cannot be given`,
  )
}

export function viewArgumentInvalid(at: number, expected: string, why: string, cause?: LedgerStateError): LedgerError {
  const message = `parse arguments[${at}] failed, expect ${quoteType(expected)}, caused by error: ${why}`
  return viewCallInvalid(message, cause && pathOf(cause))
}

/** A view ended with a fault. Its fields have the status code of the vm as `vmErrorCode`, where one is known. */
export function viewFailed({ code, name, message }: ViewFault): LedgerError {
  return new LedgerStateError('view_failed', message, { vmErrorCode: code, vmStatus: name })
}

export function viewResultUnreadable(at: number, type: string, why: LedgerStateError): LedgerError {
  const message = `result ${at} of type ${quoteType(type)} has no JSON form: ${why.message}`
  return new LedgerStateError('view_result_unreadable', message, placeOf(why))
}

export function invalidTimestamp(text: string, why: string): LedgerError {
  return new LedgerStateError('invalid_timestamp', `${JSON.stringify(clip(text))} is not a time: ${why}`)
}

export function invalidInterval(text: string): LedgerError {
  const message = `${JSON.stringify(clip(text))} is not a duration such as 30s, 15m, 1h, 1d or 1w`
  return new LedgerStateError('invalid_timestamp', message)
}

export function timeNotReached(timestampUsec: bigint): LedgerStateError<StateErrorCode> {
  const message = `Ledger version not found by Ledger timestamp(${timestampUsec}): the time has not come yet`
  return new LedgerStateError('version_not_found', message, { timestampUsec })
}

export function timePruned(
  timestampUsec: bigint,
  { oldestVersion, oldestBlock }: LedgerSummary,
): LedgerStateError<StateErrorCode> {
  const message = `Ledger timestamp(${timestampUsec}) has been pruned: the oldest block is of ${oldestBlock.timestampUsec}`
  return new LedgerStateError('version_pruned', message, { timestampUsec, oldestVersion })
}

export function blockNotFound(height: bigint): LedgerError {
  return new LedgerStateError('block_not_found', `Block not found by Block height(${height})`)
}

export function blockPruned(height: bigint): LedgerError {
  return new LedgerStateError('block_pruned', `Block(${height}) has been pruned`)
}

/** Stored bytes are not of their type, or the type of a stored resource cannot be resolved. */
export function storedAccountInvalid(why: LedgerStateError): LedgerError {
  return storedDataInvalid('Internal error deserializing response from DB', why)
}

export function storedResourceUnreadable(why: LedgerStateError): LedgerError {
  return storedDataInvalid('Failed to deserialize resource data retrieved from DB', why)
}

export function listedResourceUnreadable(why: LedgerStateError): LedgerError {
  return storedDataInvalid('Failed to build move resource response from data in DB', why)
}

function storedDataInvalid(what: string, why: LedgerStateError): LedgerError {
  return new LedgerStateError('stored_data_invalid', `${what}: ${why.message}`, placeOf(why))
}

/** A read over an async engine needs more of it than one read may load. */
export function readTooLarge(mostBytes: number): LedgerError {
  return new LedgerStateError(
    'read_too_large',
    `the read needs more than ${mostBytes} bytes of the state; ask for less at once`,
  )
}

export function tooManyRounds(mostRounds: number): LedgerError {
  const message = `the read needs more than ${mostRounds} rounds to the servers of the state; ask for less at once`
  return new LedgerStateError('read_too_large', message)
}

// Slices

const SLICE = 'this store keeps a slice of its ledger'

/** @param oldestVersion of the store */
export function notInSlice(key: Uint8Array, version: bigint, oldestVersion: bigint): LedgerStateError<StateErrorCode> {
  const message = `${SLICE}, which has not ${nameOfKey(key)}; ${lineThatKeeps(key)} keeps it`
  return new LedgerStateError('version_pruned', message, { version, oldestVersion })
}

/**
 * @param since the version from which on its writes are kept
 * @param asked state key, or the beginning of one, of what is to be asked for so that all of it is kept
 */
export function keptSince(
  key: Uint8Array,
  since: bigint,
  version: bigint,
  oldestVersion: bigint,
  asked = key,
): LedgerStateError<StateErrorCode> {
  const message = `${SLICE}, which has ${nameOfKey(key)} from version ${since} on, as far as it was written since: what else it has at version ${version} is not known; ${lineThatKeeps(asked)} keeps all of it`
  return new LedgerStateError('version_pruned', message, { version, oldestVersion })
}

/** @param prefix of the keys that were to be listed */
export function notListedInSlice(
  prefix: Uint8Array,
  version: bigint,
  oldestVersion: bigint,
): LedgerStateError<StateErrorCode> {
  if (prefix.length > ADDRESS_LENGTH) return notInSlice(prefix, version, oldestVersion)
  const message = `${SLICE}: what lies outside of it is not known, so nothing is searched through all accounts`
  return new LedgerStateError('version_pruned', message, { version, oldestVersion })
}

/** What a state key, or the beginning of one, names. */
function nameOfKey(key: Uint8Array): string {
  const id = key.subarray(1, 1 + ADDRESS_LENGTH)
  if (key[0] === 0) return `the account ${addressToShortHex(id)}`
  return key[0] === 1 ? `the table ${addressToShortHex(id)}` : `the key ${quoteKeyBytes(key)}`
}

function lineThatKeeps(key: Uint8Array): string {
  const id = key.subarray(1, 1 + ADDRESS_LENGTH)
  if (key[0] === 0) return `--only-account ${addressToShortHex(id)}`
  return key[0] === 1 ? `--only-table ${addressToShortHex(id)}` : 'no slice'
}

export function invalidTypePattern(text: string): LedgerError {
  const message = `${JSON.stringify(clip(text))} does not name types: expected 0x…::module::Name, 0x…::module::* or 0x…::*`
  return new LedgerStateError('invalid_type_tag', message)
}

export function sliceOfNothing(): LedgerError {
  return new LedgerStateError('invalid_slice', 'a slice that keeps nothing: name an account, a table or a type')
}

export function invalidSliceLine(line: number, cause: unknown): LedgerError {
  const why = cause instanceof Error ? cause.message : String(cause)
  const message = `line ${line}: ${why}; expected an address, "table" and a handle, or a type`
  return new LedgerStateError('invalid_slice', message, {}, { cause })
}
