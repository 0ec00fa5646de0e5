import { bytesToHex, parseAddress } from '@ledger-state/core'
import { parseStructTag } from '@ledger-state/type-tag'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PrimaryStoreAddresses, pairedMetadataAddress, primaryStoreAddress } from './derived-address.js'

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

describe('derived addresses', () => {
  it('are those of the chain', () => {
    expect(bytesToHex(primaryStoreAddress(parseAddress('0x1'), parseAddress('0xa')))).toBe(
      '0xc6d3d69a9810647845a5ca5ebe905256dc37327c1c39c1d673de00caaac0e3a8',
    )
    expect(pairedMetadataAddress(parseStructTag('0x1::aptos_coin::AptosCoin'))).toEqual(parseAddress('0xa'))
    const moon = parseStructTag(
      '0x66c34778730acbb120cefa57a3d98fd21e0c8b3a51e9baee530088b2e444e94c::moon_coin::MoonCoin',
    )
    expect(bytesToHex(pairedMetadataAddress(moon))).toBe(
      '0xf772c28c069aa7e4417d85d771957eb3c5c11b5bf90b1965cda23b899ebc0384',
    )
  })
})
