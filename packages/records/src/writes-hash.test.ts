import { Buffer } from 'node:buffer'
import type { VersionWrites, Write } from '@ledger-state/core'
import { createMemoryEngine } from '@ledger-state/engine'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SLICE_LEFT_OUT_KEY } from './own-keys.js'
import { WritesHash } from './writes-hash.js'

const keys = fc.constantFrom(...['a', 'ab', 'b', ''].map((text) => Buffer.from(text)))
const values = fc.option(fc.uint8Array({ maxLength: 3 }), { nil: null })
const versionWrites = fc
  .uniqueArray(fc.tuple(keys, values), { selector: ([key]) => key.toString() })
  .map((writes): Write[] => writes)

function toVersions(list: readonly Write[][]): VersionWrites[] {
  return list.map((writes, at) => {
    const number = BigInt(at)
    return { version: number, block: { height: number, epoch: 0n, timestampUsec: 7n * number }, writes }
  })
}

function hashOf(versions: readonly VersionWrites[], batch = versions.length): Buffer {
  const hash = WritesHash.begin(0n)
  const engine = createMemoryEngine()
  for (let at = 0; at < versions.length; at += batch) {
    const part = versions.slice(at, at + batch)
    hash.add(part, (key) => engine.ledger !== undefined && engine.at().has(key))
    void engine.commit(part, { chainId: 1 })
  }
  return Buffer.from(hash.value)
}

describe('the hash of all writes', () => {
  it('is the same for the given writes and for the stored ones, with any batches and order of keys', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(versionWrites, { minLength: 1, maxLength: 12 }),
        fc.integer({ min: 1, max: 5 }),
        async (list, batch) => {
          const versions = toVersions(list)
          const expected = hashOf(versions)
          expect(hashOf(versions, batch)).toEqual(expected)
          expect(hashOf(toVersions(list.map((writes) => [...writes].reverse())))).toEqual(expected)
          const engine = createMemoryEngine()
          await engine.commit(versions, { chainId: 1 })
          const kept = [...engine.versions(1n, engine.ledger!.latestVersion)]
          const resumed = new WritesHash(hashOf(versions.slice(0, 1)))
          resumed.add(kept, (key) => engine.at(0n).has(key))
          expect(Buffer.from(resumed.value)).toEqual(expected)
        },
      ),
    )
  })

  it('leaves out the counts of a slice, as stores commit at different versions', () => {
    const block = { height: 0n, epoch: 0n, timestampUsec: 0n }
    const write: Write = [Buffer.from('k'), Buffer.from('v')]
    const counted: Write = [SLICE_LEFT_OUT_KEY, Buffer.from('count')]
    const other: Write = [Buffer.of(...SLICE_LEFT_OUT_KEY, 0), Buffer.from('count')]
    const hash = (...writes: Write[]) => hashOf([{ version: 0n, block, writes }])
    expect(hash(write, counted)).toEqual(hash(write))
    expect(hash(write, other)).not.toEqual(hash(write))
  })

  it('differs if anything differs', () => {
    const writes: Write[] = [[Buffer.from('k'), Buffer.from('v')]]
    const version: VersionWrites = { version: 3n, block: { height: 1n, epoch: 2n, timestampUsec: 3n }, writes }
    const others: VersionWrites[] = [
      { ...version, version: 4n },
      { ...version, block: undefined },
      { ...version, block: { height: 1n, epoch: 2n, timestampUsec: 4n } },
      { ...version, writes: [] },
      { ...version, writes: [[Buffer.from('kv'), new Uint8Array(0)]] },
      { ...version, writes: [[Buffer.from('k'), Buffer.from('w')]] },
      { ...version, writes: [[Buffer.from('k'), null]] },
    ]
    const hashes = [version, ...others].map((one) => {
      const hash = WritesHash.begin(3n)
      hash.add([one], () => true)
      return Buffer.from(hash.value).toString('hex')
    })
    expect(new Set(hashes).size).toBe(hashes.length)
  })
})
