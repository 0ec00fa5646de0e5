import { bytesToHex, parseAddress } from '@ledger-state/core'
import { parseStructTag } from '@ledger-state/type-tag'
import { describe, expect, it } from 'vitest'
import { pairedMetadataAddress, primaryStoreAddress } from './derived-address.js'

describe('derived addresses', () => {
  it('match the chain', () => {
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
