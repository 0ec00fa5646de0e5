import { Buffer } from 'node:buffer'
import { createRandom } from '@ledger-state/testing/random'
import { expect, it, vi } from 'vitest'
import { compress, decompress, STORED } from './codec.ts'

it('restores repetitive content, and stores other content as it is', () => {
  const content = Buffer.alloc(8_000, 'the same again ')
  const { codec: number, bytes } = compress('deflate', content)
  expect(number).not.toBe(STORED)
  expect(bytes.length).toBeLessThan(1_000)
  const restored = decompress(number, bytes, content.length)!
  expect(Buffer.compare(restored, content)).toBe(0)
  expect(decompress(number, bytes, content.length - 1)).toBe(undefined)
  expect(decompress(number, bytes, content.length + 1)).toBe(undefined)
  expect(decompress(number, bytes.subarray(1), content.length)).toBe(undefined)
  const noise = createRandom(5).bytes(8_000)
  expect(compress('deflate', noise)).toEqual({ codec: STORED, bytes: noise })
})

it('restored content takes no more memory than its length, a byte, the stored bytes and small buffers', () => {
  for (const length of [0, 1, 63, 5_000, 8_192, 100_000, 16_842_752]) {
    const content = Buffer.alloc(length, 'the same again ')
    const { codec, bytes } = compress('deflate', content)
    if (codec === STORED) continue
    const restored = decompress(codec, bytes, length)!
    expect(Buffer.compare(restored, content)).toBe(0)
    expect(restored.buffer.byteLength).toBeLessThanOrEqual(Math.max(Buffer.poolSize, length + 1))
  }
})

it('a length that no block has is refused before memory is taken', () => {
  const { codec, bytes } = compress('deflate', Buffer.alloc(8_000, 'the same again '))
  const allocate = vi.spyOn(Buffer, 'allocUnsafe')
  for (const length of [2 ** 20, 2 ** 25, 2 ** 31, 2 ** 32 - 1])
    expect(decompress(codec, bytes, length)).toBe(undefined)
  expect(allocate).not.toHaveBeenCalled()
  allocate.mockRestore()
  const long = compress('deflate', Buffer.alloc(2 ** 25))
  expect(decompress(long.codec, long.bytes, 2 ** 25)).toBe(undefined)
})

it('a codec that nobody knows restores nothing', () => {
  for (const codec of [2, 9, 255]) expect(decompress(codec, Buffer.from('text'), 4)).toBe(undefined)
})
