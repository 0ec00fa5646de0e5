import { ByteReader, ByteWriter, bytesToHexDigits, type Write } from '@ledger-state/core'
import { visitWriteSet } from '@ledger-state/proof/transactions'
import { parseStructTag, resourceKey } from '@ledger-state/type-tag'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { withValues, withValuesInSteps, writeWithoutValues } from './whole-transaction.js'

const TAG = parseStructTag('0x1::m::R')

interface Op {
  readonly address: Uint8Array
  readonly variant: number
  readonly value: Uint8Array
}

const ops = fc.uniqueArray(
  fc.record({
    address: fc.uint8Array({ minLength: 32, maxLength: 32 }),
    variant: fc.nat(5),
    value: fc.oneof(fc.uint8Array({ maxLength: 300 }), fc.constant(new Uint8Array(20_000).fill(7))),
  }),
  { selector: ({ address }) => bytesToHexDigits(address), maxLength: 12 },
)

/** A write set whose ops with a variant above 2 have metadata of the first kind: deposit and time. */
function writeSetOf(list: readonly Op[]): Uint8Array {
  const writer = new ByteWriter().u8(0).uleb128(list.length)
  for (const { address, variant, value } of list) {
    writer.bytes(resourceKey(address, TAG)).u8(variant)
    if (variant % 3 !== 2) writer.byteString(value)
    if (variant >= 3) writer.u8(0).u64(5n).u64(6n)
  }
  return writer.toBytes()
}

function stateOf(writeSet: Uint8Array): (key: Uint8Array) => Uint8Array | undefined {
  const state = new Map<string, Uint8Array>()
  visitWriteSet(new ByteReader(writeSet), ({ key, value }) => {
    if (value) state.set(bytesToHexDigits(key), value)
  })
  return (key) => state.get(bytesToHexDigits(key))
}

function withoutValues(writeSet: Uint8Array, writes?: readonly Write[]): Uint8Array {
  const writer = new ByteWriter()
  writeWithoutValues(writeSet, writer, writes)
  return writer.toBytes()
}

function writesOf(writeSet: Uint8Array): Write[] {
  const writes: Write[] = []
  visitWriteSet(new ByteReader(writeSet), ({ key, value }) => writes.push([key, value]))
  return writes
}

describe('a write set without its values', () => {
  it('gets them back from the state, even if its bytes differ', () => {
    fc.assert(
      fc.property(ops, fc.nat(40), (list, before) => {
        const plain = writeSetOf(list)
        const inside = new Uint8Array(before + plain.length + 3)
        inside.set(plain, before)
        const stripped = withoutValues(inside.subarray(before, before + plain.length))
        for (let times = 0; times < 2; times++) {
          const whole = withValues(stripped, stateOf(plain))
          expect(whole && bytesToHexDigits(whole)).toBe(bytesToHexDigits(plain))
        }
      }),
    )
  })

  it('is the same with the writes that were read from it, in its memory or elsewhere', () => {
    fc.assert(
      fc.property(ops, fc.nat(40), (list, before) => {
        const plain = writeSetOf(list)
        const inside = new Uint8Array(before + plain.length + 3)
        inside.set(plain, before)
        const writeSet = inside.subarray(before, before + plain.length)
        const expected = bytesToHexDigits(withoutValues(plain))
        for (const writes of [writesOf(writeSet), writesOf(plain), writesOf(writeSet).toReversed()]) {
          expect(bytesToHexDigits(withoutValues(writeSet, writes))).toBe(expected)
        }
      }),
    )
  })

  it('does not hold the values', () => {
    const value = new Uint8Array(10_000)
    const writeSet = writeSetOf([{ address: new Uint8Array(32), variant: 0, value }])
    expect(withoutValues(writeSet).length).toBe(writeSet.length - value.length - 1)
  })

  it('gets many of them back in steps', () => {
    const list = Array.from({ length: 1_000 }, (_, at): Op => {
      const address = new Uint8Array(32)
      new DataView(address.buffer).setUint32(0, at)
      return { address, variant: at % 6, value: Uint8Array.of(at % 256) }
    })
    const plain = writeSetOf(list)
    const steps = withValuesInSteps(withoutValues(plain), stateOf(plain))
    let count = 0
    let step = steps.next()
    for (; !step.done; step = steps.next()) count++
    expect(step.value).toEqual(plain)
    expect(count).toBeGreaterThan(list.length / 100)
  })

  it('is not made whole from a state that lacks a value', () => {
    const writeSet = writeSetOf([{ address: new Uint8Array(32), variant: 1, value: Uint8Array.of(1) }])
    expect(withValues(withoutValues(writeSet), () => undefined)).toBeUndefined()
  })
})
