import { Buffer } from 'node:buffer'
import { createRandom } from '@ledger-state/testing/random'
import { expect, it } from 'vitest'
import { type Codec, compress, decompress, hasZstd, STORED } from './codec.ts'

const CODECS: readonly Codec[] = hasZstd ? ['deflate', 'zstd'] : ['deflate']

it.each(CODECS)('%s restores what repeats, and stores what does not as it is', (codec) => {
  const content = Buffer.alloc(8_000, 'the same again ')
  const { codec: number, bytes } = compress(codec, content)
  expect(number).not.toBe(STORED)
  expect(bytes.length).toBeLessThan(1_000)
  expect(Buffer.from(decompress(number, bytes, content.length)!).equals(content)).toBe(true)
  expect(decompress(number, bytes, content.length - 1)).toBe(undefined)
  expect(decompress(number, bytes, content.length + 1)).toBe(undefined)
  expect(decompress(number, bytes.subarray(1), content.length)).toBe(undefined)
  const noise = createRandom(5).bytes(8_000)
  expect(compress(codec, noise)).toEqual({ codec: STORED, bytes: noise })
})

it('a codec that nobody knows restores nothing', () => {
  expect(decompress(9, Buffer.from('text'), 4)).toBe(undefined)
})
