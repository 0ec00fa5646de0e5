import fc from 'fast-check'
import { expect, it } from 'vitest'
import { compareBytes } from '#bytes'
import { AscendingKeys } from './ascending-keys.js'
import { ByteReader } from './byte-reader.js'
import { ByteWriter } from './byte-writer.js'

/** Few different bytes, so that keys are often equal, or one the beginning of another. */
const KEY = fc.uint8Array({ minLength: 1, maxLength: 4, max: 2 })

/** Number of keys that are accepted before one is refused. */
function acceptedKeys(keys: readonly Uint8Array[]): number {
  const writer = new ByteWriter()
  for (const key of keys) writer.byteString(key)
  const reader = new ByteReader(writer.toBytes())
  const ascending = new AscendingKeys(reader)
  for (let at = 0; at < keys.length; at++) {
    const length = reader.readLength()
    const start = reader.offset
    reader.skip(length)
    try {
      ascending.expectNext(start)
    } catch (error) {
      expect(error).toMatchObject({ code: 'invalid_bcs' })
      return at
    }
  }
  return keys.length
}

it('accepts keys as long as each is greater than the one before', () => {
  fc.assert(
    fc.property(fc.array(KEY, { maxLength: 6 }), fc.boolean(), (drawn, isSorted) => {
      const keys = isSorted ? drawn.toSorted(compareBytes) : drawn
      const refused = keys.findIndex((key, at) => at > 0 && compareBytes(keys[at - 1]!, key) >= 0)
      expect(acceptedKeys(keys)).toBe(refused < 0 ? keys.length : refused)
    }),
  )
})
