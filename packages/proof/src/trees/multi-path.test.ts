import { bytesToHexDigits as hex, isLedgerStateError } from '@ledger-state/core'
import { compareBytes } from '@ledger-state/core/bytes'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { pathOf, rootOf, someKeys, VALUE_HASH } from '../../testing/tree-by-definition.ts'
import { LedgerHasher } from '../hashes/ledger-hasher.js'
import { joinPaths, type KeyClaim, type MultiPath, rootOfMultiPath } from './multi-path.js'

const hasher = new LedgerHasher()

interface Made {
  readonly claims: readonly KeyClaim[]
  readonly path: MultiPath
  readonly root: Uint8Array
}

/** A tree of some of the keys, and the paths of some keys, in the tree or not. */
function make(keys: readonly Uint8Array[], inTree: number, asked: number): Made {
  const tree = keys.filter((_, at) => (inTree >> (at % 30)) & 1)
  const chosen = keys.filter((_, at) => at === 0 || (asked >> (at % 30)) & 1).sort(compareBytes)
  const claims = chosen.map((keyHash) => ({ keyHash, valueHash: tree.includes(keyHash) ? VALUE_HASH : undefined }))
  const path = joinPaths(chosen.map((keyHash) => ({ keyHash, path: pathOf(tree, keyHash) })))
  return { claims, path, root: rootOf(tree) }
}

const made = fc.tuple(someKeys, fc.nat(2 ** 30 - 1), fc.nat(2 ** 30 - 1)).map(([keys, a, b]) => make(keys, a, b))

/** The root, or undefined for a path that is refused. */
function rootOrRefusal(path: MultiPath, claims: readonly KeyClaim[]): string | undefined {
  try {
    return hex(rootOfMultiPath(hasher, path, claims))
  } catch (error) {
    if (isLedgerStateError(error, 'verification_failed')) return undefined
    throw error
  }
}

describe('a multipath', () => {
  it('leads to the root, for present and absent keys', () => {
    fc.assert(
      fc.property(made, ({ claims, path, root }) => {
        expect(rootOrRefusal(path, claims)).toBe(hex(root))
      }),
    )
  })

  it('has at most as many hashes as the single paths', () => {
    fc.assert(
      fc.property(someKeys, (keys) => {
        const sorted = [...keys].sort(compareBytes)
        const paths = sorted.map((keyHash) => ({ keyHash, path: pathOf(keys, keyHash) }))
        const single = paths.reduce((sum, { path }) => sum + path.siblings.length, 0)
        const { hashes, leaves } = joinPaths(paths)
        expect(hashes.length).toBeLessThanOrEqual(single)
        // All keys were asked for, so nothing is left to hash.
        expect([hashes.length, leaves.length]).toEqual([0, 0])
      }),
    )
  })

  it('proves no other claim about any of its keys, and no further key', () => {
    fc.assert(
      fc.property(
        made,
        fc.nat(),
        fc.uint8Array({ minLength: 32, maxLength: 32 }),
        ({ claims, path, root }, at, other) => {
          const target = at % claims.length
          const { keyHash, valueHash } = claims[target]!
          const changed = (one: KeyClaim | undefined) =>
            claims.flatMap((claim, index) => (index === target ? (one ? [one] : []) : [claim]))
          const withKey = (one: KeyClaim) => [...claims, one].sort((a, b) => compareBytes(a.keyHash, b.keyHash))
          // Claims that may be true: an absent key that ends at the same empty subtree, or at the same leaf of another key.
          const harmless = [
            ...(valueHash ? [] : [changed(undefined)]),
            withKey({ keyHash: other, valueHash: undefined }),
          ]
          for (const claimed of harmless) expect([hex(root), undefined]).toContain(rootOrRefusal(path, claimed))
          const forgeries = [
            changed({ keyHash, valueHash: valueHash ? undefined : VALUE_HASH }),
            ...(valueHash ? [changed({ keyHash, valueHash: other }), changed(undefined)] : []),
            withKey({ keyHash: other, valueHash: other }),
            [...claims, claims[target]!],
          ]
          for (const forged of forgeries) expect(rootOrRefusal(path, forged)).not.toBe(hex(root))
        },
      ),
    )
  })

  it('has one form: with a changed, further or missing part it is refused or leads elsewhere', () => {
    fc.assert(
      fc.property(made, fc.nat(), fc.nat(254), ({ claims, path, root }, at, change) => {
        const { nodes, hashes, leaves } = path
        const flipped = (bytes: Uint8Array) => {
          const copy = Uint8Array.from(bytes)
          if (copy.length > 0) copy[at % copy.length]! ^= change + 1
          return copy
        }
        const without = <T>(list: readonly T[]) => list.filter((_, index) => index !== at % list.length)
        const forgeries: MultiPath[] = [
          { nodes: flipped(nodes), hashes, leaves },
          { nodes: Uint8Array.of(...nodes, 0), hashes, leaves },
          { nodes: nodes.subarray(0, -1), hashes, leaves },
          { nodes, hashes: [...hashes, VALUE_HASH], leaves },
          { nodes, hashes, leaves: [...leaves, { keyHash: VALUE_HASH, valueHash: VALUE_HASH }] },
          ...(hashes.length > 0
            ? [
                { nodes, hashes: without(hashes), leaves },
                {
                  nodes,
                  hashes: hashes.map((hash, index) => (index === at % hashes.length ? flipped(hash) : hash)),
                  leaves,
                },
              ]
            : []),
          ...(leaves.length > 0
            ? [
                { nodes, hashes, leaves: without(leaves) },
                {
                  ...{ nodes, hashes },
                  leaves: leaves.map((leaf, index) =>
                    index === at % leaves.length ? { ...leaf, keyHash: flipped(leaf.keyHash) } : leaf,
                  ),
                },
              ]
            : []),
        ]
        for (const forged of forgeries) expect(rootOrRefusal(forged, claims)).not.toBe(hex(root))
      }),
    )
  })

  it('is refused if it is deeper than a key hash has bits', () => {
    const keyHash = new Uint8Array(32)
    const nodes = new Uint8Array(200)
    expect(() =>
      rootOfMultiPath(hasher, { nodes, hashes: [], leaves: [] }, [{ keyHash, valueHash: undefined }]),
    ).toThrow('deeper than a key hash has bits')
    expect(() => rootOfMultiPath(hasher, { nodes, hashes: [], leaves: [] }, [])).toThrow('has no key')
  })
})
