import { isLedgerStateError } from '@ledger-state/core'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { JsonNumber, JsonObject, jsonTypeName, jsonValueToText, parseJson } from './json-value.js'

describe('parseJson', () => {
  it('agrees with JSON.parse on every JSON text', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(0, 1, '\t'), (value, indent) => {
        const text = JSON.stringify(value, null, indent)
        expect(JSON.parse(jsonValueToText(parseJson(text)))).toEqual(JSON.parse(text))
      }),
    )
  })

  it('refuses what JSON.parse refuses, with its own error', () => {
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

  it('takes 128 levels and refuses 129, however long the text', () => {
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
    expect(() => parseJson('\n\n')).toThrow('EOF while parsing a value at line 3 column 1')
  })

  it('reads as many values as it may, wherever they stand', () => {
    const text = '[1,{"a":[]},null]'
    expect(jsonValueToText(parseJson(text, { maxValues: 5 }))).toBe(text)
    expect(() => parseJson(text, { maxValues: 4 })).toThrow('more than 4 values at line 1 column 13')
  })

  it('reads surrogate pairs and refuses lone surrogates', () => {
    expect(parseJson('"\\ud83d\\ude00"')).toBe('\u{1f600}')
    for (const text of ['"\\ud83d"', '"\\ude00"', '"\\ud83d\\u0041"'])
      expect(() => parseJson(text)).toThrow(/lone surrogate/)
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
})
