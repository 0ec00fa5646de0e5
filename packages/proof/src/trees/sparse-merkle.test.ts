import { ByteReader, ByteWriter, bytesToHexDigits } from '@ledger-state/core'
import { compareBytes } from '@ledger-state/core/bytes'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LedgerHasher, SPARSE_MERKLE_PLACEHOLDER } from '../hashes/ledger-hasher.js'
import { SparseMerkleFrontier } from './sparse-merkle.js'

const hasher = new LedgerHasher()
const hex = (bytes: Uint8Array | undefined) => bytes && bytesToHexDigits(bytes)
const VALUE = new Uint8Array(32).fill(7)

const isSet = (key: Uint8Array, depth: number) => ((key[depth >> 3]! >> (7 - (depth & 7))) & 1) === 1

/** Root of the tree, computed by its definition. */
function rootOf(keys: readonly Uint8Array[], depth = 0): Uint8Array {
  if (keys.length === 0) return SPARSE_MERKLE_PLACEHOLDER
  if (keys.length === 1) return hasher.hashPair('SparseMerkleLeafNode', keys[0]!, VALUE)
  const [left, right] = [keys.filter((key) => !isSet(key, depth)), keys.filter((key) => isSet(key, depth))]
  return hasher.hashPair('SparseMerkleInternal', rootOf(left, depth + 1), rootOf(right, depth + 1))
}

function rightSiblings(keys: readonly Uint8Array[], target: Uint8Array): Uint8Array[] {
  const siblings: Uint8Array[] = []
  let within = keys
  for (let depth = 0; within.length > 1; depth++) {
    const right = within.filter((key) => isSet(key, depth))
    if (!isSet(target, depth)) siblings.unshift(rootOf(right, depth + 1))
    within = isSet(target, depth) ? right : within.filter((key) => !isSet(key, depth))
  }
  return siblings
}

/** Keys that share many bits, and some that do not; in ascending order. */
const someKeys = fc
  .uniqueArray(
    fc.tuple(fc.nat(3), fc.nat(255), fc.integer({ min: 0, max: 31 })).map(([first, byte, at]) => {
      const key = new Uint8Array(32)
      key[0] = first
      key[at] = byte
      return key
    }),
    { minLength: 1, maxLength: 40, selector: (key) => bytesToHexDigits(key) },
  )
  .map((keys) => keys.sort(compareBytes))

function treeOf(keys: readonly Uint8Array[]): SparseMerkleFrontier {
  const tree = new SparseMerkleFrontier(hasher)
  for (const key of keys) expect(tree.append(key, VALUE)).toBe(true)
  return tree
}

describe('SparseMerkleFrontier', () => {
  it('has the root of the tree', () => {
    expect(hex(new SparseMerkleFrontier(hasher).root())).toBe(hex(SPARSE_MERKLE_PLACEHOLDER))
    fc.assert(
      fc.property(someKeys, (keys) => {
        expect(hex(treeOf(keys).root())).toBe(hex(rootOf(keys)))
      }),
    )
  })

  it('proves every beginning of a tree, and resumes from its bytes', () => {
    fc.assert(
      fc.property(someKeys, fc.nat(), (keys, at) => {
        const count = 1 + (at % keys.length)
        const begun = treeOf(keys.slice(0, count))
        const siblings = rightSiblings(keys, keys[count - 1]!)
        expect(hex(begun.rootWithin(siblings))).toBe(hex(rootOf(keys)))
        expect(hex(begun.rootWithin([...siblings, VALUE]))).not.toBe(hex(rootOf(keys)))
        const writer = new ByteWriter()
        begun.write(writer)
        const again = SparseMerkleFrontier.read(hasher, new ByteReader(writer.toBytes()))
        for (const key of keys.slice(count)) expect(again.append(key, VALUE)).toBe(true)
        expect(hex(again.root())).toBe(hex(rootOf(keys)))
      }),
    )
  })

  it('refuses a key that is not above the one before', () => {
    const tree = treeOf([new Uint8Array(32).fill(1)])
    expect(tree.append(new Uint8Array(32).fill(1), VALUE)).toBe(false)
    expect(tree.append(new Uint8Array(32).fill(0), VALUE)).toBe(false)
  })
})
