import { ByteWriter, bytesToHex, hexToBytes, isLedgerStateError, parseAddress } from '@ledger-state/core'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { INTEGER_WIDTH, type Layout } from '../layout/layout.js'
import { layoutSize } from '../layout/layout-size.js'
import { layoutToBcsType } from '../mysten/bcs-type.js'
import { codecOf } from './codec.js'
import { parseJson } from './parse-json.js'

/** A value in plain JavaScript with its layout, which the oracles print and write without our codec. */
interface Sample {
  readonly layout: Layout
  /** JSON of the value, as clients write it in a key. */
  readonly input: string
  /** JSON of the value, as the reference prints it. */
  readonly printed: string
  /** The value in the form that @mysten/bcs reads. */
  readonly mysten: unknown
}

const fieldNames = fc.uniqueArray(fc.stringMatching(/^[a-zA-Z_][a-zA-Z0-9_]{0,8}$/), { minLength: 1, maxLength: 5 })

const integers = Object.keys(INTEGER_WIDTH).filter((kind) => kind.startsWith('u'))

function integerSample(kind: string): fc.Arbitrary<Sample> {
  const { bytes } = INTEGER_WIDTH[kind]!
  return fc.bigInt({ min: 0n, max: 2n ** BigInt(bytes * 8) - 1n }).map((value) => {
    const text = bytes >= 8 ? `"${value}"` : String(value)
    return { layout: { kind } as Layout, input: text, printed: text, mysten: bytes >= 8 ? value : Number(value) }
  })
}

const leaf: fc.Arbitrary<Sample> = fc.oneof(
  fc
    .boolean()
    .map((value): Sample => ({ layout: { kind: 'bool' }, input: `${value}`, printed: `${value}`, mysten: value })),
  ...integers.map(integerSample),
  fc.uint8Array({ minLength: 32, maxLength: 32 }).map((address): Sample => {
    const text = `0x${bytesToHex(address)
      .slice(2)
      .replace(/^0+(?=.)/, '')}`
    return { layout: { kind: 'address' }, input: `"${text}"`, printed: `"${text}"`, mysten: bytesToHex(address) }
  }),
  fc.string({ unit: 'grapheme' }).map((text): Sample => {
    const json = JSON.stringify(text)
    return { layout: { kind: 'string' }, input: json, printed: json, mysten: text }
  }),
  fc.uint8Array({ maxLength: 20 }).map((bytes): Sample => {
    const layout: Layout = { kind: 'vector', element: { kind: 'u8' } }
    return { layout, input: `"${bytesToHex(bytes)}"`, printed: `"${bytesToHex(bytes)}"`, mysten: [...bytes] }
  }),
  fc.boolean().map((absent): Sample => {
    const layout: Layout = { kind: 'option', declaredAs: 'struct', element: { kind: 'u8' } }
    const text = absent ? '{"vec":"0x"}' : '{"vec":"0x07"}'
    return { layout, input: text, printed: text, mysten: absent ? null : 7 }
  }),
)

function objectText(members: [string, string][]): string {
  return `{${members.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`
}

function sorted(members: [string, string][]): [string, string][] {
  return [...members].sort(([a], [b]) => (a < b ? -1 : 1))
}

