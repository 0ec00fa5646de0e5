import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { KeyedEntry } from '@ledger-state/core'
import { LedgerHasher, SparseMerkleFrontier } from '@ledger-state/proof'
import { annotationToNote, STATE_ROOT_KEY } from '@ledger-state/records'
import { encodeStateValue } from '@ledger-state/type-tag'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { foldLeaves, subtreeRoot } from './fold-leaves.js'
import { computeStateRoot } from './state-root.js'

const hasher = new LedgerHasher()

/** The root from the tree of snapshot proofs, which takes leaves in order. */
function orderedRoot(entries: readonly KeyedEntry[]): Uint8Array {
  const tree = new SparseMerkleFrontier(hasher)
  const leaves = entries.map(({ key, value, annotation }) => {
    const { metadata } = annotationToNote(annotation)
    return [hasher.hash('StateKey', key), hasher.hash('StateValue', encodeStateValue({ value, metadata }))] as const
  })
  for (const [key, value] of leaves.sort(([a], [b]) => Buffer.compare(a, b))) tree.append(key, value)
  return tree.root()
}

function pagesOf(entries: readonly KeyedEntry[], length: number): KeyedEntry[][] {
  return Array.from({ length: Math.ceil(entries.length / length) }, (_, at) => {
    return entries.slice(at * length, (at + 1) * length)
  })
}

function manyEntries(count: number): KeyedEntry[] {
  return Array.from({ length: count }, (_, at) => ({
    key: Buffer.from(`key ${at}`),
    version: 0n,
    value: Buffer.alloc(at % 300, at),
  }))
}

const annotations = fc.constantFrom(
  undefined,
  Uint8Array.of(1),
  Uint8Array.of(4, 7),
  Uint8Array.of(6, 3, 1, 2, 3, 4, 5, 6),
)
const entriesArbitrary = fc
  .uniqueArray(fc.uint8Array({ minLength: 1, maxLength: 6 }), { selector: (key) => Buffer.from(key).toString('hex') })
  .chain((keys) =>
    fc.tuple(
      ...keys
        .filter((key) => key[0] !== STATE_ROOT_KEY[0])
        .map((key) =>
          fc.record({
            key: fc.constant(key),
            version: fc.constant(0n),
            value: fc.uint8Array({ maxLength: 40 }),
            annotation: annotations,
          }),
        ),
    ),
  )

describe('computeStateRoot', () => {
  const folder = { path: mkdtempSync(join(tmpdir(), 'roots-')) }
  afterAll(() => rmSync(folder.path, { recursive: true }))

  it('computes the root that the proofs of snapshots have, of any entries in any order', async () => {
    await fc.assert(
      fc.asyncProperty(entriesArbitrary, fc.integer({ min: 1, max: 5 }), async (entries, length) => {
        const options = { spillFolder: folder.path, threads: 0 }
        const { root, keys } = await computeStateRoot(pagesOf(entries, length), options)
        expect(keys).toBe(entries.length)
        expect(Buffer.from(root).equals(orderedRoot(entries))).toBe(true)
      }),
      { numRuns: 60 },
    )
  })

  it.each([0, 2])('computes the same root from files, with %i threads, and leaves no file', async (threads) => {
    const spillFolder = join(folder.path, `spill ${threads}`)
    // An earlier program was killed.
    const left = join(spillFolder, 'state-root-killed')
    mkdirSync(left, { recursive: true })
    writeFileSync(join(left, 'lock'), '')
    const entries = manyEntries(6_000)
    const seen: number[] = []
    const options = { spillFolder, threads, memoryBytes: 10_000, onProgress: (keys: number) => seen.push(keys) }
    const { root, keys } = await computeStateRoot(pagesOf(entries, 500), options)
    expect(Buffer.from(root).equals(orderedRoot(entries))).toBe(true)
    expect(keys).toBe(6_000)
    expect(seen.slice(0, 2)).toEqual([500, 1_000])
    expect(readdirSync(spillFolder)).toEqual([])
  })

  it('leaves out keys of the store itself', async () => {
    const entries = manyEntries(3)
    const own = { key: STATE_ROOT_KEY, version: 0n, value: Buffer.alloc(32) }
    const { root, keys } = await computeStateRoot([[own, ...entries]], { spillFolder: folder.path, threads: 0 })
    expect(keys).toBe(3)
    expect(Buffer.from(root).equals(orderedRoot(entries))).toBe(true)
  })

  it.each([0, 2])('refuses a key that comes twice, with %i threads', async (threads) => {
    const entries = [...manyEntries(50), ...manyEntries(1)]
    const work = computeStateRoot(pagesOf(entries, 10), { spillFolder: folder.path, threads })
    await expect(work).rejects.toMatchObject({ code: 'verification_failed' })
  })

  it('says which folder cannot be written, and ends on request', async () => {
    const spillFolder = join(folder.path, 'not there')
    const pages = pagesOf(manyEntries(2_000), 100)
    const spilling = computeStateRoot(pages, { spillFolder, threads: 0, memoryBytes: 64 })
    await expect(spilling).rejects.toMatchObject({
      code: 'spill_failed',
      message: expect.stringContaining(spillFolder),
    })
    const end = new AbortController()
    const aborted = computeStateRoot(pages, {
      spillFolder: folder.path,
      threads: 2,
      memoryBytes: 64,
      signal: end.signal,
      onProgress: () => end.abort(new Error('enough')),
    })
    await expect(aborted).rejects.toThrow('enough')
    expect(readdirSync(folder.path).filter((name) => name.startsWith('state-root-'))).toEqual([])
  })
})

