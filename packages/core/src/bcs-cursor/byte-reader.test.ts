import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bytesToHexDigits } from '#bytes'
import { parseAddress } from '../address.js'
import { ByteReader } from './byte-reader.js'
import { ByteWriter } from './byte-writer.js'

describe('ByteReader', () => {
  it('reads the output of ByteWriter to the last byte', () => {
    const u32 = fc.integer({ min: 0, max: 0xffff_ffff })
    fc.assert(
      fc.property(
        fc.nat(255),
        fc.boolean(),
        fc.nat(65_535),
        u32,
        fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
        u32,
        fc.uint8Array({ maxLength: 600 }),
        (u8, bool, u16, word, u64, uleb, bytes) => {
          const writer = new ByteWriter().u8(u8).bool(bool).u16(u16).u32(word).u64(u64).uleb128(uleb).byteString(bytes)
          const reader = new ByteReader(writer.toBytes())
          expect(reader.readU8()).toBe(u8)
          expect(reader.readBool()).toBe(bool)
          expect(reader.readU16()).toBe(u16)
          expect(reader.readU32()).toBe(word)
          expect(reader.readU64()).toBe(u64)
          expect(reader.readUleb128()).toBe(uleb)
          expect(new Uint8Array(reader.readByteString())).toEqual(bytes)
          reader.expectEnd()
        },
      ),
    )
  })

  it('writes any part of some bytes', () => {
    const cases = fc.tuple(fc.uint8Array({ maxLength: 300 }), fc.nat(300), fc.nat(300))
    fc.assert(
      fc.property(cases, ([bytes, a, b]) => {
        const [start, end] = [Math.min(a, b, bytes.length), Math.min(Math.max(a, b), bytes.length)]
        const written = new ByteWriter().u8(7).part(bytes, start, end).u8(8).toBytes()
        expect([...written]).toEqual([7, ...bytes.subarray(start, end), 8])
      }),
    )
  })

  it("writes integers of every width in two's complement", () => {
    for (const width of [1, 2, 4, 8, 16, 32]) {
      const most = 2n ** BigInt(width * 8) - 1n
      expect(new ByteWriter().integer(most, width).toBytes()).toEqual(new Uint8Array(width).fill(255))
      expect(new ByteWriter().integer(-1n, width).toBytes()).toEqual(new Uint8Array(width).fill(255))
    }
    expect([...new ByteWriter().integer(0x0102n << 64n, 16).toBytes()]).toEqual([
      0, 0, 0, 0, 0, 0, 0, 0, 2, 1, 0, 0, 0, 0, 0, 0,
    ])
  })

  it('writes unsigned numbers as their integers', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), fc.constantFrom(1, 2, 4, 8, 16, 32), (number, width) => {
        const value = width < 8 ? number % 2 ** (8 * width) : number
        const expected = new ByteWriter().u8(1).integer(BigInt(value), width).toBytes()
        expect(new ByteWriter().u8(1).unsigned(value, width).toBytes()).toEqual(expected)
      }),
    )
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), fc.constantFrom(8, 16, 32), (value, width) => {
        const halves = [Number(value & 0xffff_ffffn), Number(value >> 32n)] as const
        const writer = new ByteWriter().bytes(new Uint8Array(40).fill(0xee))
        writer.reset()
        expect(writer.unsignedHalves(...halves, width).toBytes()).toEqual(
          new ByteWriter().integer(value, width).toBytes(),
        )
      }),
    )
  })

  it('writes addresses as parseAddress reads them, and nothing of other texts, and reads them', () => {
    const digits = fc.stringMatching(/^[0-9a-fA-F]{1,64}$/)
    fc.assert(
      fc.property(digits, fc.constantFrom('', '0x'), fc.nat(), (text, prefix, at) => {
        const writer = new ByteWriter().bytes(new Uint8Array(40).fill(0xee))
        writer.reset()
        const address = writer.address(prefix + text).toBytes()
        expect(address).toEqual(parseAddress(prefix + text))
        expect(new ByteReader(address).readAddress()).toBe(bytesToHexDigits(address))
        expect(() => new ByteReader(address, 1).readAddress()).toThrow(expect.objectContaining({ code: 'invalid_bcs' }))
        const place = at % text.length
        const damaged = `${prefix}${text.slice(0, place)}g${text.slice(place + 1)}`
        for (const wrong of [damaged, prefix, `0x${'1'.repeat(65)}`]) {
          expect(() => writer.address(wrong)).toThrow(expect.objectContaining({ code: 'invalid_address' }))
          expect(writer.length).toBe(32)
        }
      }),
    )
  })

  it('reads byte strings that were written from hex', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), fc.boolean(), (bytes, upper) => {
        const digits = bytesToHexDigits(bytes)
        const text = upper ? `0x${digits.toUpperCase()}` : digits
        expect(new ByteWriter().hexString(text).toBytes()).toEqual(new ByteWriter().byteString(bytes).toBytes())
        for (const wrong of [`${text}0`, `${text}0g`, `${text}g0`, `0x00zz${digits}`]) {
          const writer = new ByteWriter().u8(7)
          expect(() => writer.hexString(wrong)).toThrow(expect.objectContaining({ code: 'invalid_hex' }))
          expect(writer.length).toBe(1)
        }
      }),
    )
  })

  it('inserts a count before bytes that were written earlier, and writes parts of texts', () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.uint8Array({ maxLength: 300 }), fc.nat(70_000), (before, after, count) => {
        const inserted = new ByteWriter().bytes(before).bytes(after).insertUleb128(before.length, count)
        expect(inserted.toBytes()).toEqual(new ByteWriter().bytes(before).uleb128(count).bytes(after).toBytes())
      }),
    )
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 127 }), fc.string(), fc.string(), (text, left, right) => {
        const writer = new ByteWriter().u8(1)
        const whole = `${left}${text}${right}`
        const isWritten = writer.shortAscii(whole, left.length, left.length + text.length)
        // biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII has them
        expect(isWritten).toBe(/^[\x00-\x7f]*$/.test(text))
        expect(writer.toBytes()).toEqual(
          (isWritten ? new ByteWriter().u8(1).string(text) : new ByteWriter().u8(1)).toBytes(),
        )
      }),
    )
    const digits = new ByteWriter().addressDigits('"0x1f"', 3, 5)
    expect(digits.toBytes()).toEqual(new ByteWriter().address('0x1f').toBytes())
    expect(() => digits.addressDigits('"0x1f"', 2, 5)).toThrow(expect.objectContaining({ code: 'invalid_address' }))
    expect(digits.length).toBe(32)
  })

  it('never reads outside its part of a shared buffer', () => {
    const shared = new Uint8Array([9, 9, 5, 1, 2, 9, 9])
    const reader = new ByteReader(shared.subarray(2, 5))
    expect(() => reader.readByteString()).toThrow(/unexpected end of input at byte 3/)
    const inner = new ByteReader(shared, 2, 4)
    inner.readU8()
    inner.readU8()
    expect(() => inner.readU8()).toThrow(/unexpected end/)
  })

  it.each([
    [[0x80, 0x00], /not minimal/],
    [[0xff, 0xff, 0xff, 0xff, 0x7f], /did not fit/],
    [[0xff, 0xff, 0xff, 0xff, 0x1f], /did not fit/],
    [[0xff, 0xff, 0xff, 0xff, 0xff, 0x01], /did not fit/],
    [[0xff, 0xff, 0xff, 0xff, 0x0f], /exceeded max sequence length: 4294967295/],
    [[0x80], /unexpected end/],
  ])('refuses the length %j', (bytes, why) => {
    expect(() => new ByteReader(new Uint8Array(bytes)).readLength()).toThrow(why)
  })

  it('refuses a boolean above 1 and bytes left over', () => {
    expect(() => new ByteReader(new Uint8Array([2])).readBool()).toThrow(/expected boolean/)
    expect(() => new ByteReader(new Uint8Array([2])).readOption((reader) => reader.readU8())).toThrow(
      /expected boolean/,
    )
    expect(() => new ByteReader(new Uint8Array([2])).expectEnd()).toThrow(/remaining input/)
  })
})