const sample: fc.Arbitrary<Sample> = fc.letrec<{ sample: Sample; fields: [string, Sample][] }>((tie) => ({
  fields: fieldNames.chain((names) =>
    fc.tuple(...names.map((name) => tie('sample').map((value): [string, Sample] => [name, value]))),
  ),
  sample: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    leaf,
    // All elements have the same layout: the same sample is repeated.
    fc.tuple(tie('sample'), fc.nat(3)).map(([element, count]): Sample => {
      const bytes = element.layout.kind === 'u8'
      const items = new Array<Sample>(count).fill(element)
      const list = (text: (item: Sample) => string) => `[${items.map(text).join(',')}]`
      const hex = JSON.stringify(bytesToHex(new Uint8Array(items.map((item) => Number(item.mysten)))))
      return {
        layout: { kind: 'vector', element: element.layout },
        input: bytes ? hex : list((item) => item.input),
        printed: bytes ? hex : list((item) => item.printed),
        mysten: items.map((item) => item.mysten),
      }
    }),
    // The element is never an Option: @mysten/bcs writes the absence of both as null.
    fc
      .tuple(
        tie('sample').filter((element) => element.layout.kind !== 'option'),
        fc.boolean(),
      )
      .map(
        ([element, absent]): Sample => ({
          layout: { kind: 'option', declaredAs: 'enum', element: element.layout },
          input: `{"vec":[${absent ? '' : element.input}]}`,
          printed: `{"vec":[${absent ? '' : element.printed}]}`,
          mysten: absent ? null : element.mysten,
        }),
      ),
    tie('fields').map(
      (fields): Sample => ({
        layout: { kind: 'struct', name: 'S', fields: fields.map(([name, { layout }]) => ({ name, layout })) },
        input: objectText([
          ...fields.map(([name, { input }]): [string, string] => [name, input]),
          ['unknown member', '1'],
        ]),
        printed: objectText(sorted(fields.map(([name, { printed }]) => [name, printed]))),
        mysten: Object.fromEntries(fields.map(([name, { mysten }]) => [name, mysten])),
      }),
    ),
    fc.tuple(tie('fields'), fc.nat(2), fc.boolean()).map(([fields, before, printedForm]): Sample => {
      const empty = [
        { name: 'A', fields: [] },
        { name: 'B', fields: [] },
      ].slice(0, before)
      const variant = { name: 'V', fields: fields.map(([name, { layout }]) => ({ name, layout })) }
      const inputs = fields.map(([name, { input }]): [string, string] => [name, input])
      return {
        layout: { kind: 'enum', name: 'E', variants: [...empty, variant] },
        input: printedForm ? objectText([['__variant__', '"V"'], ...inputs]) : objectText([['V', objectText(inputs)]]),
        printed: objectText(
          sorted([['__variant__', '"V"'], ...fields.map(([name, { printed }]): [string, string] => [name, printed])]),
        ),
        mysten: { V: Object.fromEntries(fields.map(([name, { mysten }]) => [name, mysten])) },
      }
    }),
  ),
})).sample

/**
 * Encodes a text in one step and by way of a value, and expects the same bytes or the same error. Returns a function
 * that does it again.
 */
function expectAgreement(layout: Layout, text: string): () => Uint8Array {
  const codec = codecOf(layout)
  const outcomeOf = (work: () => Uint8Array) => {
    try {
      return bytesToHex(work())
    } catch (error) {
      if (!isLedgerStateError(error)) throw error
      return `${error.code} ${error.message} ${JSON.stringify(error.fields)}`
    }
  }
  const whole = () => codec.jsonTextToBytes(text)
  const expected = outcomeOf(() => codec.jsonToBytes(parseJson(text)))
  // The second call finds the layout compiled.
  for (let time = 0; time < 2; time++) expect(outcomeOf(whole)).toBe(expected)
  return whole
}

/** Texts near a text: with a character changed, removed or doubled, or cut short. */
const edits = fc.array(
  fc.tuple(
    fc.constantFrom('change', 'remove', 'double', 'cut'),
    fc.nat(),
    fc.constantFrom(...'"\\,:[]{}0x19ae.- \n\u0000é'),
  ),
  { maxLength: 2 },
)

function editText(text: string, changes: readonly (readonly [string, number, string])[]): string {
  return changes.reduce((before, [kind, place, character]) => {
    const at = place % (before.length + 1)
    if (kind === 'cut') return before.slice(0, at)
    const inserted = kind === 'change' ? character : kind === 'double' ? before.slice(at, at + 1).repeat(2) : ''
    return before.slice(0, at) + inserted + before.slice(at + 1)
  }, text)
}

