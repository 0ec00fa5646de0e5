import { referenceCases } from '@ledger-state/testing/reference-cases'
import { hasSharedData } from '@ledger-state/testing/shared-data'
import { describe, expect, it } from 'vitest'
import { addressToShortHex, parseAddress } from './address.js'
import { bytesToHex } from './hex.js'

describe.skipIf(!hasSharedData)('parseAddress', () => {
  it.each(referenceCases('address'))('gives the result of the reference case $id', ({ input, expect: expected }) => {
    if (expected.ok) {
      const address = parseAddress(input.text)
      expect(bytesToHex(address)).toBe(expected.bytes)
      expect(addressToShortHex(address)).toBe(expected.display_in_values_and_messages)
    } else {
      expect(() => parseAddress(input.text)).toThrow(expect.objectContaining({ code: 'invalid_address' }))
    }
  })
})
