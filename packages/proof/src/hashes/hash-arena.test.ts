import { bytesToHexDigits } from '@ledger-state/core'
import { compareBytes, copyBytes } from '@ledger-state/core/bytes'
import { sha3_256 } from '@noble/hashes/sha3.js'
import fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { ArenaFactory, type ArenaKind, blocksOf, type HashArena, paddedLength, padMessage } from './hash-arena.js'
import { webAssembly } from './wasm/web-assembly.js'

const KINDS: readonly ArenaKind[] = ['vectors', 'scalar', 'plain']

/** Hashes messages in one call, in the given order of jobs. */
function hashAll(arena: HashArena, messages: readonly Uint8Array[]): string[] {
  const jobs = arena.start
  let at = jobs + messages.length * 12
  const results: number[] = []
  for (const [index, message] of messages.entries()) {
    arena.bytes.set(message, at)
    padMessage(arena.bytes, at, message.length)
    arena.words.set([at, blocksOf(message.length), at + paddedLength(message.length)], jobs / 4 + 3 * index)
    results.push(at + paddedLength(message.length))
    at += paddedLength(message.length) + 32
  }
  arena.hashBlocks(jobs, messages.length)
  return results.map((result) => hexAt(arena, result))
}

function hexAt({ bytes }: HashArena, at: number): string {
  return bytesToHexDigits(bytes.subarray(at, at + 32))
}

describe.each(KINDS)('an arena that hashes with %s', (kind) => {
  const arena = new ArenaFactory(kind).create(2 ** 20)

  it('is of this kind on this runtime', () => {
    expect(arena.kind).toBe(kind)
  })

  it('has the digests of FIPS 202', () => {
    const text = (letters: string) => new TextEncoder().encode(letters)
    expect(hashAll(arena, [text(''), text('abc'), new Uint8Array(200).fill(0xa3)])).toEqual([
      'a7ffc6f8bf1ed76651c14756a061d662f580ff4de43b49fa82d80a4b80f8434a',
      '3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532',
      '79f38adec5c20307a98ef76e8324afbfd46cfd81b22e3973c65fa1bd9de31787',
    ])
  })

  it('hashes messages of every length to three blocks, twice', () => {
    const messages = Array.from({ length: 409 }, (_, length) => Uint8Array.from({ length }, (__, at) => at * length))
    const expected = messages.map((message) => bytesToHexDigits(sha3_256(message)))
    for (let time = 0; time < 2; time++) expect(hashAll(arena, messages)).toEqual(expected)
  })

  it('hashes random messages as noble does', () => {
    const messages = fc.array(
      fc.oneof(
        fc.uint8Array({ maxLength: 1_000 }),
        fc.uint8Array({ minLength: 130, maxLength: 140 }),
        fc.uint8Array({ maxLength: 300 }).map((start) => Uint8Array.of(...start, 6, 0, 0)),
      ),
      { maxLength: 40 },
    )
    fc.assert(
      fc.property(messages, (some) => {
        expect(hashAll(arena, some)).toEqual(some.map((message) => bytesToHexDigits(sha3_256(message))))
      }),
    )
  })

  it('hashes random pairs as noble does, where a job needs the results of earlier ones', () => {
    const hash = fc.uint8Array({ minLength: 32, maxLength: 32 })
    fc.assert(
      fc.property(hash, fc.array(hash, { minLength: 1, maxLength: 50 }), (seed, leaves) => {
        const { bytes, words, start } = arena
        const nodes = start + 32
        bytes.set(seed, start)
        for (const [at, leaf] of leaves.entries()) bytes.set(leaf, nodes + 32 * at)
        const jobs = nodes + 4_096
        const expected = [...leaves]
        // Each level doubles the distance, so that no two neighbours in the list need each other.
        let count = 0
        for (let step = 1; step <= 4; step++) {
          for (let at = 0; at < leaves.length - 1; at += 2) {
            words.set(
              [at, at + 1, at].map((index) => nodes + 32 * index),
              jobs / 4 + 3 * count++,
            )
            expected[at] = sha3_256(Uint8Array.of(...seed, ...expected[at]!, ...expected[at + 1]!))
          }
          if (count % 2 === 1) words.set([nodes, nodes, jobs - 64], jobs / 4 + 3 * count++)
        }
        arena.hashPairs(jobs, count, start)
        for (const [at, node] of expected.entries()) expect(hexAt(arena, nodes + 32 * at)).toBe(bytesToHexDigits(node))
      }),
    )
  })

  it('hashes nothing if there are no jobs', () => {
    const before = copyBytes(arena.bytes)
    arena.hashPairs(arena.start, 0, arena.start)
    arena.hashBlocks(arena.start, 0)
    expect(compareBytes(arena.bytes, before)).toBe(0)
  })
})

describe('ArenaFactory', () => {
  afterEach(() => vi.unstubAllGlobals())

  it('does without WebAssembly, and with one that may not compile', () => {
    const expected = bytesToHexDigits(sha3_256(Uint8Array.of(1)))
    const { Memory, Instance, validate } = webAssembly()!
    const forbidden = {
      ...{ Memory, Instance, validate },
      Module: class {
        constructor() {
          throw new Error('the content security policy forbids it')
        }
      },
    }
    for (const api of [undefined, forbidden]) {
      vi.stubGlobal('WebAssembly', api)
      const arena = new ArenaFactory().create(1_000)
      expect(arena.kind).toBe('plain')
      expect(hashAll(arena, [Uint8Array.of(1)])).toEqual([expected])
    }
  })

  it('takes one hash at a time where vectors are not known', () => {
    const { Memory, Instance, Module } = webAssembly()!
    vi.stubGlobal('WebAssembly', { Memory, Instance, Module, validate: () => false })
    const arena = new ArenaFactory().create(1_000)
    expect(arena.kind).toBe('scalar')
    expect(hashAll(arena, [Uint8Array.of(1)])).toEqual([bytesToHexDigits(sha3_256(Uint8Array.of(1)))])
  })
})
