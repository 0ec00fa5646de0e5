import { ByteReader, ByteWriter, isLedgerStateError } from '@ledger-state/core'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseStructTag, parseTypeTag } from './parse-type-tag.js'
import { PRIMITIVE_TYPES, type StructTag, type TypeTag, typeTagSize, typeTagsEqual, typeTagToText } from './type-tag.js'
import { readTypeTag, skipTypeTag, writeTypeTag } from './type-tag-bcs.js'

const name = fc.stringMatching(/^([a-zA-Z][a-zA-Z0-9_$]{0,9}|[_$][a-zA-Z0-9_$]{1,9})$/)

/** Type tags of any kind whose texts are within the nesting limit. */
const arbitraryTypeTag: fc.Arbitrary<TypeTag> = fc.letrec<{ tag: TypeTag }>((tie) => ({
  tag: fc.oneof(
    { maxDepth: 7, depthSize: 'medium' },
    fc.constantFrom(...PRIMITIVE_TYPES).map((kind) => ({ kind })),
    fc.record({ kind: fc.constant('vector' as const), element: tie('tag') }),
    fc.record({
      kind: fc.constant('struct' as const),
      address: fc.uint8Array({ minLength: 32, maxLength: 32 }),
      module: name,
      name,
      typeArguments: fc.array(tie('tag'), { maxLength: 3 }),
    }),
  ),
})).tag

