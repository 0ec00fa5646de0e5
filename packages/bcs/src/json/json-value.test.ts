import { isLedgerStateError } from '@ledger-state/core'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { codecOf } from './codec.js'
import { JsonNumber, JsonObject, type JsonValue, jsonTypeName, jsonValueToText } from './json-value.js'
import { parseJson, parseJsonOutline } from './parse-json.js'

describe('parseJson', () => {
  it('agrees with JSON.parse on every JSON text', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(0, 1, '\t'), (value, indent) => {
        const text = JSON.stringify(value, null, indent)
        expect(JSON.parse(jsonValueToText(parseJson(text)))).toEqual(JSON.parse(text))
      }),
    )
  })

  it('refuses the same texts as JSON.parse, with its own error', () => {
    const token = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"a"',
      '1',
      '-',
      '0',
      '.',
      'e',
      'true',
      'nul',
      '"\\u12',
      '"',
      ' ',
    )
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(token, { maxLength: 8 }).map((all) => all.join('')),
        ),
        (text) => {
          let native: unknown
          try {
            native = [JSON.parse(text)]
          } catch {}
          try {
            const ours = parseJson(text)
            expect([JSON.parse(jsonValueToText(ours))]).toEqual(native)
          } catch (error) {
            expect(isLedgerStateError(error, 'invalid_json')).toBe(true)
            expect(native).toBeUndefined()
          }
        },
      ),
      { numRuns: 2000 },
    )
  })

  it('keeps every digit, the order of members, and the last of a repeated member', () => {
    const text = '{"b":12345678901234567890.10e+5,"10":1,"2":-0,"b":18446744073709551615}'
    expect(jsonValueToText(parseJson(text))).toBe('{"b":18446744073709551615,"10":1,"2":-0}')
  })

  it('gives __proto__ no power', () => {
    const value = parseJson('{"__proto__":{"x":1},"constructor":2}')
    expect(value).toBeInstanceOf(JsonObject)
    expect(jsonValueToText(value)).toBe('{"__proto__":{"x":1},"constructor":2}')
    expect(({} as Record<string, unknown>).x).toBeUndefined()
  })

  it('accepts 128 levels and refuses 129, however long the text', () => {
    expect(() => parseJson('['.repeat(128) + ']'.repeat(128))).not.toThrow()
    expect(() => parseJson('['.repeat(129) + ']'.repeat(129))).toThrow(/recursion limit exceeded/)
    expect(() => parseJson('[{"a":'.repeat(1_000_000))).toThrow(/recursion limit exceeded/)
  })

  it('finds members of large objects, too', () => {
    const names = Array.from({ length: 500 }, (_, at) => `n${at}`)
    const value = parseJson(`{${names.map((name, at) => `"${name}":${at}`).join(',')},"n7":"again"}`) as JsonObject
    expect(value.size).toBe(500)
    expect(names.every((name, at) => at === 7 || jsonValueToText(value.get(name)!) === String(at))).toBe(true)
    expect([value.get('n7'), value.get('absent')]).toEqual(['again', undefined])
  })

  it('names line and column', () => {
    expect(() => parseJson('invalid')).toThrow('expected value at line 1 column 1')
    expect(() => parseJson('{\n "a" 1}')).toThrow('expected `:` at line 2 column 6')
    expect(() => parseJson('')).toThrow('EOF while parsing a value')
  })

  it('reads strings of every length, whatever ends them', () => {
    const ends = ['"', '\\n"', '\\u00e9"', '\\ud83d\\ude00"', '', '\\', '\\x"', '\u0001"', '\n"', '\\ud83d"']
    for (const length of [0, 1, 2, 3, 4, 5, 250, 254, 255, 256, 257, 258, 259, 260, 300, 5_000]) {
      for (const plain of ['x', 'é', '\u{1f600}', '\u007f', '\uffff']) {
        for (const end of ends) {
          const text = `["${plain.repeat(length)}${end},1]`
          const isRefused = ['', '\\', '\\x"', '\u0001"', '\n"', '\\ud83d"'].includes(end)
          if (isRefused) expect(() => parseJson(text)).toThrow(expect.objectContaining({ code: 'invalid_json' }))
          else expect((parseJson(text) as readonly JsonValue[])[0]).toBe((JSON.parse(text) as unknown[])[0])
        }
      }
    }
  })

  it.each([
    ['1 x', 'trailing characters at line 1 column 3'],
    ['[1 2]', 'expected `,` or `]` at line 1 column 4'],
    ['[1}', 'expected `,` or `]` at line 1 column 3'],
    ['{"a":1 "b":2}', 'expected `,` or `}` at line 1 column 8'],
    ['{"a":1]', 'expected `,` or `}` at line 1 column 7'],
    ['{1:2}', 'key must be a string at line 1 column 2'],
    ['{"a":1,}', 'key must be a string at line 1 column 8'],
    ['"abc', 'EOF while parsing a string at line 1 column 5'],
    ['"abc\\n', 'EOF while parsing a string at line 1 column 7'],
    ['"\u0001n"', 'control character found while parsing a string at line 1 column 2'],
    ['"\\x"', 'invalid escape at line 1 column 3'],
    ['"\\u00g0"', 'invalid escape at line 1 column 3'],
    ['01', 'trailing characters at line 1 column 2'],
    ['-01', 'trailing characters at line 1 column 3'],
    ['1.', 'expected value at line 1 column 3'],
    ['1e+', 'expected value at line 1 column 4'],
    ['-', 'expected value at line 1 column 2'],
    ['nul', 'expected value at line 1 column 1'],
    ['\n\n x\n\n', 'expected value at line 3 column 2'],
    ['\nx', 'expected value at line 2 column 1'],
    ['x\n', 'expected value at line 1 column 1'],
    ['"a\nb"', 'control character found while parsing a string at line 1 column 3'],
  ])('refuses %j: %s', (text, message) => {
    const [line, column] = message.match(/\d+/g)!.map(Number)
    expect(() => parseJson(text)).toThrow(
      expect.objectContaining({ code: 'invalid_json', message, fields: { line, column } }),
    )
  })

  it('takes the white space that JSON.parse takes, and no other character', () => {
    for (let charCode = 0; charCode < 0x2100; charCode++) {
      const space = String.fromCharCode(charCode)
      for (const text of [`${space}[1]`, `[1]${space}`, `[1${space},2]`]) {
        let isTaken = true
        try {
          JSON.parse(text)
        } catch {
          isTaken = false
        }
        if (isTaken) expect(() => parseJson(text)).not.toThrow()
        else expect(() => parseJson(text)).toThrow(expect.objectContaining({ code: 'invalid_json' }))
      }
    }
  })

  it('takes escaped surrogates only in pairs', () => {
    const unit = ['d7ff', 'd800', 'd801', 'dbff', 'dc00', 'dc01', 'dfff', 'e000'].map((digits) => `\\u${digits}`)
    const other = ['u', 'x', '\\n', '\\\\', 'udc00', 'dc00', '\\t']
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...unit, ...other), { minLength: 1, maxLength: 4 }), (parts) => {
        const text = `"${parts.join('')}"`
        const native = JSON.parse(text) as string
        if (native.isWellFormed()) expect(parseJson(text)).toBe(native)
        else expect(() => parseJson(text)).toThrow(/^lone surrogate in hex escape at/)
      }),
      { numRuns: 2_000 },
    )
  })

  it('reads surrogate pairs and refuses lone surrogates', () => {
    expect(parseJson('"\\ud83d\\ude00"')).toBe('\u{1f600}')
    for (const text of ['"\\ud83d"', '"\\ude00"', '"\\ud83d\\u0041"'])
      expect(() => parseJson(text)).toThrow(/lone surrogate/)
  })
})

