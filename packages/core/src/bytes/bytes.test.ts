import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as chosen from '#bytes'
import { copyBytes } from './copy-bytes.js'
import * as node from './node-bytes.js'
import * as portable from './portable-bytes.js'

const anyBytes = fc.uint8Array({ maxLength: 80 })
const longBytes = fc.uint8Array({ minLength: 120, maxLength: 400, size: 'max' })
/** Bytes that often are UTF-8, and often almost are. */
const almostUtf8 = fc
  .tuple(fc.string({ unit: 'grapheme', maxLength: 40 }), fc.nat(), fc.nat(255), fc.boolean())
  .map(([text, at, byte, damaged]) => {
    const bytes = new TextEncoder().encode(text)
    if (damaged && bytes.length > 0) bytes[at % bytes.length] = byte
    return bytes
  })
/** UTF-16 units in any order, lone surrogates among them. */
const anyText = fc
  .array(fc.oneof(fc.nat(0x7f), fc.nat(0xffff), fc.integer({ min: 0xd800, max: 0xdfff })), { maxLength: 60 })
  .map((units) => String.fromCharCode(...units))

describe('bytes', () => {
  it('match the runtime', () => {
    const expected = process.env.TESTED_RUNTIME === 'portable' ? portable : node
    expect(chosen.allocateBytes).toBe(expected.allocateBytes)
    expect(Object.keys(portable).sort()).toEqual(Object.keys(node).sort())
  })

  it('are compared and found alike', () => {
    fc.assert(
      fc.property(anyBytes, anyBytes, fc.nat(), fc.nat(), (a, b, from, length) => {
        expect(Math.sign(portable.compareBytes(a, b))).toBe(node.compareBytes(a, b))
        expect(portable.compareBytes(a, Uint8Array.from(a))).toBe(0)
        const start = from % (a.length + 1)
        const end = start + (length % (a.length - start + 1))
        const part = a.subarray(start, end)
        expect(portable.indexOfBytes(a, part)).toBe(node.indexOfBytes(a, part))
        expect(portable.indexOfBytes(a, b)).toBe(node.indexOfBytes(a, b))
      }),
    )
  })

  it('are characters below U+0100, one for each byte', () => {
    fc.assert(
      fc.property(anyBytes, (bytes) => {
        const text = node.bytesToLatin1(bytes)
        expect(portable.bytesToLatin1(bytes)).toBe(text)
        expect(Array.from(text, (character) => character.codePointAt(0))).toEqual([...bytes])
      }),
    )
  })

  it('are copied into memory of their own, whatever array they lie in', () => {
    fc.assert(
      fc.property(anyBytes, fc.nat(), fc.nat(), fc.nat(9), (content, from, length, offset) => {
        const start = from % (content.length + 1)
        const end = start + (length % (content.length - start + 1))
        const pooled = Buffer.concat([Buffer.alloc(offset), content, Buffer.alloc(3)]).subarray(offset, -3)
        for (const bytes of [Uint8Array.from(content), Buffer.from(content), pooled]) {
          for (const [copy, expected] of [
            [copyBytes(bytes), content],
            [copyBytes(bytes, start), content.subarray(start)],
            [copyBytes(bytes, start, end), content.subarray(start, end)],
          ] as const) {
            expect(copy).toEqual(Uint8Array.from(expected))
            expect(copy.buffer.byteLength).toBe(copy.length)
            copy.fill(0xee)
            expect([...bytes]).toEqual([...content])
          }
        }
      }),
    )
  })

  it('are seen through one class of arrays, wherever they lie', () => {
    for (const { viewBytes, allocateBytes } of [node, portable]) {
      const buffer = Buffer.from([1, 2, 3, 4]).subarray(1, 3)
      const view = viewBytes(buffer)
      expect(view.constructor).toBe(allocateBytes(1).constructor)
      expect([...view]).toEqual([2, 3])
      view[0] = 9
      expect(buffer[0]).toBe(9)
      expect(viewBytes(view)).toBe(view)
    }
  })

  it('are text alike, and never text where they are not UTF-8', () => {
    fc.assert(
      fc.property(fc.oneof(anyBytes, almostUtf8), (bytes) => {
        expect(portable.decodeUtf8(bytes)).toBe(node.decodeUtf8(bytes))
      }),
    )
    const withMark = Uint8Array.of(0xef, 0xbb, 0xbf, 0x41)
    for (const { decodeUtf8 } of [node, portable]) expect(decodeUtf8(withMark)).toBe('\ufeffA')
  })

  it('are written from text alike', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(portable.utf8Length(text)).toBe(node.utf8Length(text))
        const written = [node, portable].map(({ allocateBytes, utf8Length, writeUtf8 }) => {
          const target = allocateBytes(utf8Length(text) + 2).fill(0xee)
          expect(writeUtf8(target, 1, text)).toBe(target.length - 2)
          return Array.from(target)
        })
        expect(written[1]).toEqual(written[0])
      }),
    )
    fc.assert(
      fc.property(anyText, anyText, fc.nat(9_000), (one, other, times) => {
        const text = `${one}${'x€'.repeat(times)}${other}`
        expect(portable.utf8Length(text)).toBe(node.utf8Length(text))
      }),
    )
    for (const { writeAscii, allocateBytes } of [node, portable]) {
      const target = allocateBytes(4).fill(0)
      expect(writeAscii(target, 1, 'ab')).toBe(2)
      expect([...target]).toEqual([0, 0x61, 0x62, 0])
    }
  })

  it('are long hex alike, whatever is written for a digit', () => {
    for (let code = 0; code < 256; code++) {
      for (const at of [0, 1, 2, 3, 400, 401, 402, 403]) {
        const text = 'f0'.repeat(200) + '0aF9'.slice(0, at % 4) + String.fromCharCode(code) + '9'.repeat(199 - (at % 4))
        const [fromNode, fromPortable] = [node, portable].map(({ allocateBytes, writeHexBytes }) => {
          const target = allocateBytes(300).fill(0)
          const count = writeHexBytes(target, 0, at < 400 ? text.slice(400) + text.slice(0, 400) : text, 0)
          return { count, read: Array.from(target.subarray(0, count)) }
        })
        expect(fromPortable).toEqual(fromNode)
      }
    }
  })

  it('are long hex alike, wherever it is damaged', () => {
    const digits = 'a7'.repeat(5_000)
    for (const at of [-1, 0, 1, 255, 256, 4_094, 4_095, 4_096, 4_097, 4_098, 8_191, 8_192, 9_998, 9_999]) {
      for (const damage of ['g', 'é', '\uffff']) {
        const text = `0x${at < 0 ? digits : digits.slice(0, at) + damage + digits.slice(at + 1)}`
        const [fromNode, fromPortable] = [node, portable].map(({ allocateBytes, writeHexBytes }) => {
          const target = allocateBytes(5_001)
          const count = writeHexBytes(target, 1, text, 2)
          return { count, read: Array.from(target.subarray(1, 1 + count)) }
        })
        expect(fromPortable).toEqual(fromNode)
      }
    }
  })

  it('are hex alike', () => {
    fc.assert(
      fc.property(fc.oneof(anyBytes, longBytes), fc.nat(), fc.constantFrom('', '0x'), (bytes, at, prefix) => {
        const digits = node.bytesToHexDigits(bytes)
        expect(portable.bytesToHexDigits(bytes)).toBe(digits)
        const end = at % (bytes.length + 1)
        const part = digits.slice(2 * (end >> 1), 2 * end)
        for (const one of [node, portable]) expect(one.partToHexDigits(bytes, end >> 1, end)).toBe(part)
        const damaged = Array.from(digits)
        if (bytes.length > 0 && at % 2 === 0) damaged[at % damaged.length] = at % 4 === 0 ? 'g' : 'é'
        const [fromNode, fromPortable] = [node, portable].map((one) => {
          const printed = one.allocateBytes(digits.length + 1).fill(0)
          expect(one.writeHexDigits(printed, 1, bytes, 0, bytes.length)).toBe(digits.length)
          const read = one.allocateBytes(bytes.length + 1).fill(0)
          const count = one.writeHexBytes(read, 1, prefix + damaged.join('').toUpperCase(), prefix.length)
          return { printed: Array.from(printed), count, read: Array.from(read.subarray(0, 1 + count)) }
        })
        expect(fromPortable).toEqual(fromNode)
      }),
    )
  })
})
