import { bytesToHex } from '@ledger-state/core'
import { primaryStoreAddress } from '@ledger-state/proof'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { PrimaryStoreAddresses } from './store-addresses.js'

it('the cache of primary stores answers with the derived address, whatever shares its place', () => {
  const addresses = new PrimaryStoreAddresses()
  const address = fc.oneof(
    fc.uint8Array({ minLength: 32, maxLength: 32 }),
    // Many addresses differ in one byte only.
    fc.tuple(fc.nat(31), fc.nat(3)).map(([at, byte]) => new Uint8Array(32).fill(byte, at, at + 1)),
  )
  const target = new Uint8Array(40)
  const numbers = new Map<string, number>()
  fc.assert(
    fc.property(address, address, (owner, metadata) => {
      const text = bytesToHex(metadata)
      // Some numbers differ only above their low 32 bits.
      const number = numbers.get(text) ?? (numbers.size >> 1) + 1 + (numbers.size & 1) * 2 ** 32
      numbers.set(text, number)
      for (let round = 0; round < 2; round++) {
        addresses.write(owner, { number, metadata }, target, 4)
        expect(target.subarray(4, 36)).toEqual(primaryStoreAddress(owner, metadata))
      }
    }),
    { numRuns: 2_000 },
  )
})
