import fc from 'fast-check'
import { expect, it } from 'vitest'
import { PIECE_LENGTH } from '../protocol/text-pieces.js'
import { AnswerBytes } from './answer-bytes.js'
import { CHUNK_BYTES, ChunkPool } from './chunk-pool.js'

const shortPiece = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 400 }),
  fc.uint8Array({ maxLength: 3_000 }),
  fc.string({ unit: 'binary', maxLength: 60 }),
)
/** Pieces that end near the end of a chunk, or are longer than one. */
const longPiece = fc
  .tuple(
    fc.integer({ min: -6, max: 6 }),
    fc.constantFrom(1, 2),
    fc.constantFrom('a', 'ä', '€', '😀', '\ud800', undefined),
  )
  .map(([offset, chunks, unit]) => {
    const length = chunks * CHUNK_BYTES + offset
    if (unit === undefined) return new Uint8Array(length).fill(7)
    return 'b'.repeat(length % 7) + unit.repeat(Math.floor(length / Buffer.byteLength(unit)))
  })
const pieces = fc.array(fc.oneof({ weight: 9, arbitrary: shortPiece }, { weight: 1, arbitrary: longPiece }), {
  maxLength: 60,
})

const bytesOf = (answer: AnswerBytes): Buffer => Buffer.concat(answer.chunks)

it('AnswerBytes has the bytes of all pieces, and counts the memory before it is taken', () => {
  fc.assert(
    fc.property(pieces, pieces, fc.uint8Array({ maxLength: 20 }), (first, second, head) => {
      let held = 0
      const answer = new AnswerBytes((bytes) => {
        held += bytes
      }, new ChunkPool())
      for (const round of [first, second]) {
        answer.clear()
        for (const piece of round) {
          if (typeof piece === 'string') answer.text(piece)
          else answer.write(piece)
          expect(answer.capacity).toBe(held)
        }
        const expected = Buffer.concat(round.map((piece) => Buffer.from(piece as string)))
        expect(answer.length).toBe(expected.length)
        expect(bytesOf(answer).equals(expected)).toBe(true)
        answer.prefix(head)
        expect(bytesOf(answer).equals(Buffer.concat([head, expected]))).toBe(true)
        expect(answer.text('end').length).toBe(head.length + expected.length + 3)
        expect(answer.capacity).toBe(held)
      }
      answer.free()
      expect([answer.length, answer.capacity, answer.chunks]).toEqual([0, 0, []])
    }),
  )
})

it('AnswerBytes has the same bytes if long pieces are appended in steps, each of 64 KiB at most', () => {
  const piece = fc.oneof(
    fc.tuple(fc.string({ maxLength: 3 }), fc.constantFrom('a', 'ä', '€', '😀', 'a😀', '\ud800'), fc.nat(200_000)),
    fc.nat(300_000).map((length) => new Uint8Array(length).fill(9)),
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 6 }), (all) => {
      const [inSteps, atOnce] = [new AnswerBytes(() => {}, new ChunkPool()), new AnswerBytes(() => {}, new ChunkPool())]
      for (const one of all) {
        const value = one instanceof Uint8Array ? one : one[0] + one[1].repeat(one[2] / one[1].length)
        const steps = typeof value === 'string' ? inSteps.textInSteps(value) : inSteps.writeInSteps(value)
        let count = 0
        let most = 0
        for (let length = inSteps.length; !steps.next().done; length = inSteps.length) {
          count++
          most = Math.max(most, inSteps.length - length)
        }
        expect(count).toBeGreaterThanOrEqual(Math.ceil(value.length / PIECE_LENGTH) - 1)
        // A unit of a text takes three bytes at most.
        expect(most).toBeLessThanOrEqual(3 * PIECE_LENGTH)
        if (typeof value === 'string') atOnce.text(value)
        else atOnce.write(value)
      }
      expect(bytesOf(inSteps).equals(bytesOf(atOnce))).toBe(true)
    }),
    { numRuns: 30 },
  )
})

it('AnswerBytes keeps its bytes if there is no room for more', () => {
  for (const most of [5_000, 200_000]) {
    let held = 0
    const answer = new AnswerBytes((bytes) => {
      if (held + bytes > most) throw new Error('full')
      held += bytes
    }, new ChunkPool())
    answer.text('abc')
    expect(() => answer.write(new Uint8Array(500_000))).toThrow('full')
    expect(() => answer.text('ä'.repeat(250_000))).toThrow('full')
    expect(bytesOf(answer).toString()).toBe('abc')
  }
})

it('AnswerBytes reserves at most one chunk in vain, and never moves a chunk that is full', () => {
  const answer = new AnswerBytes(() => {}, new ChunkPool())
  for (let at = 0; at < 300; at++) {
    const before = answer.chunks
    if (at % 2 === 0) answer.write(new Uint8Array(20_000))
    else answer.text('ä'.repeat(10_000))
    const after = answer.chunks
    for (const [number, chunk] of before.slice(0, -1).entries()) expect(after[number]!.buffer).toBe(chunk.buffer)
    expect(answer.capacity).toBeLessThan(answer.length + CHUNK_BYTES + 4 * after.length)
    for (const chunk of after) expect(chunk.buffer.byteLength).toBeLessThanOrEqual(CHUNK_BYTES)
  }
})
