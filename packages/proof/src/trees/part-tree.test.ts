import { bytesToHexDigits, hexToBytes } from '@ledger-state/core'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LedgerHasher, SPARSE_MERKLE_PLACEHOLDER } from '../hashes/ledger-hasher.js'
import { isSet } from './key-bits.js'
import { PartTree, SAVED_LEAF_LENGTH, SUBTREE_EMPTY, SUBTREE_INNER, SUBTREE_LEAF } from './part-tree.js'

const hasher = new LedgerHasher()

/** The definition of the tree: a subtree with one leaf is that leaf. */
function rootOf(state: ReadonlyMap<string, Uint8Array>, depth: number): Uint8Array {
  const leaves = [...state].map(([key, valueHash]) => ({ keyHash: hexToBytes(`0x${key}`), valueHash }))
  const fold = (some: typeof leaves, bit: number): Uint8Array => {
    const [one, two] = some
    if (!one) return SPARSE_MERKLE_PLACEHOLDER
    if (!two) return hasher.hashPair('SparseMerkleLeafNode', one.keyHash, one.valueHash)
    const half = (isRight: boolean) => some.filter(({ keyHash }) => isSet(keyHash, bit) === isRight)
    return hasher.hashPair('SparseMerkleInternal', fold(half(false), bit + 1), fold(half(true), bit + 1))
  }
  return fold(leaves, depth)
}

/** Key hashes that share their first byte, and often many bits more. */
const keyHash = fc.tuple(fc.constantFrom(0, 1, 2, 9, 17, 31), fc.nat(7), fc.nat(3)).map(([byte, bit, fill]) => {
  const bytes = new Uint8Array(32).fill(0x55 + fill, 1)
  bytes[0] = 0x42
  bytes[Math.max(byte, 1)]! ^= 1 << bit
  return bytes
})
const write = fc.record({ keyHash, value: fc.option(fc.nat(255), { freq: 3 }) })
const blocks = fc.array(fc.array(write, { maxLength: 12 }), { maxLength: 30 })

describe('PartTree', () => {
  it.each([0, 5, 8])('has the root of the definition after each block, below depth %i', (depth) => {
    const used = new PartTree(hasher, 3)
    fc.assert(
      fc.property(blocks, (history) => {
        let tree = used
        tree.clear(depth)
        const state = new Map<string, Uint8Array>()
        for (const [at, block] of history.entries()) {
          for (const { keyHash, value } of block) {
            const key = bytesToHexDigits(keyHash)
            if (value === null) expect(tree.remove(keyHash)).toBe(state.delete(key))
            else {
              const valueHash = new Uint8Array(32).fill(value)
              expect(tree.put(keyHash, valueHash)).toBe(!state.has(key))
              state.set(key, valueHash)
            }
          }
          const expected = bytesToHexDigits(rootOf(state, depth))
          for (let time = 0; time < 2; time++) {
            tree.finish()
            expect(bytesToHexDigits(tree.root)).toBe(expected)
          }
          expect(tree.leafCount).toBe(state.size)
          expect(tree.kind).toBe(state.size === 0 ? SUBTREE_EMPTY : state.size === 1 ? SUBTREE_LEAF : SUBTREE_INNER)
          if (at % 7 !== 3) continue
          const saved = tree.save()
          tree = new PartTree(hasher, depth)
          expect(tree.load(saved)).toBe(true)
          expect(bytesToHexDigits(tree.root)).toBe(expected)
        }
      }),
      { numRuns: 40 },
    )
  })

  it('grows with thousands of keys, written in one change or in several, and forgets them again', () => {
    const keys = Array.from({ length: 9_001 }, (_, at) => hasher.hash('StateKey', Uint8Array.of(at >> 8, at)))
    const state = new Map(keys.map((key) => [bytesToHexDigits(key), key]))
    const expected = bytesToHexDigits(rootOf(state, 0))
    const once = new PartTree(hasher, 0)
    const often = new PartTree(hasher, 0, 20_000)
    for (const [at, key] of keys.entries()) {
      once.put(key, key)
      often.put(key, key)
      if (at % 100 === 0) often.finish()
    }
    for (const tree of [once, often]) {
      tree.finish()
      expect(bytesToHexDigits(tree.root)).toBe(expected)
    }
    expect(bytesToHexDigits(once.save())).toBe(bytesToHexDigits(often.save()))
    for (const key of keys.slice(1)) expect(once.remove(key)).toBe(true)
    once.finish()
    expect(bytesToHexDigits(once.root)).toBe(
      bytesToHexDigits(hasher.hashPair('SparseMerkleLeafNode', keys[0]!, keys[0]!)),
    )
    expect(once.save()).toHaveLength(SAVED_LEAF_LENGTH)
  })

  it('refuses saved leaves with a key that comes twice', () => {
    const tree = new PartTree(hasher, 0)
    tree.put(new Uint8Array(32), new Uint8Array(32))
    tree.finish()
    const saved = tree.save()
    expect(new PartTree(hasher, 0).load(Uint8Array.of(...saved, ...saved))).toBe(false)
  })
})
