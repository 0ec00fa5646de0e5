import { expect, it } from 'vitest'
import { packingOf } from './packing.ts'

const RAW = { patches: false, codec: 'none' }
const PATCHED = { patches: true, codec: 'none' }
const COMPRESSED = { patches: true, codec: 'deflate' }

it('the first levels are stored as they are, whatever is wanted', () => {
  for (const compress of ['auto', 'always', 'never'] as const) {
    for (const level of [0, 1]) expect(packingOf(level, 2 ** 50, compress, 2 ** 30)).toEqual(RAW)
  }
})

it('later levels are patched, and compressed always, never, or once the store exceeds half of the memory', () => {
  for (const level of [2, 3, 255]) {
    expect(packingOf(level, 0, 'always', 2 ** 30)).toEqual(COMPRESSED)
    expect(packingOf(level, 2 ** 50, 'never', 2 ** 30)).toEqual(PATCHED)
    expect(packingOf(level, 2 ** 29, 'auto', 2 ** 30)).toEqual(PATCHED)
    expect(packingOf(level, 2 ** 29 + 1, 'auto', 2 ** 30)).toEqual(COMPRESSED)
  }
})
