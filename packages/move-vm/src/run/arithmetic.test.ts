import { ByteReader, ByteWriter } from '@ledger-state/core'
import type { AssembledFunction, AssemblyLine } from '@ledger-state/move-module'
import { INTEGER_TYPES, type IntegerType } from '@ledger-state/type-tag'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { callView, TestState } from '../../testing/test-state.js'
import { createVm } from '../index.js'
import { bitsOf, FIRST_SIGNED, MAX_VALUE, MIN_VALUE } from '../types/integer-type.js'

/** Number of runs of each instruction on each type; 12,000 in all. */
fc.configureGlobal({ ...fc.readConfigureGlobal(), numRuns: 40 })

type Oracle = (left: bigint, right: bigint, type: number) => bigint | string

const OVERFLOW = (operation: string) => (value: bigint, type: number) =>
  value < MIN_VALUE[type]! || value > MAX_VALUE[type]! ? `${operation} overflow` : value

const BINARY: Readonly<Record<string, Oracle>> = {
  add: (left, right, type) => OVERFLOW('Addition')(left + right, type),
  sub: (left, right, type) => OVERFLOW('Subtraction')(left - right, type),
  mul: (left, right, type) => OVERFLOW('Multiplication')(left * right, type),
  div: (left, right, type) => (right === 0n ? 'Division by zero' : OVERFLOW('Division')(left / right, type)),
  mod: (left, right, type) =>
    right === 0n || (right === -1n && left === MIN_VALUE[type]) ? 'Integer remainder by zero' : left % right,
}
const BITS: Readonly<Record<string, Oracle>> = {
  bit_or: (left, right) => left | right,
  bit_and: (left, right) => left & right,
  xor: (left, right) => left ^ right,
}
const SHIFTS: Readonly<Record<string, Oracle>> = {
  shl: (left, right, type) =>
    right >= bitsOf(type) ? 'Shift Left overflow' : BigInt.asUintN(bitsOf(type), left << right),
  shr: (left, right, type) => (right >= bitsOf(type) ? 'Shift Right overflow' : left >> right),
}
const COMPARISONS: Readonly<Record<string, (left: bigint, right: bigint) => boolean>> = {
  lt: (left, right) => left < right,
  gt: (left, right) => left > right,
  le: (left, right) => left <= right,
  ge: (left, right) => left >= right,
  eq: (left, right) => left === right,
  neq: (left, right) => left !== right,
}

function binary(name: string, type: IntegerType, right: IntegerType, result: IntegerType | 'bool'): AssembledFunction {
  return {
    name: `${name}_${type}`,
    parameters: [{ kind: type }, { kind: right }],
    results: [{ kind: result }],
    code: [['move_loc', 0], ['move_loc', 1], [name] as unknown as AssemblyLine, ['ret']],
  }
}

function unary(name: string, opcode: string, type: IntegerType, result: IntegerType): AssembledFunction {
  return {
    name,
    parameters: [{ kind: type }],
    results: [{ kind: result }],
    code: [['move_loc', 0], [opcode] as unknown as AssemblyLine, ['ret']],
  }
}

const functions: AssembledFunction[] = INTEGER_TYPES.flatMap((type, number) => [
  ...Object.keys(BINARY).map((name) => binary(name, type, type, type)),
  ...Object.keys(COMPARISONS).map((name) => binary(name, type, type, 'bool')),
  ...INTEGER_TYPES.map((to) => unary(`${type}_to_${to}`, `cast_${to}`, type, to)),
  ...(number < FIRST_SIGNED
    ? [
        ...Object.keys(BITS).map((name) => binary(name, type, type, type)),
        ...Object.keys(SHIFTS).map((name) => binary(name, type, 'u8', type)),
      ]
    : [unary(`negate_${type}`, 'negate', type, type)]),
])
const state = new TestState([{ name: 'm', functions }])
const vm = createVm()

function encode(value: bigint, type: number): Uint8Array {
  return new ByteWriter().integer(value, bitsOf(type) / 8).toBytes()
}

