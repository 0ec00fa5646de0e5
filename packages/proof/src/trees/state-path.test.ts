import { bytesToHexDigits } from '@ledger-state/core'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LedgerHasher, SPARSE_MERKLE_PLACEHOLDER } from '../hashes/ledger-hasher.js'
import { isSet } from './key-bits.js'
import { claimOfPath, MAX_STATE_SIBLINGS, rootOfStatePath, type StatePath } from './state-path.js'

const hasher = new LedgerHasher()
const valueHash = new Uint8Array(32).fill(7)
const hex = bytesToHexDigits

/** Root of the tree, computed by its definition. */
function rootOf(keys: readonly Uint8Array[], depth = 0): Uint8Array {
  if (keys.length === 0) return SPARSE_MERKLE_PLACEHOLDER
  if (keys.length === 1) return hasher.hashPair('SparseMerkleLeafNode', keys[0]!, valueHash)
  const [left, right] = [keys.filter((key) => !isSet(key, depth)), keys.filter((key) => isSet(key, depth))]
  return hasher.hashPair('SparseMerkleInternal', rootOf(left, depth + 1), rootOf(right, depth + 1))
}

function pathOf(keys: readonly Uint8Array[], key: Uint8Array): StatePath {
  const siblings: Uint8Array[] = []
  let within = keys
  for (let depth = 0; within.length > 1; depth++) {
    const onSide = (one: Uint8Array) => isSet(one, depth) === isSet(key, depth)
    const others = within.filter((one) => !onSide(one))
    siblings.unshift(rootOf(others, depth + 1))
    within = within.filter(onSide)
  }
  return { leaf: within[0] && { keyHash: within[0], valueHash }, siblings }
}

/** Key hashes that share many bits, and some that do not. */
const someKeys = fc.uniqueArray(
  fc.tuple(fc.nat(3), fc.nat(255), fc.integer({ min: 0, max: 31 })).map(([first, byte, at]) => {
    const key = new Uint8Array(32)
    key[0] = first
    key[at] = byte
    return key
  }),
  { minLength: 2, maxLength: 30, selector: hex },
)

describe('a path of a state', () => {
  it('leads to the root, and says which value a key has, or that it has none', () => {
    fc.assert(
      fc.property(someKeys, (keys) => {
        const [asked, ...others] = keys
        for (const tree of [keys, others]) {
          const path = pathOf(tree, asked!)
          expect(hex(rootOfStatePath(hasher, path, asked!))).toBe(hex(rootOf(tree)))
          const claim = claimOfPath(path, asked!)
          expect(claim.kind).toBe(tree === keys ? 'present' : 'absent')
        }
      }),
    )
  })

  it('says nothing of a key that would be elsewhere', () => {
    const [a, b, c] = [0b0000_0000, 0b0100_0000, 0b1000_0000].map((byte) => new Uint8Array(32).fill(byte))
    const path = pathOf([a!, b!, c!], a!)
    expect(path.siblings.length).toBe(2)
    expect(claimOfPath(path, a!).kind).toBe('present')
    expect(claimOfPath(path, new Uint8Array(32).fill(1)).kind).toBe('absent')
    expect(claimOfPath(path, b!).kind).toBe('other')
    expect(claimOfPath(path, c!).kind).toBe('other')
  })

  it('is no longer than a key hash has bits', () => {
    const siblings = Array.from({ length: MAX_STATE_SIBLINGS + 1 }, () => valueHash)
    const key = new Uint8Array(32)
    expect(claimOfPath({ leaf: undefined, siblings: siblings.slice(1) }, key).kind).toBe('absent')
    expect(claimOfPath({ leaf: undefined, siblings }, key).kind).toBe('other')
  })
})
