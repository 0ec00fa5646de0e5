import fc from 'fast-check'
import { expect, it } from 'vitest'
import { AnswerBytes } from './answer-bytes.js'

const pieces = fc.array(
  fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 400 }),
    fc.uint8Array({ maxLength: 3_000 }),
    fc.string({ unit: 'binary', maxLength: 60 }),
  ),
  { maxLength: 60 },
)

it('AnswerBytes has the bytes of all pieces, and counts the memory before it is taken', () => {
  fc.assert(
    fc.property(pieces, pieces, (first, second) => {
      let held = 0
      const answer = new AnswerBytes((bytes) => {
        held += bytes
      })
      for (const round of [first, second]) {
        answer.clear()
        for (const piece of round) {
          if (typeof piece === 'string') answer.text(piece)
          else answer.write(piece)
          expect(answer.bytes.buffer.byteLength).toBe(held)
        }
        const expected = Buffer.concat(round.map((piece) => Buffer.from(piece as string)))
        expect(answer.length).toBe(expected.length)
        expect(answer.bytes.equals(expected)).toBe(true)
      }
    }),
  )
})

it('AnswerBytes keeps its bytes if there is no room for more', () => {
  const answer = new AnswerBytes((bytes) => {
    if (bytes > 5_000) throw new Error('full')
  })
  answer.text('abc')
  expect(() => answer.write(new Uint8Array(10_000))).toThrow('full')
  expect(answer.bytes.toString()).toBe('abc')
})

it('AnswerBytes reserves no more than a quarter of a long answer', () => {
  let held = 0
  const answer = new AnswerBytes((bytes) => {
    held += bytes
  })
  for (let at = 0; at < 300; at++) answer.write(new Uint8Array(20_000))
  expect(held).toBeLessThan(1.3 * answer.length)
})