describe('any layout and value', () => {
  it('writes the same bytes from a text in one step as by way of a value, and has the same errors', () => {
    fc.assert(
      fc.property(sample, edits, ({ layout, input, printed }, changes) => {
        for (const text of [input, printed, JSON.stringify(JSON.parse(printed), undefined, 1)]) {
          expectAgreement(layout, text)
          expectAgreement(layout, editText(text, changes))
        }
      }),
      { numRuns: 1000 },
    )
  })

  it('reads the usual text in one step, and leaves no other text to a wrong end', () => {
    const u8: Layout = { kind: 'u8' }
    const twice: Layout = {
      kind: 'struct',
      name: 'S',
      fields: [
        { name: 'a', layout: u8 },
        { name: 'a', layout: u8 },
      ],
    }
    expectAgreement(twice, '{"a":1,"a":2}')
    const long: Layout = { kind: 'vector', element: { kind: 'vector', element: { kind: 'u64' } } }
    for (const count of [0, 1, 127, 128, 129, 16_384]) {
      const item = `[${new Array(count).fill('"7"').join()}]`
      expectAgreement(long, `[${item},[],${item}]`)
    }
    for (const text of ['é', 'x'.repeat(127), 'x'.repeat(128), `${'x'.repeat(100)}é`, '\u007f']) {
      expectAgreement({ kind: 'string' }, JSON.stringify(text))
    }
    let deep: Layout = { kind: 'bool' }
    for (let depth = 0; depth < 70; depth++) deep = { kind: 'option', declaredAs: 'enum', element: deep }
    for (const depth of [63, 64, 70]) expectAgreement(deep, `${'{"vec":['.repeat(depth)}${']}'.repeat(depth)}`)
  })

  it('writes the bytes that @mysten/bcs writes, and prints them as the plain printer does', () => {
    fc.assert(
      fc.property(sample, ({ layout, input, printed, mysten }) => {
        const bytes = codecOf(layout).jsonToBytes(parseJson(input))
        expect(bytesToHex(bytes)).toBe(bytesToHex(layoutToBcsType(layout).serialize(mysten).toBytes()))
        expect(codecOf(layout).bytesToJson(bytes)).toBe(printed)
      }),
      { numRuns: 1000 },
    )
  })

  it('answers random and damaged bytes with a text or its own error', () => {
    fc.assert(
      fc.property(sample, fc.uint8Array({ maxLength: 80 }), fc.nat(), ({ layout, input }, noise, at) => {
        const bytes = codecOf(layout).jsonToBytes(parseJson(input))
        const damaged = Uint8Array.from(bytes)
        if (damaged.length > 0) damaged[at % damaged.length]! ^= 1 + (at % 255)
        for (const candidate of [noise, damaged, bytes.subarray(0, at % (bytes.length + 1))]) {
          try {
            JSON.parse(codecOf(layout).bytesToJson(candidate))
          } catch (error) {
            expect(isLedgerStateError(error, 'invalid_bcs')).toBe(true)
          }
        }
      }),
      { numRuns: 1000 },
    )
  })
})

const decode = (layout: Layout, hex: string) => codecOf(layout).bytesToJson(hexToBytes(hex))
const encode = (layout: Layout, json: string) => bytesToHex(expectAgreement(layout, json)())

