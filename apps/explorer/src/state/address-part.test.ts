import { expect, it } from 'vitest'
import { cursorToAddressPart } from './address-part.ts'

it('a cursor shows how far a search by address is', () => {
  expect(cursorToAddressPart(undefined)).toBe(0)
  expect(cursorToAddressPart(`00${'0'.repeat(64)}2a`)).toBe(0)
  expect(cursorToAddressPart(`00${'80'.padEnd(64, '0')}2a`)).toBe(0.5)
  expect(cursorToAddressPart(`00${'f'.repeat(64)}`)).toBeLessThan(1)
})
