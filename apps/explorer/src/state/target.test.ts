import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { textToCandidates, textToTime } from './target.ts'

describe('a target', () => {
  it.each([
    [' 0xA11CE ', [{ kind: 'address', address: '0xA11CE' }]],
    ['ab'.repeat(32), [{ kind: 'address', address: `0x${'ab'.repeat(32)}` }]],
    [
      'A11CE',
      [
        { kind: 'address', address: '0xA11CE', isBare: true },
        { kind: 'word', word: 'A11CE' },
      ],
    ],
    [
      '42',
      [
        { kind: 'version', version: '42' },
        { kind: 'height', height: '42' },
        { kind: 'address', address: '0x42', isBare: true },
      ],
    ],
    ['Esperança', [{ kind: 'word', word: 'Esperança' }]],
    ['1inch', [{ kind: 'word', word: '1inch' }]],
    ['block 300', [{ kind: 'height', height: '300' }]],
    ['Block #2,999', [{ kind: 'height', height: '2999' }]],
    ['#7', [{ kind: 'height', height: '7' }]],
    ['0x1::coin', [{ kind: 'module', address: '0x1', module: 'coin' }]],
    ['2026-01-31', [{ kind: 'time', time: '2026-01-31T00:00:00.000Z' }]],
    ['2025-01-01 00:12:32 UTC', [{ kind: 'time', time: '2025-01-01T00:12:32.000Z' }]],
    ['2025-01-01 00:12', [{ kind: 'time', time: '2025-01-01T00:12:00.000Z' }]],
    ['Bean', [{ kind: 'word', word: 'Bean' }]],
    ['coin::CoinStore', [{ kind: 'word', word: 'coin::CoinStore' }]],
    ['2026-13-31', []],
    ['12 34', []],
    ['', []],
  ])('is found in the text %j', (text, candidates) => {
    expect(textToCandidates(text)).toEqual(candidates)
  })

  const name = fc.stringMatching(/^[A-Za-z_]\w{0,8}$/)
  const address = fc.stringMatching(/^0x[0-9a-fA-F]{1,64}$/)
  const type = fc.tuple(address, name, name).map((parts) => parts.join('::'))
  const spaced = (text: fc.Arbitrary<string>) =>
    fc.tuple(fc.stringMatching(/^\s{0,2}$/), text, fc.stringMatching(/^\s{0,2}$/)).map((parts) => parts.join(''))

  it('is found in any address', () => {
    fc.assert(
      fc.property(spaced(address), (text) => {
        expect(textToCandidates(text)).toEqual([{ kind: 'address', address: text.trim() }])
      }),
    )
  })

  it('is a version or a height in any number, in digits or in groups of three', () => {
    const separator = fc.constantFrom('', ' ', ',', '.', '_', "'", '\u202f')
    fc.assert(
      fc.property(spaced(fc.bigInt(0n, 2n ** 60n).map(String)), separator, (text, between) => {
        const number = text.trim()
        const grouped = number.replaceAll(/(?<=\d)(?=(?:\d{3})+$)/g, between)
        const isBare = /^\d+$/.test(grouped)
        expect(textToCandidates(text.replace(number, grouped))).toEqual([
          { kind: 'version', version: number },
          { kind: 'height', height: number },
          ...(isBare ? [{ kind: 'address', address: `0x${number}`, isBare: true }] : []),
        ])
      }),
    )
  })

  it('is a type in the text of any type, whatever its arguments', () => {
    fc.assert(
      fc.property(type, fc.array(type, { maxLength: 3 }), (base, argumentsOf) => {
        const text = argumentsOf.length === 0 ? base : `${base}<${argumentsOf.join(', ')}>`
        const [declaredAt, module] = base.split('::')
        expect(textToCandidates(text)).toEqual([{ kind: 'type', address: declaredAt, module, type: text }])
      }),
    )
  })

  it('is a moment in the text of any moment', () => {
    const moment = fc.date({ min: new Date(0), max: new Date('9999-12-31T23:59:59Z'), noInvalidDate: true })
    fc.assert(
      fc.property(
        moment,
        fc.constantFrom('Z', ' UTC', ' GMT', '+00:00'),
        fc.constantFrom('T', ' '),
        (date, zone, t) => {
          const text = date.toISOString().replace('T', t).replace('Z', zone)
          expect(textToCandidates(text)).toEqual([{ kind: 'time', time: date.toISOString() }])
        },
      ),
    )
  })

  it('is looked for in any text without an error', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => {
        expect(textToCandidates(text).length).toBeLessThanOrEqual(3)
      }),
    )
  })
})

it('a time without a zone is in UTC', () => {
  expect(textToTime('2026-01-31T12:00')).toBe('2026-01-31T12:00:00.000Z')
  expect(textToTime('2026-01-31T12:00+01:00')).toBe('2026-01-31T11:00:00.000Z')
  expect(textToTime('2026-13-31')).toBeUndefined()
  expect(textToTime('2026-02-30')).toBeUndefined()
  expect(textToTime('2026-04-31 12:00 UTC')).toBeUndefined()
})
