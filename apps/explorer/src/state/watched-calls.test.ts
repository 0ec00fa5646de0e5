import { expect, it } from 'vitest'
import { isWatched, parseWatchedCalls, unwatch, watch, watchedCalls } from './watched-calls.ts'

const CALL = { function: '0x1::chain_id::get', call: { typeArguments: [], arguments: '[]' } }

it('the list of watched calls keeps each call once, until it is taken off', () => {
  watch(CALL)
  watch({ ...CALL })
  expect(watchedCalls.value).toEqual([CALL])
  expect(isWatched({ function: '0x1::chain_id::get', call: { typeArguments: [], arguments: '[1]' } })).toBe(false)
  unwatch({ ...CALL })
  expect(watchedCalls.value).toEqual([])
})

it.each([
  null,
  '',
  'x',
  '{}',
  '[1,null,{"function":1}]',
  '[{"function":"a","call":{"typeArguments":[1],"arguments":""}}]',
])('the list of watched calls is empty when %j is stored', (text) => {
  expect(parseWatchedCalls(text)).toEqual([])
})

it('the list of watched calls is read as it was stored', () => {
  expect(parseWatchedCalls(JSON.stringify([CALL, 5]))).toEqual([CALL])
})
