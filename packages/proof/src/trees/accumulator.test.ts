import { bytesToHexDigits } from '@ledger-state/core'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ACCUMULATOR_PLACEHOLDER, LedgerHasher } from '../hashes/ledger-hasher.js'
import { AccumulatorFrontier } from './accumulator.js'

const hasher = new LedgerHasher()
const NAME = 'TransactionAccumulator'
const hex = (bytes: Uint8Array | undefined) => bytes && bytesToHexDigits(bytes)
const leaf = (at: number) => new Uint8Array(32).fill(at + 1)

/** Root of a subtree, computed by its definition. */
function subtree(level: number, index: number, count: number): Uint8Array {
  if (index * 2 ** level >= count) return ACCUMULATOR_PLACEHOLDER
  if (level === 0) return leaf(index)
  return hasher.hashPair(NAME, subtree(level - 1, 2 * index, count), subtree(level - 1, 2 * index + 1, count))
}

const levelsOf = (count: number) => Math.ceil(Math.log2(count))

function frontierOf(count: number): AccumulatorFrontier {
  const frontier = new AccumulatorFrontier(hasher, NAME)
  for (let at = 0; at < count; at++) frontier.append(leaf(at))
  return frontier
}

function rightSiblings(count: number, total: number): Uint8Array[] {
  const siblings: Uint8Array[] = []
  for (let level = 0; level < levelsOf(total); level++) {
    const index = (count - 1) >> level
    if (index % 2 === 0) siblings.push(subtree(level, index + 1, total))
  }
  return siblings
}

describe('AccumulatorFrontier', () => {
  it('has the root of the tree, whatever its size', () => {
    expect(hex(frontierOf(0).root())).toBe(hex(ACCUMULATOR_PLACEHOLDER))
    for (let count = 1; count < 70; count++) {
      expect(hex(frontierOf(count).root()), `${count} leaves`).toBe(hex(subtree(levelsOf(count), 0, count)))
    }
  })

  it('has the root of every larger tree, given the siblings to the right', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 60 }), fc.nat(60), (count, more) => {
        const total = count + more
        const siblings = rightSiblings(count, total)
        expect(hex(frontierOf(count).rootWithin(total, siblings))).toBe(hex(subtree(levelsOf(total), 0, total)))
        expect(frontierOf(count).rootWithin(total, [...siblings, leaf(0)])).toBeUndefined()
        if (siblings.length > 0) expect(frontierOf(count).rootWithin(total, siblings.slice(1))).toBeUndefined()
      }),
    )
  })

  it('resumes from its subtrees and from its bytes', () => {
    fc.assert(
      fc.property(fc.nat(60), fc.nat(60), (count, more) => {
        const { subtrees } = frontierOf(count)
        const again = AccumulatorFrontier.fromSubtrees(hasher, NAME, count, subtrees)!
        const fromBytes = AccumulatorFrontier.fromBytes(hasher, NAME, again.toBytes())!
        for (let at = count; at < count + more; at++) fromBytes.append(leaf(at))
        expect(hex(fromBytes.root())).toBe(hex(frontierOf(count + more).root()))
        expect(AccumulatorFrontier.fromSubtrees(hasher, NAME, count, [...subtrees, leaf(0)])).toBeUndefined()
      }),
    )
  })

  it('counts beyond 2^32', () => {
    const count = 2 ** 40 + 3
    const frontier = AccumulatorFrontier.fromSubtrees(hasher, NAME, count, [leaf(0), leaf(1), leaf(2)])!
    frontier.append(leaf(3))
    expect(frontier.count).toBe(count + 1)
    expect(frontier.subtrees.length).toBe(2)
  })

  it('refuses bytes that are not a frontier', () => {
    for (const bytes of [new Uint8Array(0), new Uint8Array(9), new Uint8Array(40), new Uint8Array(8).fill(255)]) {
      expect(AccumulatorFrontier.fromBytes(hasher, NAME, bytes)).toBeUndefined()
    }
  })
})
