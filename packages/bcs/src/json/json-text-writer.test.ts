import { bytesToHex } from '@ledger-state/core'
import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { JsonTextWriter } from './json-text-writer.js'

const EMPTY_BUFFER = 4_096
const KEPT_BUFFER = 1 << 20

let out: JsonTextWriter
beforeEach(() => {
  out = new JsonTextWriter()
})

function printed(write: (out: JsonTextWriter) => void): string {
  write(out)
  return out.takeText()
}

/** Whole numbers next to powers of ten and of two. */
function edges(most: bigint): bigint[] {
  const powers: bigint[] = []
  for (let power = 1n; power <= most; power *= 10n) powers.push(power)
  for (let power = 1n; power <= most; power *= 2n) powers.push(power)
  const near = powers.flatMap((power) => [power - 1n, power, power + 1n])
  return [...near, most].filter((value) => value <= most)
}

describe('JsonTextWriter', () => {
  it('writes every number at the edges of its digits', () => {
    for (const value of edges(2n ** 53n - 1n)) {
      expect(printed((out) => out.decimal(Number(value)))).toBe(String(value))
    }
    for (const value of edges(2n ** 64n - 1n)) {
      const low = Number(BigInt.asUintN(32, value))
      expect(printed((out) => out.quotedU64(low, Number(value >> 32n)))).toBe(`"${value}"`)
    }
    for (const value of edges(2n ** 31n - 1n).map(Number)) {
      expect(printed((out) => out.signedDecimal(-value))).toBe(value === 0 ? '0' : `-${value}`)
      expect(printed((out) => out.signedDecimal(value))).toBe(String(value))
    }
  })

  it('writes any number of bytes as hex, wherever they are', () => {
    for (let count = 0; count < 100; count++) {
      const bytes = Uint8Array.from({ length: count }, (_, at) => at * 37)
      const source = Uint8Array.of(1, 2, ...bytes, 3)
      expect(printed((out) => out.hex(source, 2, 2 + count))).toBe(bytesToHex(bytes))
    }
  })

  it('writes addresses without their leading zeros, whatever follows them', () => {
    for (const after of [0, 1]) {
      for (let zeros = 0; zeros <= 32; zeros++) {
        for (const first of [0x01, 0x0f, 0x10, 0x11, 0xff]) {
          const address = new Uint8Array(32).fill(0xa0, zeros)
          if (zeros < 32) address[zeros] = first
          const digits = bytesToHex(address)
            .slice(2)
            .replace(/^0+(?=.)/, '')
          const source = Uint8Array.of(9, ...address, after, after)
          expect(printed((out) => out.quotedAddress(source, 1))).toBe(`"0x${digits}"`)
        }
      }
    }
  })

  it('writes texts of any length, with characters that need an escape at any place', () => {
    const unit = fc.constantFrom('x', ' ', '~', '"', '\\', '\n', '\u007f', 'é', '\u{1f600}')
    fc.assert(
      fc.property(fc.nat(300), fc.option(unit, { nil: '' }), fc.nat(300), (length, other, at) => {
        const plain = 'x'.repeat(length)
        const text = plain.slice(0, at) + other + plain.slice(at)
        const bytes = new TextEncoder().encode(text)
        // Plain text comes before and after the escape.
        const source = Uint8Array.of(0x78, ...bytes, 0x78)
        expect(printed((out) => out.quotedText(source, 1, 1 + bytes.length))).toBe(JSON.stringify(text))
      }),
    )
  })

  const address = new Uint8Array(32).fill(0xab)
  it.each<[string, (out: JsonTextWriter) => void, string]>([
    ['a byte', (out) => out.byte(0x2c), ','],
    ['text', (out) => out.raw(new TextEncoder().encode('{"name":')), '{"name":'],
    ['a number', (out) => out.decimal(2 ** 53 - 1), '9007199254740991'],
    ['a number below zero', (out) => out.signedDecimal(-7), '-7'],
    ['a u64', (out) => out.quotedU64(0xffff_ffff, 0xffff_ffff), '"18446744073709551615"'],
    ['ASCII', (out) => out.ascii('"0x1::m::f"'), '"0x1::m::f"'],
    ['JSON', (out) => out.json(['é', 'u8']), '["é","u8"]'],
    ['short hex', (out) => out.hex(address, 0, 20), `0x${'ab'.repeat(20)}`],
    ['long hex', (out) => out.hex(new Uint8Array(60).fill(0xab), 0, 60), `0x${'ab'.repeat(60)}`],
    ['an address', (out) => out.quotedAddress(address, 0), `"0x${'ab'.repeat(32)}"`],
    ['a quoted text', (out) => out.quotedText(new Uint8Array(60).fill(0x78), 0, 60), `"${'x'.repeat(60)}"`],
    ['a copy', (out) => out.copyWithin(0, 60), ' '.repeat(60)],
  ])('makes room for %s at the end of its buffer', (_, write, text) => {
    const full = new Uint8Array(EMPTY_BUFFER).fill(0x20)
    for (let room = 0; room <= text.length + 30; room++) {
      const writer = new JsonTextWriter()
      const before = full.subarray(room)
      writer.raw(before)
      write(writer)
      expect(writer.takeText()).toBe(' '.repeat(before.length) + text)
    }
  })

  it('asks for as much room as it writes, wherever the source is', () => {
    const source = new Uint8Array(50_000).fill(0x78)
    for (const write of [
      (out: JsonTextWriter) => out.hex(source, 49_998, 50_000),
      (out: JsonTextWriter) => out.quotedText(source, 49_998, 50_000),
    ]) {
      out.reset()
      out.limit(10_000)
      expect(() => write(out)).not.toThrow()
    }
    out.reset()
    out.limit(10_000)
    out.raw(source.subarray(0, 9_990))
    out.copyWithin(9_980, 9_990)
    expect(() => out.expectFits()).not.toThrow()
    expect(out.takeText()).toHaveLength(10_000)
  })

  it('grows to twice its length, and hardly beyond the limit of its text', () => {
    out.raw(new Uint8Array(EMPTY_BUFFER))
    out.byte(0)
    expect(out.bytes).toHaveLength(2 * EMPTY_BUFFER)
    out.reset()
    out.limit(10_000)
    out.raw(new Uint8Array(9_000))
    expect(out.bytes.length).toBeLessThan(10_100)
    const tooLong = new Uint8Array(2_000)
    expect(() => out.raw(tooLong)).toThrow(
      expect.objectContaining({ code: 'type_too_large', message: 'the value prints to more than 10000 bytes' }),
    )
  })

  it.each([
    ['text', (out: JsonTextWriter) => out.takeText()],
    ['bytes', (out: JsonTextWriter) => out.takeBytes()],
  ])('keeps a buffer of 1 MiB when its %s is taken, and releases a larger one', (_, take) => {
    const kept = new Uint8Array(KEPT_BUFFER / 2)
    out.raw(kept)
    out.raw(kept)
    const { bytes } = out
    expect(bytes).toHaveLength(KEPT_BUFFER)
    expect(take(out)).toHaveLength(KEPT_BUFFER)
    expect(out.bytes).toBe(bytes)
    out.raw(kept)
    out.raw(kept)
    out.byte(0)
    take(out)
    expect(out.bytes).toHaveLength(EMPTY_BUFFER)
    expect(out).toHaveLength(0)
  })
})