function decode(bytes: Uint8Array, type: number): bigint {
  const reader = new ByteReader(bytes)
  let value = 0n
  for (let at = 0; reader.remaining > 0; at++) value |= BigInt(reader.readU8()) << BigInt(8 * at)
  return type < FIRST_SIGNED ? value : BigInt.asIntN(bitsOf(type), value)
}

/** The value, or the text of the fault. */
function run(name: string, args: readonly Uint8Array[], type: number): bigint | string {
  const { results, fault } = callView(vm, state, `m::${name}`, args)
  if (fault) {
    expect(fault.code).toBe(4017)
    return fault.message
  }
  return decode(results![0]!, type)
}

/**
 * Values of a type. Many are near its bounds, near the bounds of narrower types, and near 2^53, the limit of numbers.
 */
function anyValueOf(type: number): fc.Arbitrary<bigint> {
  const min = MIN_VALUE[type]!
  const max = MAX_VALUE[type]!
  const anchors = [0n, min, max, 1n << 53n, -(1n << 53n), 1n << 32n, ...MAX_VALUE, ...MIN_VALUE]
  const near = fc
    .record({ anchor: fc.constantFrom(...anchors), offset: fc.bigInt({ min: -3n, max: 3n }) })
    .map(({ anchor, offset }) => anchor + offset)
    .filter((value) => value >= min && value <= max)
  return fc.oneof(near, fc.bigInt({ min, max }), fc.bigInt({ min: min / 3n, max: 100n < max ? 100n : max }))
}

describe.each(INTEGER_TYPES.map((name, type) => ({ name, type })))('the machine, on $name,', ({ name, type }) => {
  const value = anyValueOf(type)

  it.each(Object.entries({ ...BINARY, ...(type < FIRST_SIGNED ? BITS : {}) }))(
    'computes %s as BigInt does',
    (operation, oracle) => {
      fc.assert(
        fc.property(value, value, (left, right) => {
          const args = [encode(left, type), encode(right, type)]
          expect(run(`${operation}_${name}`, args, type)).toBe(oracle(left, right, type))
        }),
      )
    },
  )

  it.each(Object.entries(COMPARISONS))('compares by %s as BigInt does', (operation, oracle) => {
    fc.assert(
      fc.property(value, fc.option(value), (left, other) => {
        const right = other ?? left
        const args = [encode(left, type), encode(right, type)]
        expect(run(`${operation}_${name}`, args, 0)).toBe(oracle(left, right) ? 1n : 0n)
      }),
    )
  })

  it('shifts unsigned integers and negates signed ones', () => {
    if (type >= FIRST_SIGNED) {
      fc.assert(
        fc.property(value, (operand) => {
          const expected = operand === MIN_VALUE[type] ? 'Integer negation overflow' : -operand
          expect(run(`negate_${name}`, [encode(operand, type)], type)).toBe(expected)
        }),
      )
      return
    }
    fc.assert(
      fc.property(value, fc.bigInt({ min: 0n, max: 255n }), fc.constantFrom('shl', 'shr'), (operand, amount, shift) => {
        const args = [encode(operand, type), encode(amount, 0)]
        expect(run(`${shift}_${name}`, args, type)).toBe(SHIFTS[shift]!(operand, amount, type))
      }),
    )
  })

  it.each(INTEGER_TYPES)('casts to %s where that type has the value', (target) => {
    const to = INTEGER_TYPES.indexOf(target)
    fc.assert(
      fc.property(value, (operand) => {
        const fits = operand >= MIN_VALUE[to]! && operand <= MAX_VALUE[to]!
        const answer = run(`${name}_to_${target}`, [encode(operand, type)], to)
        if (fits) expect(answer).toBe(operand)
        else expect(answer).toBe(castMessage(operand, name, target))
      }),
    )
  })
})

function castMessage(value: bigint, from: IntegerType, to: IntegerType): string {
  if (from === 'u256' && to === 'i256') return `Cannot cast int256::U256(${value}) to int256::I256`
  const long = (type: IntegerType) => type.endsWith('256')
  const source = long(from) ? from.toUpperCase() : from
  return `Cannot cast ${source}(${value}) to ${long(to) ? `int256::${to.toUpperCase()}` : to}`
}