describe('createJsonDecoder', () => {
  it.each([
    ['i8', '0xff', '-1'],
    ['i16', '0x0080', '-32768'],
    ['i32', '0xffffff7f', '2147483647'],
    ['i64', '0xffffffffffffffff', '"-1"'],
    ['i128', `0x${'00'.repeat(15)}80`, `"${-(2n ** 127n)}"`],
    ['i256', `0x${'ff'.repeat(31)}7f`, `"${2n ** 255n - 1n}"`],
    ['u64', '0xffffffffffff1f00', '"9007199254740991"'],
    ['u64', '0x0000000000002000', '"9007199254740992"'],
  ] as const)('prints %s %s as %s', (kind, hex, text) => {
    expect(decode({ kind }, hex)).toBe(text)
  })

  it('prints a string that is not UTF-8 with its bytes', () => {
    expect(decode({ kind: 'string' }, '0x02c328')).toBe('"Unparsable utf-8 0xc328"')
  })

  it('names the path and the offset of a fault', () => {
    const entry: Layout = { kind: 'struct', name: 'Entry', fields: [{ name: 'flag', layout: { kind: 'bool' } }] }
    const layout: Layout = {
      kind: 'struct',
      name: 'S',
      fields: [{ name: 'entries', layout: { kind: 'vector', element: entry } }],
    }
    expect(() => decode(layout, '0x03010002')).toThrow(
      expect.objectContaining({
        message: 'entries[2].flag: expected boolean, found byte 2 at byte 3',
        fields: { path: 'entries[2].flag', offset: 3 },
      }),
    )
  })

  it('refuses lengths that the bytes cannot hold, and too many elements of no size', () => {
    const empty: Layout = { kind: 'struct', name: 'Empty', fields: [] }
    expect(() => decode({ kind: 'vector', element: { kind: 'u64' } }, '0xffffff7f00')).toThrow(
      /unexpected end of input/,
    )
    expect(() => decode({ kind: 'vector', element: empty }, '0xffffff7f')).toThrow(/unexpected end of input/)
    expect(decode({ kind: 'vector', element: empty }, '0x02')).toBe('[{},{}]')
  })

  it('refuses a layout nested too deep', () => {
    let layout: Layout = { kind: 'bool' }
    for (let depth = 0; depth < 130; depth++) layout = { kind: 'vector', element: layout }
    expect(() => codecOf(layout).bytesToJson(new Uint8Array(0))).toThrow(
      expect.objectContaining({ code: 'type_too_large' }),
    )
    expect(() => codecOf(layout).jsonToBytes(null)).toThrow(expect.objectContaining({ code: 'type_too_large' }))
  })
})

describe('the limit of printed text', () => {
  const codec = codecOf({ kind: 'vector', element: { kind: 'u64' } })
  const bytes = (count: number) => codec.jsonToBytes(parseJson(`[${new Array(count).fill('"0"').join()}]`))

  it('holds to the byte, whatever was printed before', () => {
    // `["0","0"]`
    for (const count of [2, 20_000, 2]) {
      const length = 4 * count + 1
      expect(codec.bytesToJson(bytes(count), length)).toHaveLength(length)
      for (const print of [codec.bytesToJson, codec.bytesToJsonUtf8]) {
        expect(() => print(bytes(count), length - 1)).toThrow(expect.objectContaining({ code: 'type_too_large' }))
      }
    }
  })

  it('is 32 MB by default', () => {
    const long: Layout = { kind: 'struct', name: 'S', fields: [{ name: 'n'.repeat(1_000), layout: { kind: 'u8' } }] }
    const list = new ByteWriter().byteString(new Uint8Array(40_000)).toBytes()
    expect(() => codecOf({ kind: 'vector', element: long }).bytesToJson(list)).toThrow(/more than 32000000 bytes/)
  })
})

