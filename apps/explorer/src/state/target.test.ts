import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { textToTargets, textToTime } from './target.ts'

const labels = (text: string) => textToTargets(text).map(({ label }) => label)

describe('what a text may mean', () => {
  it('is said for each kind', () => {
    expect(labels(' 0xA11CE ')).toEqual(['account 0xA11CE', 'table 0xA11CE'])
    expect(labels('ab'.repeat(32))[0]).toBe(`account 0x${'ab'.repeat(32)}`)
    expect(labels('1500')).toEqual(['the state at version 1500', 'the block of version 1500', 'block 1500'])
    expect(labels('0x1::coin')).toEqual(['module 0x1::coin'])
    expect(labels('2026-01-31')).toEqual(['the state at 2026-01-31T00:00:00.000Z'])
    expect(labels('0x1::coin::CoinStore<0x1::aptos_coin::AptosCoin>').length).toBe(2)
    expect(labels('hello')).toEqual([])
  })

  const name = fc.stringMatching(/^[A-Za-z_]\w{0,8}$/)
  const address = fc.stringMatching(/^0x[0-9a-fA-F]{1,64}$/)
  const type = fc.tuple(address, name, name).map((parts) => parts.join('::'))
  const spaced = (text: fc.Arbitrary<string>) =>
    fc.tuple(fc.stringMatching(/^\s{0,2}$/), text, fc.stringMatching(/^\s{0,2}$/)).map((parts) => parts.join(''))

  it('of any address is its account and its table', () => {
    fc.assert(
      fc.property(spaced(address), (text) => {
        expect(textToTargets(text).map(({ view }) => view)).toEqual([
          { name: 'account', address: text.trim(), tab: 'balances' },
          { name: 'table', handle: text.trim(), types: {} },
        ])
      }),
    )
  })

  it('of any type is the module that declares it and its resource, whatever its arguments', () => {
    fc.assert(
      fc.property(type, fc.array(type, { maxLength: 3 }), (base, argumentsOf) => {
        const text = argumentsOf.length === 0 ? base : `${base}<${argumentsOf.join(', ')}>`
        const [declaredAt, module] = base.split('::')
        expect(textToTargets(text).map(({ view }) => view)).toEqual([
          { name: 'module', address: declaredAt, module },
          { name: 'resource', address: declaredAt, type: text },
        ])
      }),
    )
  })

  it('of any moment is the state at it', () => {
    const moment = fc.date({ min: new Date(0), max: new Date('9999-12-31T23:59:59Z'), noInvalidDate: true })
    fc.assert(
      fc.property(moment, (date) => {
        expect(textToTargets(date.toISOString()).map(({ at }) => at)).toEqual([date.toISOString()])
      }),
    )
  })

  it('is nothing where a text is none of these', () => {
    const other = fc.string({ unit: fc.constantFrom('0', 'x', 'a', ':', '<', '>', '-', 'T', ' ', 'g', 'é', '\n') })
    const isKnown = /^\s*(0x[0-9a-f]{1,64}(::.*)?|\d{1,20}|[0-9a-f]{64})\s*$/s
    fc.assert(
      fc.property(
        other.filter((text) => !isKnown.test(text)),
        (text) => {
          expect(textToTargets(text)).toEqual([])
        },
      ),
    )
  })
})

it('a time without a zone is in UTC', () => {
  expect(textToTime('2026-01-31T12:00')).toBe('2026-01-31T12:00:00.000Z')
  expect(textToTime('2026-01-31T12:00+01:00')).toBe('2026-01-31T11:00:00.000Z')
  expect(textToTime('2026-13-31')).toBeUndefined()
})