describe('parseTypeTag', () => {
  it('reads back the canonical text of any tag, even with white space between all tokens', () => {
    fc.assert(
      fc.property(arbitraryTypeTag, (tag) => {
        const text = typeTagToText(tag)
        expect(parseTypeTag(text)).toEqual(tag)
        const spaced = ` ${text.replaceAll(/::|[<>,]/g, (token) => `\t${token}\r\n\f `)} `
        expect(typeTagToText(parseTypeTag(spaced))).toBe(text)
      }),
    )
  })

  it.each([
    ['0x1::M::S::<u8>', '0x1::M::S<u8>'],
    ['0x1::M::S<u8,>', '0x1::M::S<u8>'],
    ['0x1::M::S<>', '0x1::M::S'],
    ['0X00A::signer::u8', '0xa::signer::u8'],
    ['i256', 'i256'],
    [`${'vector<'.repeat(8)}u8${'>'.repeat(8)}`, `${'vector<'.repeat(8)}u8${'>'.repeat(8)}`],
    [`${'0x1::M::S<'.repeat(8)}u8${'>'.repeat(8)}`, `${'0x1::M::S<'.repeat(8)}u8${'>'.repeat(8)}`],
    ['0x0::M::S', '0x0::M::S'],
    ['0x12::M::S<0x1::M::S>', '0x12::M::S<0x1::M::S>'],
  ])('accepts %s', (text, canonical) => {
    expect(typeTagToText(parseTypeTag(text))).toBe(canonical)
  })

  it.each([
    ['', 0, 'the end of the text'],
    ['U64', 0, 'found "U"'],
    ['u8>', 2, 'expected the end'],
    ['0x1:M:S', 3, 'expected "::"'],
    ['0x1::M', 6, 'expected "::"'],
    ['0x1::M::S<,>', 10, 'expected a type'],
    ['0x1::my-mod::S', 7, 'found "-"'],
    ['0x1::_::S', 5, 'a module name'],
    ['0x1::$::S', 5, 'a module name'],
    ['0x1::M::$', 8, 'a struct name'],
    ['0x::M::S', 2, '0 hex digits'],
    [`0x${'1'.repeat(65)}::M::S`, 2, '65 hex digits'],
    ['vector<u8', 9, 'expected ">"'],
    ['&u64', 0, 'found "&"'],
    ['|u64|u64', 0, 'found "|"'],
    ['0x1::M::S::u8', 11, 'expected "<"'],
    ['vector u8', 7, 'found "u", expected "<"'],
    ['0x1::M::S<u8 u8>', 13, 'found "u", expected "," or ">"'],
    ['0x1::M::', 8, 'found the end of the text, expected a struct name'],
    ['0x1::M::1', 8, 'found "1", expected a struct name'],
    ['0x1::1M::S', 5, 'found "1", expected a module name'],
    ['0x1::::S', 5, 'found ":", expected a module name'],
    ['0x1-:M::S', 3, 'found "-", expected "::"'],
    ['0y1::M::S', 0, 'found "0", expected a type'],
    ['0x', 2, '0 hex digits'],
    [`${'0x1::M::S<'.repeat(9)}u8${'>'.repeat(9)}`, 90, 'nested more than 8'],
    [`${'vector<'.repeat(9)}u8${'>'.repeat(9)}`, 63, 'nested more than 8'],
    [' '.repeat(65_537), 0, 'at most 65536'],
  ])('refuses %j at offset %i: %s', (text, offset, why) => {
    expect(() => parseTypeTag(text)).toThrow(
      expect.objectContaining({ code: 'invalid_type_tag', fields: { offset }, message: expect.stringContaining(why) }),
    )
  })

  it('takes the characters of the grammar in names and between tokens, and no others', () => {
    const isTaken = (text: string) => {
      try {
        parseTypeTag(text)
        return true
      } catch {
        return false
      }
    }
    const other = ['\u00a0', '\u0130', 'é', 'K', '\u2028', '\ufeff', '\uff21']
    for (const text of [...Array.from({ length: 128 }, (_, charCode) => String.fromCharCode(charCode)), ...other]) {
      const character = JSON.stringify(text)
      expect([character, isTaken(`${text}u8`)]).toEqual([character, /^[ \t\n\f\r]$/.test(text)])
      expect([character, isTaken(`0x1::${text}a::S`)]).toEqual([character, /^[a-zA-Z_$ \t\n\f\r]$/.test(text)])
      expect([character, isTaken(`0x1::a${text}a::S`)]).toEqual([character, /^[a-zA-Z0-9_$]$/.test(text)])
    }
  })

  it('makes an address that a text repeats once, and others each', () => {
    const tag = parseStructTag('0x1::a::A<0x1::b::B<0x2::c::C>, 0x12::d::D, 0x12::e::E>')
    const [b, d, e] = tag.typeArguments as StructTag[]
    expect(b!.address).toBe(tag.address)
    expect(e!.address).toBe(d!.address)
    const [c] = b!.typeArguments as StructTag[]
    expect([c!, d!].map(({ address }) => address.subarray(30))).toEqual([Uint8Array.of(0, 2), Uint8Array.of(0, 0x12)])
  })

  it('throws nothing but its own error, whatever the text', () => {
    const token = fc.constantFrom('vector', '<', '>', '::', ',', ' ', '0x1', 'u8', 'name', '_', '$', '&', '\u{1f600}')
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'binary' }),
          fc.array(token, { maxLength: 40 }).map((all) => all.join('')),
        ),
        (text) => {
          try {
            parseTypeTag(text)
          } catch (error) {
            expect(isLedgerStateError(error, 'invalid_type_tag')).toBe(true)
          }
        },
      ),
    )
  })
})

describe('parseStructTag', () => {
  it('refuses a type that is not a struct', () => {
    expect(() => parseStructTag('u8')).toThrow(/expected a struct/)
  })
})

describe('typeTagsEqual', () => {
  it('ignores white space and address form', () => {
    expect(typeTagsEqual(parseTypeTag('0x01::M::S< u8 >'), parseTypeTag('0x1::M::S<u8>'))).toBe(true)
    expect(typeTagsEqual(parseTypeTag('0x1::M::S<u8>'), parseTypeTag('0x1::M::S<u16>'))).toBe(false)
  })
})

describe('typeTagSize', () => {
  it.each([
    ['u8', 1],
    ['vector<vector<u8>>', 3],
    ['0x1::M::S<u8, 0x1::M::S<u8, bool>>', 5],
  ])('gives for %s the size %i', (text, size) => {
    expect(typeTagSize(parseTypeTag(text))).toBe(size)
  })

  it('counts the parameters and results of a function type', () => {
    const slot = { passing: 'value', type: parseTypeTag('vector<u8>') } as const
    expect(typeTagSize({ kind: 'function', parameters: [slot, slot], results: [slot], abilities: 0 })).toBe(7)
  })
})