describe('createJsonEncoder', () => {
  it.each([
    ['u64', '18446744073709551615', '0xffffffffffffffff'],
    ['u64', '"+007"', '0x0700000000000000'],
    ['u128', '340282366920938463463374607431768211455', `0x${'ff'.repeat(16)}`],
    ['i64', '"-1"', '0xffffffffffffffff'],
    ['i8', '-128', '0x80'],
  ] as const)('writes %s %s', (kind, json, hex) => {
    expect(encode({ kind }, json)).toBe(hex)
  })

  it('writes every u64 and refuses larger numbers in any notation', () => {
    const near = (edge: bigint) => fc.bigInt({ min: edge - 5n, max: edge + 5n })
    const value = fc.oneof(
      near(10n ** 15n),
      near(10n ** 16n),
      near(2n ** 53n),
      near(2n ** 63n),
      near(2n ** 64n),
      near(10n ** 20n),
      fc.bigInt({ min: 0n, max: 10n ** 20n }),
    )
    fc.assert(
      fc.property(value, fc.boolean(), (integer, quoted) => {
        const write = () => encode({ kind: 'u64' }, quoted ? `"${integer}"` : String(integer))
        if (integer < 2n ** 64n) expect(write()).toBe(bytesToHex(new ByteWriter().u64(integer).toBytes()))
        else expect(write).toThrow(expect.objectContaining({ code: 'invalid_value' }))
      }),
      { numRuns: 1_000 },
    )
  })

  it('finds fields in any order', () => {
    const names = ['a', 'b', 'c', 'd', 'e']
    const layout: Layout = {
      kind: 'struct',
      name: 'S',
      fields: names.map((name) => ({ name, layout: { kind: 'u8' } })),
    }
    const members = names.map((name, at) => ({ name, at }))
    fc.assert(
      fc.property(fc.shuffledSubarray(members), (present) => {
        const json = `{${present.map(({ name, at }) => `"${name}":${at}`).join(',')},"unknown":true}`.replace('{,', '{')
        if (present.length === 5) expect(encode(layout, json)).toBe('0x0001020304')
        else expect(() => encode(layout, json)).toThrow(/field/)
      }),
    )
  })

  it.each([
    ['u8', '256'],
    ['u8', '-1'],
    ['u8', '1.0'],
    ['u8', '1e0'],
    ['u8', '"1"'],
    ['u8', 'null'],
    ['i8', '128'],
    ['u64', '"18446744073709551616"'],
    ['u64', '""'],
    ['u64', '" 1"'],
    ['u64', '"0x1"'],
    ['u64', '1.5'],
    ['u64', '-1'],
    ['u256', `"${'9'.repeat(100)}"`],
    ['bool', '"true"'],
    ['bool', '1'],
    ['address', '"zz"'],
    ['address', 'true'],
    ['string', '1'],
  ] as const)('refuses %s %s', (kind, json) => {
    expect(() => encode({ kind }, json)).toThrow(expect.objectContaining({ code: 'invalid_value' }))
  })

  it('takes an Object in both forms, at any depth', () => {
    const layout: Layout = { kind: 'vector', element: { kind: 'object' } }
    expect(encode(layout, '["0xa",{"inner":"0xa"}]')).toBe(`0x02${bytesToHex(parseAddress('0xa')).slice(2).repeat(2)}`)
  })

  it('takes Option<u8> as hex or as a list, and at most one element', () => {
    const layout: Layout = { kind: 'option', declaredAs: 'enum', element: { kind: 'u8' } }
    for (const json of ['{"vec":"0x05"}', '{"vec":[5]}']) expect(encode(layout, json)).toBe('0x0105')
    for (const json of ['{"vec":"0x0506"}', '{"vec":[5,6]}', '{}', 'null']) expect(() => encode(layout, json)).toThrow()
  })

  it('names the path and the known part of an enum', () => {
    const color: Layout = {
      kind: 'enum',
      name: 'Color',
      variants: [
        { name: 'Red', fields: [] },
        { name: 'Custom', fields: [{ name: 'r', layout: { kind: 'u8' } }] },
      ],
    }
    const layout: Layout = { kind: 'struct', name: 'S', fields: [{ name: 'color', layout: color }] }
    expect(() => encode(layout, '{"color":{"Green":{}}}')).toThrow(
      'color: Variant Green not found, expected one of Red, Custom',
    )
    expect(() => encode(layout, '{"color":{"Custom":{"r":300}}}')).toThrow('color.Custom.r: 300 does not fit in u8')
    expect(() => encode(layout, '{"color":{"Red":{},"Custom":{}}}')).toThrow(/exactly one variant/)
    expect(() => encode(layout, '{"color":{"Red":{"x":1}}}')).toThrow(/Unknown field "x"/)
    expect(() => encode(layout, '{"color":{"Red":"text"}}')).toThrow(/map of the fields/)
    expect(() => encode(layout, '{}')).toThrow('field color not found')
  })

  it('quotes at most 1 KB of the input', () => {
    const long = '\u0001'.repeat(100_000)
    const text = JSON.stringify(long)
    const shape: Layout = { kind: 'enum', name: 'E', variants: [{ name: 'A', fields: [] }] }
    const deep = (depth: number): Layout =>
      depth === 0
        ? { kind: 'u8' }
        : { kind: 'struct', name: 'S', fields: [{ name: 'f'.repeat(10_000), layout: deep(depth - 1) }] }
    const nested = (depth: number): string => (depth === 0 ? text : `{"${'f'.repeat(10_000)}":${nested(depth - 1)}}`)
    const keys: readonly (readonly [Layout, string])[] = [
      [{ kind: 'u8' }, text],
      [{ kind: 'u64' }, text],
      [{ kind: 'u64' }, '9'.repeat(100_000)],
      [{ kind: 'bool' }, text],
      [{ kind: 'address' }, text],
      [{ kind: 'vector', element: { kind: 'u8' } }, text],
      [shape, `{${text}:{}}`],
      [shape, `{"A":{${text}:1}}`],
      [deep(100), nested(100)],
    ]
    for (const [layout, json] of keys) {
      try {
        encode(layout, json)
        expect.unreachable()
      } catch (error) {
        expect(isLedgerStateError(error, 'invalid_value')).toBe(true)
        expect(new TextEncoder().encode((error as Error).message).length).toBeLessThan(1_500)
      }
    }
  })

  it('refuses signers and functions, even where no value of them is written', () => {
    for (const kind of ['signer', 'function'] as const) {
      const refused = expect.objectContaining({ code: 'unsupported_type' })
      expect(() => codecOf({ kind }).jsonToBytes(null)).toThrow(refused)
      const inside: Layout = { kind: 'struct', name: 'S', fields: [{ name: 'f', layout: { kind } }] }
      expect(() => codecOf({ kind: 'vector', element: inside }).jsonToBytes([])).toThrow(refused)
    }
  })

  it('compiles only the parts with written values', () => {
    const untouched = (): Layout => ({
      kind: 'struct',
      name: 'S',
      get fields(): never {
        throw new Error('the fields are looked at')
      },
    })
    const list: Layout = { kind: 'vector', element: untouched() }
    const layout: Layout = {
      kind: 'enum',
      name: 'E',
      variants: [
        { name: 'A', fields: [{ name: 'list', layout: list }] },
        {
          name: 'B',
          fields: [{ name: 'some', layout: { kind: 'option', declaredAs: 'struct', element: untouched() } }],
        },
      ],
    }
    const codec = codecOf(layout, { depth: 3, unwritable: undefined })
    expect(bytesToHex(codec.jsonToBytes(parseJson('{"A":{"list":[]}}')))).toBe('0x0000')
    expect(bytesToHex(codec.jsonToBytes(parseJson('{"B":{"some":{"vec":[]}}}')))).toBe('0x0100')
    expect(() => codec.jsonToBytes(parseJson('{"A":{"list":[{}]}}'))).toThrow('are looked at')
  })
})

describe('layoutSize', () => {
  it('counts layouts, fields and variants, and shared ones once', () => {
    const u8: Layout = { kind: 'u8' }
    const list: Layout = { kind: 'vector', element: u8 }
    const pair: Layout = {
      kind: 'struct',
      name: 'Pair',
      fields: [
        { name: 'a', layout: list },
        { name: 'b', layout: list },
      ],
    }
    expect([u8, list, pair].map(layoutSize)).toEqual([1, 2, 5])
    const shape: Layout = { kind: 'enum', name: 'Shape', variants: [{ name: 'Pair', fields: pair.fields }] }
    expect(layoutSize(shape)).toBe(6)
    expect(layoutSize({ kind: 'map', key: u8, value: pair })).toBe(6)
  })
})
