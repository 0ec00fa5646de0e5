import { isU64, nearestName } from '@ledger-state/core'
import { invalidArgument, invalidArgumentErrors } from '../errors.js'
import type { HistoryOptions, ScanOptions } from '../ports/state-port.js'

// Callers from JavaScript pass anything. Each of these functions checks an argument before it is used, and throws `invalid_argument`.

const U64 = 'a bigint from 0 to 2^64 - 1'
const BYTES = 'a Uint8Array'

const MAX_MARK_LENGTH = 65_536

/** Checks that an argument is a u64. `what` names the argument in the message. @throws `invalid_argument` */
export function expectU64(what: string, value: unknown): asserts value is bigint {
  if (!isU64(value)) throw invalidArgument(what, U64, value)
}

/** Checks that an argument is a `Uint8Array`. `what` names the argument in the message. @throws `invalid_argument` */
export function expectBytes(what: string, value: unknown): asserts value is Uint8Array {
  if (!(value instanceof Uint8Array)) throw invalidArgument(what, BYTES, value)
}

/** Checks that an argument is an array. It does not look at the elements. @throws `invalid_argument` */
export function expectArray(what: string, value: unknown): asserts value is readonly unknown[] {
  if (!Array.isArray(value)) throw invalidArgument(what, 'an array', value)
}

/** Checks that an argument is an object. It does not look at the members. @throws `invalid_argument` */
export function expectObject(what: string, value: unknown): asserts value is object {
  if (typeof value !== 'object' || value === null) throw invalidArgument(what, 'an object', value)
}

/**
 * Checks that an argument is an object and that `names` contains all its members: otherwise a misspelled option would
 * have no effect and no error.
 * @throws `invalid_argument`, which names the option that was probably meant
 */
export function expectOptions(what: string, value: unknown, names: readonly string[]): asserts value is object {
  expectObject(what, value)
  const unknown = Object.keys(value).find((name) => !names.includes(name))
  if (unknown !== undefined) throw invalidArgumentErrors.unknownOption(what, unknown, nearestName(unknown, names))
}

export function expectFunction(what: string, value: unknown): asserts value is (...args: never) => unknown {
  if (typeof value !== 'function') throw invalidArgument(what, 'a function', value)
}

/** Checks that an argument is a string. @throws `invalid_argument` */
export function expectString(what: string, value: unknown): asserts value is string {
  if (typeof value !== 'string') throw invalidArgument(what, 'a string', value)
}

/** Checks that an argument is one of `choices`. Callers fill in a default first, so `undefined` is refused. */
export function expectOneOf(what: string, value: unknown, choices: readonly string[]): void {
  if (!choices.includes(value as string)) throw invalidArgument(what, `one of ${choices.join(', ')}`, value)
}

/** Checks that an argument is a whole number, or infinity, and at least `least`. */
export function expectCount(what: string, value: unknown, least: number): void {
  const isWhole = typeof value === 'number' && (Number.isInteger(value) || value === Number.POSITIVE_INFINITY)
  if (!isWhole || value < least) throw invalidArgument(what, `a whole number of at least ${least}`, value)
}

export function chainIdToBigint(chainId: unknown): bigint {
  const id = Number.isSafeInteger(chainId) ? BigInt(chainId as number) : chainId
  if (!isU64(id)) throw invalidArgument('the chain id', 'a u64, as a number or a bigint', chainId)
  return id
}

export function validateMark(mark: unknown): asserts mark is Uint8Array | undefined {
  if (mark !== undefined) expectMark(mark)
}

/** Checks the argument of `StateWriter.putMark`. @throws `invalid_argument` */
export function expectMark(mark: unknown): asserts mark is Uint8Array {
  expectBytes('the mark', mark)
  if (mark.length > MAX_MARK_LENGTH) throw invalidArgumentErrors.markTooLong(mark.length, MAX_MARK_LENGTH)
}

/** Checks the options of `StateWriter.truncateTo`. @throws `invalid_argument` */
export function validateTruncation(options: unknown): void {
  expectObject('the options of the truncation', options)
  validateMark((options as { readonly mark?: unknown }).mark)
}

/** Range of a scan, with the defaults filled in. */
export interface ScanRange {
  /** First key, at or above the prefix. */
  readonly start: Uint8Array
  readonly limit: number
}

/** Checks the arguments of `StateView.scan`, and fills in the defaults of its options. @throws `invalid_argument` */
export function toScanRange(prefix: unknown, options: ScanOptions = {}): ScanRange {
  expectBytes('the prefix', prefix)
  expectObject('the options of the scan', options)
  const { start, limit = Number.POSITIVE_INFINITY } = options
  if (start !== undefined) expectBytes('the start of the scan', start)
  expectCount('the limit of the scan', limit, 0)
  return { start: start ?? prefix, limit }
}

/** Range of a history, with the defaults filled in. */
export interface HistoryRange {
  readonly first: bigint
  readonly last: bigint | undefined
  readonly isNewestFirst: boolean
}

/**
 * Checks the arguments of `StateReader.history`, and fills in the defaults of its options.
 * @throws `invalid_argument`
 */
export function toHistoryRange(key: unknown, options: HistoryOptions = {}): HistoryRange {
  expectBytes('the key', key)
  expectObject('the options of the history', options)
  const { first = 0n, last, order = 'desc' } = options
  expectU64('the first version', first)
  if (last !== undefined) expectU64('the last version', last)
  expectOneOf('the order of the history', order, ['asc', 'desc'])
  return { first, last, isNewestFirst: order === 'desc' }
}
