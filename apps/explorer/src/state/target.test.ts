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

  it('is found for any text without a fault', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        for (const { view, at } of textToTargets(text)) expect(view ?? at).toBeDefined()
      }),
    )
  })
})

it('a time without a zone is in UTC', () => {
  expect(textToTime('2026-01-31T12:00')).toBe('2026-01-31T12:00:00.000Z')
  expect(textToTime('2026-01-31T12:00+01:00')).toBe('2026-01-31T11:00:00.000Z')
  expect(textToTime('2026-13-31')).toBeUndefined()
})
