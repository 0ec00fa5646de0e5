import { INTEGER_TYPES } from '@ledger-state/type-tag'
import { toIntegerValue } from '../codec/integer-codec.js'
import { arithmeticFault } from '../faults/vm-fault.js'
import { bitsOf, FAST_MAX, FAST_MIN, FIRST_SIGNED, MAX_VALUE, MIN_VALUE } from '../types/integer-type.js'

// Arithmetic on integers as `Value` holds them: a number if it is safe, else a bigint. `type` is the number of an
// integer type. Each function faults as the instruction of its name does.

type Integer = number | bigint

const WORD = 0x1_0000_0000

const WIDE = { u128: INTEGER_TYPES.indexOf('u128'), u256: INTEGER_TYPES.indexOf('u256') } as const

/** Whether the type is `u128` or `u256`. */
function isWide(type: number): boolean {
  return type === WIDE.u128 || type === WIDE.u256
}

/** A result in the form of values; undefined if the type cannot hold it. */
function inRange(value: bigint, type: number): Integer | undefined {
  return value < MIN_VALUE[type]! || value > MAX_VALUE[type]! ? undefined : toIntegerValue(value)
}

const EIGHT_BYTES = new DataView(new ArrayBuffer(8))

/** An integer as a bigint. `BigInt` leaves compiled code: it takes three times as long. */
function toBigInt(value: Integer): bigint {
  if (typeof value === 'bigint') return value
  if (value < 0) return BigInt(value)
  EIGHT_BYTES.setUint32(0, value, true)
  EIGHT_BYTES.setUint32(4, value / WORD, true)
  return EIGHT_BYTES.getBigUint64(0, true)
}

function expectRange(value: bigint, type: number, message: string): Integer {
  const result = inRange(value, type)
  if (result === undefined) throw arithmeticFault(message)
  return result
}

/** A result of a wide type that is known to be above 2^53 - 1. */
function expectWide(value: bigint, type: number, message: string): bigint {
  if (value > MAX_VALUE[type]!) throw arithmeticFault(message)
  return value
}

export function add(left: Integer, right: Integer, type: number): Integer {
  if (typeof left === 'number' && typeof right === 'number') {
    const sum = left + right
    if (sum <= FAST_MAX[type]! && sum >= FAST_MIN[type]!) return sum
  }
  if (isWide(type)) return expectWide(toBigInt(left) + toBigInt(right), type, 'Addition overflow')
  return expectRange(toBigInt(left) + toBigInt(right), type, 'Addition overflow')
}

export function subtract(left: Integer, right: Integer, type: number): Integer {
  if (typeof left === 'number' && typeof right === 'number') {
    const difference = left - right
    if (difference <= FAST_MAX[type]! && difference >= FAST_MIN[type]!) return difference
  }
  return expectRange(toBigInt(left) - toBigInt(right), type, 'Subtraction overflow')
}

export function multiply(left: Integer, right: Integer, type: number): Integer {
  if (typeof left === 'number' && typeof right === 'number') {
    const product = left * right
    if (product <= FAST_MAX[type]! && product >= FAST_MIN[type]!) return product
  }
  if (isWide(type) && left !== 0 && right !== 0) {
    return expectWide(toBigInt(left) * toBigInt(right), type, 'Multiplication overflow')
  }
  return expectRange(toBigInt(left) * toBigInt(right), type, 'Multiplication overflow')
}

export function divide(left: Integer, right: Integer, type: number): Integer {
  if (right === 0) throw arithmeticFault('Division by zero')
  if (typeof left === 'number' && typeof right === 'number') {
    // The remainder, the difference and their quotient are exact.
    const quotient = (left - (left % right)) / right
    if (quotient <= FAST_MAX[type]!) return quotient
  }
  const quotient = toBigInt(left) / toBigInt(right)
  return type < FIRST_SIGNED ? toIntegerValue(quotient) : expectRange(quotient, type, 'Division overflow')
}

export function remainder(left: Integer, right: Integer, type: number): Integer {
  if (right === 0) throw arithmeticFault('Integer remainder by zero')
  if (right === -1 && type >= FIRST_SIGNED && toBigInt(left) === MIN_VALUE[type]) {
    throw arithmeticFault('Integer remainder by zero')
  }
  if (typeof left === 'number' && typeof right === 'number') return left % right
  return toIntegerValue(toBigInt(left) % toBigInt(right))
}

export function negate(operand: Integer, type: number): Integer {
  return expectRange(-BigInt(operand), type, 'Integer negation overflow')
}

export function bitOr(left: Integer, right: Integer): Integer {
  if (typeof left === 'number' && typeof right === 'number') {
    if (left < WORD && right < WORD) return (left | right) >>> 0
    return (highWord(left) | highWord(right)) * WORD + ((left | right) >>> 0)
  }
  return toIntegerValue(toBigInt(left) | toBigInt(right))
}

export function bitAnd(left: Integer, right: Integer): Integer {
  if (typeof left === 'number' && typeof right === 'number') {
    if (left < WORD || right < WORD) return (left & right) >>> 0
    return (highWord(left) & highWord(right)) * WORD + ((left & right) >>> 0)
  }
  return toIntegerValue(toBigInt(left) & toBigInt(right))
}

export function bitXor(left: Integer, right: Integer): Integer {
  if (typeof left === 'number' && typeof right === 'number') {
    if (left < WORD && right < WORD) return (left ^ right) >>> 0
    return (highWord(left) ^ highWord(right)) * WORD + ((left ^ right) >>> 0)
  }
  return toIntegerValue(toBigInt(left) ^ toBigInt(right))
}

/** The bits above the lowest 32; there are at most 21. */
function highWord(value: number): number {
  return Math.floor(value / WORD)
}

/** Shifts left; bits beyond the width are dropped. */
export function shiftLeft(left: Integer, amount: number, type: number): Integer {
  const bits = bitsOf(type)
  if (amount >= bits) throw arithmeticFault('Shift Left overflow')
  if (typeof left === 'number') {
    const shifted = left * 2 ** amount
    if (shifted <= FAST_MAX[type]!) return shifted
  }
  return toIntegerValue(BigInt.asUintN(bits, toBigInt(left) << BigInt(amount)))
}

export function shiftRight(left: Integer, amount: number, type: number): Integer {
  if (amount >= bitsOf(type)) throw arithmeticFault('Shift Right overflow')
  if (typeof left === 'number') return Math.floor(left / 2 ** amount)
  return toIntegerValue(left >> BigInt(amount))
}

export function cast(operand: Integer, from: number, to: number): Integer {
  if (typeof operand === 'number' && operand <= FAST_MAX[to]! && operand >= FAST_MIN[to]!) return operand
  // All other numbers are out of range, and no bigint is a safe integer.
  if (typeof operand === 'bigint' && operand >= MIN_VALUE[to]! && operand <= MAX_VALUE[to]!) return operand
  throw arithmeticFault(castMessage(operand, from, to))
}

const U256 = INTEGER_TYPES.indexOf('u256')
const I256 = INTEGER_TYPES.indexOf('i256')

/** Message of a failed cast, with types as the reference prints them. */
function castMessage(operand: Integer, from: number, to: number): string {
  if (from === U256 && to === I256) return `Cannot cast int256::U256(${operand}) to int256::I256`
  const source = from === U256 ? 'U256' : from === I256 ? 'I256' : INTEGER_TYPES[from]!
  const target = to === U256 ? 'int256::U256' : to === I256 ? 'int256::I256' : INTEGER_TYPES[to]!
  return `Cannot cast ${source}(${operand}) to ${target}`
}
