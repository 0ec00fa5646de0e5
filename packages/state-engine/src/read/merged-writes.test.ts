import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { VersionWrites, Write } from '@ledger-state/core'
import type { MergedWrites } from '@ledger-state/engine'
import { createRandom, testSeed } from '@ledger-state/testing/random'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openStateEngine, openStateEngineReader, type StateEngine } from '../open-state-engine.js'

const folder = mkdtempSync(join(tmpdir(), 'merged-writes-'))
const chainId = 1
const VERSIONS = 400
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

let engine: StateEngine
let history: VersionWrites[]
beforeAll(async () => {
  const random = createRandom(testSeed())
  const annotations = [undefined, Uint8Array.of(4, 7), Uint8Array.of(1)]
  history = Array.from({ length: VERSIONS }, (_, version) => {
    const keys = new Set(Array.from({ length: 1 + random.below(6) }, () => random.below(50)))
    const writes = [...keys].map((key): Write => {
      const name = Uint8Array.of(9, key)
      if (random.below(6) === 0) return [name, null]
      const annotation = random.pick(annotations)
      const value = random.bytes(random.below(300))
      return annotation ? [name, value, annotation] : [name, value]
    })
    const block =
      version % 4 === 0 ? { height: BigInt(version / 4), epoch: 0n, timestampUsec: BigInt(version) } : undefined
    return { version: BigInt(version), block, writes }
  })
  // Small files, several levels, and the newest versions in the memtable.
  engine = openStateEngine({ path: join(folder, 'store'), durability: 'none', memtableBytes: 20_000 })
  for (let at = 0; at < VERSIONS; at += 8) {
    await engine.commit(history.slice(at, at + 8), { chainId })
    if (at % 48 === 0 && at < VERSIONS - 50) await engine.merge()
  }
})
afterAll(async () => {
  await engine.close()
  rmSync(folder, { recursive: true })
})

/** All writes of a range, as texts in the order of versions. */
function textsOf(merged: MergedWrites, first: bigint, last: bigint): string[] {
  const texts: string[] = []
  let key = ''
  let before: { readonly key: string; readonly version: bigint } | undefined
  for (const write of merged.writes(first, last)) {
    if (write.isNewKey) key = hex(write.key)
    else expect(key).toBe(hex(write.key))
    if (!write.isNewKey) expect(write.version).toBeGreaterThan(before!.version)
    before = { key, version: write.version }
    const value = write.value && hex(write.value)
    texts.push(`${String(write.version).padStart(4, '0')} ${key} ${value} ${write.annotation && hex(write.annotation)}`)
  }
  return texts.sort()
}

/** The same, of the versions that `versions` lists. */
function listedTexts(first: bigint, last: bigint): string[] {
  if (first > last) return []
  return [...engine.versions(first, last)]
    .flatMap(({ version, writes }) =>
      writes.map(([key, value, annotation]) => {
        return `${String(version).padStart(4, '0')} ${hex(key)} ${value && hex(value)} ${annotation && hex(annotation)}`
      }),
    )
    .sort()
}

describe('openMergedWrites', () => {
  it('has each merged write of any range once, with its value', () => {
    for (const reader of [engine, openStateEngineReader({ path: join(folder, 'store') })]) {
      const merged = reader.openMergedWrites()
      const last = merged.last!
      expect(last).toBeGreaterThan(100n)
      expect(merged.count).toBeGreaterThan(300)
      for (const [first, end] of [
        [1n, last],
        [1n, 1n],
        [17n, 230n],
        [last, last],
        [5n, 4n],
        [last + 1n, last + 9n],
      ] as const) {
        expect(textsOf(merged, first, end)).toEqual(listedTexts(first, end < last ? end : last))
      }
      merged.close()
      if (reader !== engine) void reader.close()
    }
  })

  it('stays the same while the store merges, commits, prunes and truncates', async () => {
    const merged = engine.openMergedWrites()
    const last = merged.last!
    const before = textsOf(merged, 1n, last)
    const reading = merged.writes(1n, last)[Symbol.iterator]()
    reading.next()
    await engine.merge()
    await engine.prune(100n)
    await engine.truncateTo(399n - 40n)
    await engine.merge()
    let rest = 1
    while (!reading.next().done) rest++
    expect(rest).toBe(before.length)
    expect(textsOf(merged, 1n, last)).toEqual(before)
    merged.close()
    const after = engine.openMergedWrites()
    const cut = engine.ledger!.latestVersion
    for (const { version } of after.writes(0n, 10_000n)) expect(version).toBeLessThanOrEqual(cut)
    after.close()
  })

  it('is empty for a store without merged versions', async () => {
    const empty = openStateEngine({ path: join(folder, 'empty'), durability: 'none' })
    const merged = empty.openMergedWrites()
    expect([merged.last, merged.count, [...merged.writes(0n, 9n)]]).toEqual([undefined, 0, []])
    merged.close()
    await empty.close()
  })
})
