import fc from 'fast-check'
import { expect, it } from 'vitest'
import { PrimaryStoreAddresses, primaryStoreAddress } from './derived-address.js'

it('answers with the derived address, whatever shares its place', () => {
  const addresses = new PrimaryStoreAddresses()
  const address = fc.oneof(
    fc.uint8Array({ minLength: 32, maxLength: 32 }),
    // Many that differ in one byte only.
    fc.tuple(fc.nat(31), fc.nat(3)).map(([at, byte]) => new Uint8Array(32).fill(byte, at, at + 1)),
  )
  const target = new Uint8Array(40)
  fc.assert(
    fc.property(address, address, (owner, metadata) => {
      for (let round = 0; round < 2; round++) {
        addresses.write(owner, metadata, target, 4)
        expect(target.slice(4, 36)).toEqual(primaryStoreAddress(owner, metadata))
      }
    }),
    { numRuns: 2_000 },
  )
})