describe('JsonObject', () => {
  it('has its members in order, also when walked one by one', () => {
    const names = fc.uniqueArray(fc.string(), { maxLength: 40 })
    fc.assert(
      fc.property(names, (names) => {
        const members = new JsonObject()
        for (const name of names) members.set(name, name)
        const walked: string[] = []
        for (let member = members.first; member !== undefined; member = member.next) walked.push(member.name)
        expect(walked).toEqual(names)
        expect(members.names()).toEqual(names)
        expect(members.size).toBe(names.length)
      }),
    )
  })
})

describe('parseJson with a limit of values', () => {
  it('counts every value, and no member name', () => {
    const text = '{"a":[1,"2",null],"b":{},"c":true}'
    expect(jsonValueToText(parseJson(text, { maxNodes: 7 }))).toBe(text)
    expect(() => parseJson(text, { maxNodes: 6 })).toThrow(
      expect.objectContaining({ code: 'invalid_json', message: 'too many values at line 1 column 30' }),
    )
  })
})

describe('parseJson that refuses repeated names', () => {
  const strict = (text: string) => jsonValueToText(parseJson(text, { refusesRepeatedNames: true }))

  it('refuses them at any depth, however they are spelled, and no others', () => {
    for (const text of ['{"a":1,"a":1}', '[{"b":{"a":1,"x":2,"\\u0061":3}}]', '{"__proto__":1,"__proto__":1}']) {
      expect(() => strict(text)).toThrow(expect.objectContaining({ code: 'invalid_json' }))
      expect(() => parseJson(text)).not.toThrow()
    }
    const many = Array.from({ length: 40 }, (_, at) => `"${at}":1`).join()
    expect(() => strict(`{${many},"39":1}`)).toThrow(/name occurs twice at line 1/)
    expect(strict(`{${many}}`)).toBe(`{${many}}`)
    expect(strict('{"a":{"a":{"a":[{"a":1},{"a":1}]}}}')).toBe('{"a":{"a":{"a":[{"a":1},{"a":1}]}}}')
  })
})

