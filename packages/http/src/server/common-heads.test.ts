import { expect, it } from 'vitest'
import { CommonHeads } from './common-heads.js'

it('a list of common headers comes back without the headers of the last answer, and changes with the state', () => {
  const heads = new CommonHeads()
  const [first, second] = [
    ['x-version', '1'],
    ['x-version', '2'],
  ] as const
  const get = ['vary', 'Origin', 'cache-control', 'no-cache']
  for (const state of [first, first, second, first]) {
    for (let round = 0; round < 3; round++) {
      const headers = heads.take(state, 'Origin', false)
      expect(headers).toEqual([...state, ...get])
      headers.push('etag', String(round), 'content-length', '0')
      expect(heads.take(state, 'Accept', true)).toEqual([...state, 'vary', 'Accept'])
      expect(heads.take(state, 'Origin', true)).toEqual([...state, 'vary', 'Origin'])
    }
  }
})
