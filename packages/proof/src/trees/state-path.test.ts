import { bytesToHexDigits } from '@ledger-state/core'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { pathOf, rootOf, someKeys, VALUE_HASH } from '../../testing/tree-by-definition.ts'
import { LedgerHasher } from '../hashes/ledger-hasher.js'
import { claimOfPath, MAX_STATE_SIBLINGS, rootOfStatePath } from './state-path.js'

const hasher = new LedgerHasher()
const hex = bytesToHexDigits

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
    const siblings = Array.from({ length: MAX_STATE_SIBLINGS + 1 }, () => VALUE_HASH)
    const key = new Uint8Array(32)
    expect(claimOfPath({ leaf: undefined, siblings: siblings.slice(1) }, key).kind).toBe('absent')
    expect(claimOfPath({ leaf: undefined, siblings }, key).kind).toBe('other')
  })
})
