import fc from 'fast-check'
import { expect, it } from 'vitest'
import { beginsWith, isSameBytes } from './same-bytes.js'

const fewBytes = fc.uint8Array({ max: 2, maxLength: 4 })

it('byte strings are the same if all their bytes are', () => {
  fc.assert(
    fc.property(fewBytes, fewBytes, (a, b) => {
      expect(isSameBytes(a, b)).toBe(a.join() === b.join() && a.length === b.length)
    }),
  )
})

it.each([null, undefined])('%s is the same as itself only', (absent) => {
  expect(isSameBytes(absent, absent)).toBe(true)
  expect(isSameBytes(absent, new Uint8Array(0))).toBe(false)
  expect(isSameBytes(new Uint8Array(0), absent)).toBe(false)
  expect(isSameBytes(null, undefined)).toBe(false)
})

it('bytes begin with a part of themselves from their beginning, and with nothing else', () => {
  fc.assert(
    fc.property(fewBytes, fewBytes, (bytes, start) => {
      expect(beginsWith(bytes, start)).toBe(isSameBytes(bytes.subarray(0, start.length), start))
    }),
  )
})