describe('parseJsonOutline', () => {
  const outcome = (work: () => JsonValue): JsonValue | object => {
    try {
      return work()
    } catch (error) {
      return { fault: (error as Error).message }
    }
  }
  /** Parses an outline, and puts the items back into its lists. */
  const whole = (text: string, maxNodes: number): JsonValue => {
    const { value, itemsOf } = parseJsonOutline(text, { maxNodes })
    const fill = (part: JsonValue): JsonValue =>
      Array.isArray(part) ? itemsOf(part).map(({ start, end }) => parseJson(text.slice(start, end))) : part
    if (Array.isArray(value)) return value.map(fill)
    if (!(value instanceof JsonObject)) return value
    const filled = new JsonObject()
    for (const name of value.names()) filled.set(name, fill(value.get(name)!))
    return filled
  }

  it('leaves the lists inside empty and finds their items; it refuses the same texts as parseJson, in the same words', () => {
    const part = fc.oneof(fc.jsonValue(), fc.array(fc.jsonValue()))
    const text = fc
      .tuple(
        fc.oneof(fc.array(part), fc.dictionary(fc.string(), part)),
        fc.constantFrom(0, 1),
        fc.nat(300),
        fc.boolean(),
      )
      .map(([value, indent, cut, isCut]) => {
        const json = JSON.stringify(value, null, indent)
        return isCut ? json.slice(0, cut) : json
      })
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 40 }), (text, maxNodes) => {
        expect(outcome(() => whole(text, maxNodes))).toEqual(outcome(() => parseJson(text, { maxNodes })))
      }),
    )
    const { value, itemsOf } = parseJsonOutline('{"a": [1, [2]], "b": [3]}')
    expect(jsonValueToText(value)).toBe('{"a":[],"b":[]}')
    expect(itemsOf((value as JsonObject).get('a') as JsonValue[])).toEqual([
      { start: 7, end: 8 },
      { start: 10, end: 13 },
    ])
    // This list is not of the outlined text.
    expect(itemsOf([])).toEqual([])
  })
})

describe('jsonValueToText with a limit of length', () => {
  it('shows the beginning of a long text', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.nat(40), (value, maxLength) => {
        const whole = JSON.stringify(value)
        const shown = jsonValueToText(parseJson(whole), maxLength)
        const complete = jsonValueToText(parseJson(whole))
        if (complete.length <= maxLength) expect(shown).toBe(complete)
        else expect(shown).toHaveLength(maxLength + 1)
        if (!/[^ -~]|\\/.test(complete)) expect(complete.startsWith(shown.replace(/…$/, ''))).toBe(true)
      }),
    )
  })

  it('stops early', () => {
    const long = new Array<string>(100_000).fill('x'.repeat(100))
    expect(jsonValueToText([long, long], 20)).toBe(`[["${'x'.repeat(17)}…`)
  })

  it('looks at nothing beyond it', () => {
    const untouched: JsonValue[] = [0 as never]
    Object.defineProperty(untouched, 0, {
      get: () => {
        throw new Error('an item beyond the limit is looked at')
      },
    })
    const long = 'x'.repeat(100)
    const members = new JsonObject()
    members.set('a', long)
    members.set('b', untouched)
    expect(jsonValueToText(members, 20)).toBe(`{"a":"${'x'.repeat(14)}…`)
    expect(jsonValueToText([long, 'next', untouched], 20)).toBe(`["${'x'.repeat(18)}…`)
  })
})

describe('jsonTypeName', () => {
  it.each([
    [null, 'null'],
    [true, 'boolean `true`'],
    ['x', 'string'],
    [new JsonNumber('1'), 'number'],
    [[], 'sequence'],
    [new JsonObject(), 'map'],
    [undefined, 'nothing'],
  ])('%j is %s', (value, name) => {
    expect(jsonTypeName(value)).toBe(name)
  })

  it.each([
    [{ vec: [] }, 'object'],
    [1, 'number'],
    [1n, 'bigint'],
  ])('distinguishes %s from JSON', (value, type) => {
    const name = `JavaScript ${type} (JSON is taken as parseJson reads it)`
    expect(jsonTypeName(value as unknown as JsonValue)).toBe(name)
    const encode = () =>
      codecOf({ kind: 'option', declaredAs: 'enum', element: { kind: 'u64' } }).jsonToBytes(value as never)
    expect(encode).toThrow(`invalid type: ${name}, expected {"vec":[]}`)
  })
})
