import { rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isLedgerStateError } from '@ledger-state/core'
import { createRandom, testSeed } from '@ledger-state/testing/random'
import { beforeEach, expect, it, vi } from 'vitest'
import { changeByte } from '../../testing/page-damage.ts'
import { bytes, CHAIN, record } from '../../testing/small-records.ts'
import { temporaryFolder } from '../../testing/temporary-folder.ts'
import { openStateEngine, openStateEngineReader } from '../open-state-engine.js'
import { listSegments, segmentPath } from '../segments/segment-names.js'

const folder = temporaryFolder()
const EVERY_KEY = new Uint8Array(0)

beforeEach(async () => {
  vi.stubEnv('LEDGER_STATE_LAYOUT', '11')
  const engine = openStateEngine({ path: folder.path, memtableBytes: 0, durability: 'none' })
  for (let version = 0; version < 12; version++) {
    const writes = Array.from({ length: 50 }, (_, at) => [bytes(`key ${at}`), bytes(`${version} ${at}`)] as const)
    await engine.commit([record(version, [...writes], version)], CHAIN)
  }
  await engine.close()
  return () => vi.unstubAllEnvs()
})

async function problemsOf(path: string): Promise<readonly string[]> {
  const reader = openStateEngineReader({ path })
  try {
    return (await reader.check()).problems
  } finally {
    await reader.close()
  }
}

/** Reads everything. Returns the fault if there is one; what was read before is right. */
async function readAll(path: string): Promise<string | undefined> {
  const reader = openStateEngineReader({ path })
  try {
    for (let version = 0n; version < 12n; version++) {
      for (const { key, value } of reader.at(version).scan(EVERY_KEY)) {
        expect(Buffer.from(value).toString()).toBe(`${version} ${Buffer.from(key).toString().slice(4)}`)
      }
    }
    for (const { version } of reader.history(bytes('key 7'))) expect(version).toBeLessThan(12n)
    for (const { writes } of reader.versions(1n, 11n)) expect(writes.length).toBe(50)
    for (let version = 0n; version < 12n; version++) expect(reader.blockAt(version).block.height).toBe(version)
    return undefined
  } catch (error) {
    if (!isLedgerStateError(error, 'store_corrupt')) throw error
    return error.message
  } finally {
    await reader.close()
  }
}

it('the check finds a flipped bit in any segment file, and no read answers wrong', async () => {
  const random = createRandom(testSeed())
  expect([await problemsOf(folder.path), await readAll(folder.path)]).toEqual([[], undefined])
  const files = listSegments(folder.path)
  expect(files.length).toBeGreaterThan(1)
  for (let flip = 0; flip < 40; flip++) {
    const path = segmentPath(folder.path, random.pick(files))
    const { size } = statSync(path)
    const offset = random.below(3) === 0 ? random.below(size) : size - 1 - random.below(6_000)
    const bit = 1 << random.below(8)
    changeByte(path, offset, bit)
    const problems = await problemsOf(folder.path)
    expect(problems.join(), `byte ${offset}, seed ${testSeed()}`).toContain(path)
    const fault = await readAll(folder.path)
    if (fault !== undefined) expect(fault).toContain(path)
    changeByte(path, offset, bit)
  }
  expect(await problemsOf(folder.path)).toEqual([])
})

it('a segment file that is gone is reported by every read, and by the check', async () => {
  const [file] = listSegments(folder.path)
  rmSync(segmentPath(folder.path, file!))
  expect(await readAll(folder.path)).toBe(
    `the store is damaged: ${segmentPath(folder.path, file!)} at byte 0: the file is missing`,
  )
  expect(await problemsOf(folder.path)).toContain(`the store is damaged: the segment file ${file} is missing`)
})

it('a segment file in the place of another is refused', async () => {
  const [one, other] = listSegments(folder.path).slice(-2) as [number, number]
  const { copyFileSync } = await import('node:fs')
  copyFileSync(segmentPath(folder.path, one), segmentPath(folder.path, other))
  expect(await readAll(folder.path)).toContain('the file is not the one that the catalog names')
})

it('a writer removes segment files that no row names, and unfinished ones', async () => {
  const { copyFileSync } = await import('node:fs')
  const [one] = listSegments(folder.path)
  const before = listSegments(folder.path)
  copyFileSync(segmentPath(folder.path, one!), segmentPath(folder.path, 900))
  copyFileSync(segmentPath(folder.path, one!), `${segmentPath(folder.path, 901)}.new`)
  await openStateEngine({ path: folder.path }).close()
  expect(listSegments(folder.path).toSorted()).toEqual(before.toSorted())
  expect(statSync(join(folder.path, 'segment-901.new'), { throwIfNoEntry: false })).toBe(undefined)
})
