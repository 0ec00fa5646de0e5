import { bytesToHexDigits } from '@ledger-state/core'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ACCUMULATOR_PLACEHOLDER, LedgerHasher } from '../hashes/ledger-hasher.js'
import { AccumulatorFrontier } from './accumulator.js'
import { accumulatorPath, rootByPath } from './accumulator-path.js'
import { levelsOf } from './levels-of.js'

const hasher = new LedgerHasher()
const NAME = 'TransactionAccumulator'
const leafAt = (at: number) => new Uint8Array(32).fill(at + 1)

/** Node of the tree, computed by its definition. */
function node(level: number, index: number, count: number): Uint8Array {
  if (index * 2 ** level >= count) return ACCUMULATOR_PLACEHOLDER
  if (level === 0) return leafAt(index)
  return hasher.hashPair(NAME, node(level - 1, 2 * index, count), node(level - 1, 2 * index + 1, count))
}

function frontierOf(count: number): AccumulatorFrontier {
  const frontier = new AccumulatorFrontier(hasher, NAME)
  for (let at = 0; at < count; at++) frontier.append(leafAt(at))
  return frontier
}

function rightOf(last: number, total: number): Uint8Array[] {
  const siblings: Uint8Array[] = []
  for (let level = 0; level < levelsOf(total); level++) {
    const index = Math.floor(last / 2 ** level)
    if (index % 2 === 0) siblings.push(node(level, index + 1, total))
  }
  return siblings
}

/** Places of a leaf, of the last leaf that is known around it, and size of the whole tree. */
const places = fc
  .tuple(fc.nat(40), fc.nat(12), fc.nat(20))
  .map(([index, known, more]) => ({ index, last: index + known, total: index + known + 1 + more }))

describe('accumulatorPath', () => {
  it('leads from any leaf to the root, whatever is known behind it', () => {
    fc.assert(
      fc.property(places, ({ index, last, total }) => {
        const before = frontierOf(index)
        const path = accumulatorPath(hasher, { total, before, leafAt, last, rightOfLast: rightOf(last, total) })!
        const expected = Array.from({ length: levelsOf(total) }, (_, level) =>
          node(level, Math.floor(index / 2 ** level) ^ 1, total),
        )
        expect(path.map(bytesToHexDigits)).toEqual(expected.map(bytesToHexDigits))
        const root = rootByPath(hasher, leafAt(index), BigInt(index), path)
        expect(bytesToHexDigits(root)).toBe(bytesToHexDigits(frontierOf(total).root()))
      }),
    )
  })

  it('takes no other number of siblings to the right', () => {
    fc.assert(
      fc.property(places, ({ index, last, total }) => {
        const right = rightOf(last, total)
        const surroundings = { total, before: frontierOf(index), leafAt, last }
        expect(accumulatorPath(hasher, { ...surroundings, rightOfLast: [...right, leafAt(0)] })).toBeUndefined()
        if (right.length === 0) return
        expect(accumulatorPath(hasher, { ...surroundings, rightOfLast: right.slice(1) })).toBeUndefined()
      }),
    )
  })
})
