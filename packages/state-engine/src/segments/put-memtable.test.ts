import { Buffer } from 'node:buffer'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { VersionWrites, Write } from '@ledger-state/core'
import { createRandom, testSeed } from '@ledger-state/testing/random'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../../testing/temporary-folder.ts'
import { SegmentStore } from './segment-store.ts'

const folder = temporaryFolder()

it('segments that were written out of the memtable, and merged, answer as a model does', () => {
  const random = createRandom(testSeed())
  const path = join(folder.path, 'store')
  let store = new SegmentStore(path, { isMapped: true, cacheBytes: 2 ** 20 })
  const model = new Map<string, (readonly [bigint, Uint8Array | null])[]>()
  const nameOf = (at: number): Buffer => Buffer.from(`key ${at % 50} ${'x'.repeat(at % 7)}`)
  for (let version = 0n; version < 2_000n; ) {
    const batch: VersionWrites[] = []
    for (let left = 1 + random.below(60); left > 0; left--, version++) {
      const names = new Set(Array.from({ length: random.below(6) }, () => random.below(300)))
      const writes = [...names].map(
        (at): Write => [nameOf(at), random.below(9) === 0 ? null : random.bytes(random.below(200))],
      )
      const unique = new Map(writes.map((write) => [Buffer.from(write[0]).toString(), write]))
      for (const [name, write] of unique) {
        const known = model.get(name) ?? []
        model.set(name, known)
        known.push([version, write[1]])
      }
      const block = { height: version, epoch: 0n, timestampUsec: version }
      batch.push({ version, block, writes: [...unique.values()] })
    }
    store.add(batch)
    if (random.below(3) === 0) store.finish()
    if (random.below(20) === 0) {
      store.close()
      store = new SegmentStore(path, { isMapped: random.below(2) === 0, cacheBytes: 2 ** 20 })
    }
  }
  store.finish()
  for (const [name, writes] of model) {
    for (let left = 40; left > 0; left--) {
      const version = BigInt(random.below(2_100))
      const expected = writes.findLast(([written]) => written <= version)?.[1] ?? undefined
      const found = store.peek(Buffer.from(name), version)
      if (!found || !expected || Buffer.compare(found, expected) !== 0) expect(found).toEqual(expected)
    }
  }
  store.close()
  rmSync(path, { recursive: true })
})
