import fc from 'fast-check'
import { expect, it } from 'vitest'
import { PIECE_LENGTH, textPieces } from './text-pieces.js'

it('a text is its pieces, none of which is long or cuts a character in two', () => {
  const text = fc
    .tuple(fc.string({ maxLength: 3 }), fc.constantFrom('a', 'ä', '😀', 'a😀'), fc.nat(200_000))
    .map(([begin, unit, count]) => begin + unit.repeat(count / unit.length))
  fc.assert(
    fc.property(text, (whole) => {
      const pieces = [...textPieces(whole)]
      expect(pieces.join('') === whole).toBe(true)
      for (const piece of pieces) {
        expect(piece.length).toBeLessThanOrEqual(PIECE_LENGTH)
        expect(piece.isWellFormed()).toBe(whole.isWellFormed())
      }
      expect(pieces).toHaveLength(Math.max(1, Math.ceil(whole.length / PIECE_LENGTH)))
    }),
    { numRuns: 30 },
  )
})
