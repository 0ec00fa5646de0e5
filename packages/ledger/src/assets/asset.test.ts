import { parseAddress } from '@ledger-state/core'
import { describe, expect, it } from 'vitest'
import { parseAsset } from './asset.js'

describe('parseAsset', () => {
  it('takes addresses first, then struct tags', () => {
    for (const text of ['a', '0xA', '0x000a'])
      expect(parseAsset(text)).toEqual({ kind: 'fungibleAsset', metadata: parseAddress('0xa') })
    expect(parseAsset('0x1::a::B< u8 >')).toMatchObject({ kind: 'coin', coin: { name: 'B' } })
    for (const text of ['', 'u8', 'AptosCoin', '0x1::a', '0x1::a-b::C']) {
      expect(() => parseAsset(text)).toThrow(expect.objectContaining({ code: 'invalid_type_tag' }))
    }
  })
})