describe('type tag BCS', () => {
  it('round-trips', () => {
    fc.assert(
      fc.property(arbitraryTypeTag, (tag) => {
        const writer = new ByteWriter()
        writeTypeTag(writer, tag)
        const reader = new ByteReader(writer.toBytes())
        expect(readTypeTag(reader)).toEqual(tag)
        reader.expectEnd()
        reader.offset = 0
        skipTypeTag(reader)
        reader.expectEnd()
      }),
    )
  })

  it('round-trips function types', () => {
    const slot = fc.record({
      passing: fc.constantFrom('reference' as const, 'mutableReference' as const, 'value' as const),
      type: arbitraryTypeTag,
    })
    const list = fc.array(slot, { maxLength: 3 })
    const functionTag = fc.record({
      kind: fc.constant('function' as const),
      parameters: list,
      results: list,
      abilities: fc.nat(15),
    })
    fc.assert(
      fc.property(functionTag, (tag) => {
        const writer = new ByteWriter()
        writeTypeTag(writer, tag)
        const reader = new ByteReader(writer.toBytes())
        expect(readTypeTag(reader)).toEqual(tag)
        reader.offset = 0
        skipTypeTag(reader)
        reader.expectEnd()
      }),
    )
    const u64 = { passing: 'value', type: { kind: 'u64' } } as const
    const text = typeTagToText({
      kind: 'function',
      parameters: [{ ...u64, passing: 'reference' }, u64],
      results: [u64],
      abilities: 3,
    })
    expect(text).toBe('|&u64, u64|(u64) has copy + drop')
    expect(typeTagToText({ kind: 'function', parameters: [], results: [], abilities: 0 })).toBe('||()')
  })

  it.each([
    ['vectors', [6]],
    ['structs', [7, ...new Array(32).fill(0), 1, 97, 1, 65, 1]],
    ['functions', [11, 1, 2]],
  ])('reads and skips %s nested 64 levels deep, and no deeper', (kind, level) => {
    const nested = (levels: number) => {
      const before = new Array<number[]>(levels).fill(level).flat()
      // The parameters of a function are followed by its results and its abilities.
      const after = kind === 'functions' ? new Array(2 * levels).fill(0) : []
      return new ByteReader(Uint8Array.of(...before, 1, ...after))
    }
    for (const moveOver of [readTypeTag, skipTypeTag]) {
      const reader = nested(64)
      moveOver(reader)
      expect(() => reader.expectEnd()).not.toThrow()
      expect(() => moveOver(nested(65))).toThrow(/^types are nested more than 64 levels deep at/)
    }
  })

  it.each([
    ['reads', readTypeTag],
    ['skips', skipTypeTag],
  ] as const)('%s nothing that is cut short, unknown or too deep', (_, moveOver) => {
    const read = (bytes: number[]) => () => moveOver(new ByteReader(new Uint8Array(bytes)))
    expect(read([])).toThrow(/unexpected end/)
    expect(read([18])).toThrow(/unknown type tag/)
    expect(read([7, ...new Array(32).fill(0), 1, 97, 1, 65, 2, 1])).toThrow(/types in 1 bytes/)
    expect(read([7, ...new Array(32).fill(0), 5, 97])).toThrow(/unexpected end/)
    expect(read([11, 1, 3, 0, 0, 0])).toThrow(/neither a reference nor a value/)
    expect(read([11, 255, 255, 3])).toThrow(/types in 0 bytes/)
    expect(read(new Array(100_000).fill(6))).toThrow(/nested more than/)
  })

  it.each([
    ['read', readTypeTag],
    ['skipped', skipTypeTag],
  ] as const)('is not %s where a name is not UTF-8', (_, moveOver) => {
    const bytes = Uint8Array.of(7, ...new Array(32).fill(0), 1, 0xff)
    expect(() => moveOver(new ByteReader(bytes))).toThrow('a name is not UTF-8 at byte 33')
    const named = Uint8Array.of(7, ...new Array(32).fill(0), 2, 0xc3, 0xa9, 1, 65, 0)
    const reader = new ByteReader(named)
    moveOver(reader)
    expect(reader.remaining).toBe(0)
  })
})
