import { existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { VersionWrites, Write } from '@ledger-state/core'
import type { MergedWrites } from '@ledger-state/engine'
import { createRandom, testSeed } from '@ledger-state/testing/random'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openSegmentFiles } from '../../testing/open-files.ts'
import { RecordBuilder } from '../bytes/record.js'
import { putMerged } from '../compaction/merge-level.js'
import { openLmdbStore } from '../lmdb/lmdb-store.js'
import { runTransaction } from '../lmdb/write-transaction.js'
import { openStateEngine, openStateEngineReader, type StateEngine } from '../open-state-engine.js'
import { listSegmentRows } from '../records/segment-rows.js'
import { listSegments, segmentPath } from '../segments/segment-names.js'

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

/** A store of some files, after a merge of others. */
async function filledStore(name: string): Promise<string> {
  const path = join(folder, name)
  const filled = openStateEngine({ path, durability: 'none', memtableBytes: 0 })
  for (let version = 0; version < 12; version++) {
    await filled.commit(history.slice(4 * version, 4 * version + 4), { chainId })
    await filled.merge()
  }
  await filled.close()
  return path
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

  it('has the newest files, even if the numbers of a merge are below those of a later flush', async () => {
    const path = await filledStore('renamed')
    const reader = openStateEngineReader({ path })
    const before = textsOf(reader.openMergedWrites(), 0n, 99n)
    const store = openLmdbStore({ path, readOnly: false, durability: 'none' })
    const rows = listSegmentRows(store)
    // A number that was given to nobody, such as to a merge that was slower than a flush.
    const [row, file] = [rows.at(-1)!, rows[0]!.file + 1]
    expect(rows.some((other) => other.file === file)).toBe(false)
    renameSync(segmentPath(path, row.file), segmentPath(path, file))
    runTransaction(store.root, 'none', () => {
      expect(putMerged(store, new RecordBuilder(), [row], [{ ...row, file }])).toBe(true)
    })
    const merged = reader.openMergedWrites()
    expect(textsOf(merged, 0n, 99n)).toEqual(before)
    merged.close()
    await store.root.close()
    await reader.close()
  })

  it.runIf(existsSync('/proc/self/fd'))('leaves no file open if one cannot be opened', async () => {
    const path = await filledStore('without a file')
    const reader = openStateEngineReader({ path })
    expect([...reader.at().scan(new Uint8Array(0))].length).toBeGreaterThan(0)
    const before = openSegmentFiles(path)
    expect(before.length).toBeGreaterThan(3)
    // The reader itself has it open.
    rmSync(segmentPath(path, Math.min(...listSegments(path))))
    const deleted = openSegmentFiles(path)
    for (let times = 0; times < 3; times++) {
      expect(() => reader.openMergedWrites()).toThrow(/segment-\d+ at byte 0: the file is missing/)
    }
    expect(openSegmentFiles(path)).toEqual(deleted)
    await reader.close()
    expect(openSegmentFiles(path)).toEqual([])
  })
})
