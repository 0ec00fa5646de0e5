import fc from 'fast-check'
import { expect, it } from 'vitest'
import { ContentLength } from './json-body.js'

const pieces = fc.array(
  fc.oneof(
    fc.string({ unit: fc.constantFrom(' ', '\n', 'x'), maxLength: 20 }),
    fc.integer({ min: 4_000, max: 9_000 }).map((length) => ' '.repeat(length)),
  ),
)

it('the length of content does not count the white space around it, whatever chunks it comes in', () => {
  fc.assert(
    fc.property(pieces, (texts) => {
      const content = new ContentLength()
      for (const text of texts) content.add(Buffer.from(text))
      expect(content.bytes).toBe(texts.join('').trim().length)
    }),
  )
})
