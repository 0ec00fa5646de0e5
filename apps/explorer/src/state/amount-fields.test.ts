import { expect, it } from 'vitest'
import { amountFieldsOf, memberAt } from './amount-fields.ts'

const ASSET = `0x${'a1'.repeat(32)}`

it.each([
  ['0x1::coin::CoinStore<0x2::m::C<u8>>', { coin: { value: '7' } }, '0x2::m::C<u8>'],
  ['0x1::coin::Coin<0x2::m::C>', { value: '7' }, '0x2::m::C'],
  ['0x1::coin::CoinInfo<0x2::m::C>', { supply: { vec: [{ integer: { vec: [{ value: '7' }] } }] } }, '0x2::m::C'],
  ['0x1::fungible_asset::FungibleStore', { metadata: { inner: ASSET }, balance: '7' }, ASSET],
  ['0x1::fungible_asset::Supply', { current: '7', maximum: { vec: [] } }, '0xabc'],
  ['0x1::fungible_asset::ConcurrentSupply', { current: { value: '7', max_value: '9' } }, '0xabc'],
  ['0x1::fungible_asset::ConcurrentFungibleBalance', { balance: { value: '7' } }, undefined],
])('%s has an amount of its asset', (type, value, asset) => {
  const fields = amountFieldsOf(type, '0xabc', value)!
  expect(fields.asset).toBe(asset)
  expect(memberAt(value, fields.paths[0]!)).toBe('7')
})

it('neither other types nor a store without an asset have an amount', () => {
  expect(amountFieldsOf('0x1::account::Account', '0xabc', { balance: '7' })).toBeUndefined()
  expect(amountFieldsOf('0x2::coin::CoinStore<0x2::m::C>', '0xabc', { coin: { value: '7' } })).toBeUndefined()
  expect(amountFieldsOf('0x1::fungible_asset::FungibleStore', '0xabc', { balance: '7' })).toBeUndefined()
})
