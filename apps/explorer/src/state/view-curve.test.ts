import { expect, it } from 'vitest'
import { assetOfCall, numberedResults, type ViewChange } from './view-curve.ts'

const change = (values: readonly unknown[] | undefined): ViewChange => ({
  version: '1',
  timestamp: null,
  ...(values ? { values } : { error: { message: 'no' } }),
})

it.each([
  [[change(['1', 2, true, 'x', '-3'])], [0, 1, 4]],
  [[change(undefined), change(['1', '2']), change(['1', null])], [0]],
  [[change(undefined)], []],
  [[], []],
])('the curve of a view has the results that are numbers in %j', (changes, expected) => {
  expect(numberedResults(changes)).toEqual(expected)
})

it.each([
  [['0x1::aptos_coin::AptosCoin'], '["0xa11ce"]', '0x1::aptos_coin::AptosCoin'],
  [['0x1::fungible_asset::Metadata'], '["0xa11ce","0xa"]', '0xa'],
  [['u64'], '[5]', undefined],
  [[], '[]', undefined],
])('the curve of a view with the arguments <%j>(%s) has the asset %s', (typeArguments, values, asset) => {
  expect(assetOfCall({ typeArguments, arguments: values })).toBe(asset)
})