describe('foldLeaves', () => {
  /** A leaf with made-up hashes. */
  const leaf = (key: Uint8Array) => Buffer.concat([key, hasher.hash('StateValue', key)])
  const hashOf = (made: Uint8Array) => hasher.hash('SparseMerkleLeafNode', made)

  it('distinguishes keys that share any number of their bits', () => {
    for (const bit of [0, 1, 7, 8, 63, 64, 200, 255]) {
      const [a, b] = [Buffer.alloc(32), Buffer.alloc(32)]
      b[bit >> 3] = 0x80 >> (bit & 7)
      let expected = hasher.hashPair('SparseMerkleInternal', hashOf(leaf(a)), hashOf(leaf(b)))
      const empty = subtreeRoot({ kind: 'empty' })
      for (let level = bit; level > 0; level--) expected = hasher.hashPair('SparseMerkleInternal', expected, empty)
      const root = subtreeRoot(foldLeaves(hasher, Buffer.concat([leaf(b), leaf(a)]), 0))
      expect(Buffer.compare(root, expected)).toBe(0)
    }
  })

  it('computes the root by its definition, for made-up keys that share any number of bits', () => {
    const isSet = (key: Uint8Array, bit: number) => ((key[bit >> 3]! >> (7 - (bit & 7))) & 1) === 1
    const rootOf = (leaves: readonly Buffer[], bit = 0): Uint8Array => {
      if (leaves.length === 0) return subtreeRoot({ kind: 'empty' })
      if (leaves.length === 1) return hashOf(leaves[0]!)
      const left = leaves.filter((key) => !isSet(key, bit))
      const right = leaves.filter((key) => isSet(key, bit))
      return hasher.hashPair('SparseMerkleInternal', rootOf(left, bit + 1), rootOf(right, bit + 1))
    }
    const madeUpLeaf = fc
      .tuple(fc.nat(3), fc.integer({ min: 0, max: 31 }), fc.nat(255), fc.boolean())
      .map(([first, at, byte, hasOnes]) => {
        const key = Buffer.alloc(32, hasOnes ? 0xff : 0)
        key[0] = first
        key[at] = byte
        return leaf(key)
      })
    const someLeaves = fc.uniqueArray(madeUpLeaf, { maxLength: 60, selector: (made) => made.toString('hex', 0, 32) })
    fc.assert(
      fc.property(someLeaves, (leaves) => {
        const folded = foldLeaves(hasher, Buffer.concat(leaves), 0)
        expect(folded.kind).toBe(leaves.length === 0 ? 'empty' : leaves.length === 1 ? 'leaf' : 'inner')
        expect(Buffer.from(subtreeRoot(folded))).toEqual(Buffer.from(rootOf(leaves)))
      }),
    )
  })
})
