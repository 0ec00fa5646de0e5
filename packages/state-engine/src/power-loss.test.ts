import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRandom, testSeed } from '@ledger-state/testing/random'
import { describe, expect, it } from 'vitest'
import { differences, KNOWN_CHAIN, knownVersion } from '../testing/known-ledger.ts'
import { temporaryFolder } from '../testing/temporary-folder.ts'
import { STORE_FILE } from './lmdb/lmdb-store.js'
import { openStateEngine } from './open-state-engine.js'

const PAGE = 4_096
const SECTOR = 512
const ROUNDS = 15
const SEED = testSeed()
const folder = temporaryFolder()

/** The data file before and after one commit, of a store that has some history. */
async function twoStates(): Promise<{ before: Buffer; after: Buffer }> {
  const { path } = folder
  const file = join(path, STORE_FILE)
  const engine = openStateEngine({ path, durability: 'none' })
  const batch = (first: bigint) => Array.from({ length: 10 }, (_, at) => knownVersion(first + BigInt(at)))
  for (let version = 0n; version < 400n; version += 10n) {
    await engine.commit(batch(version), KNOWN_CHAIN)
    if (version % 50n === 40n) await engine.prune(60n)
  }
  const before = readFileSync(file)
  await engine.commit(batch(400n), KNOWN_CHAIN)
  const after = readFileSync(file)
  await engine.close()
  return { before, after }
}

function changedPages(before: Buffer, after: Buffer): number[] {
  const pages: number[] = []
  for (let page = 0; page * PAGE < after.length; page++) {
    const at = page * PAGE
    if (!before.subarray(at, at + PAGE).equals(after.subarray(at, at + PAGE))) pages.push(page)
  }
  return pages
}

async function expectState(content: Buffer, latestVersion: bigint): Promise<void> {
  const path = mkdtempSync(join(tmpdir(), 'engine-torn-'))
  try {
    writeFileSync(join(path, STORE_FILE), content)
    const engine = openStateEngine({ path })
    expect(engine.ledger?.latestVersion).toBe(latestVersion)
    expect((await engine.check()).problems).toEqual([])
    const { oldestVersion } = engine.ledger!
    for (const version of [oldestVersion, oldestVersion + 7n, latestVersion]) {
      expect(differences(engine.at(version))).toEqual([])
    }
    await engine.commit([knownVersion(latestVersion + 1n)], KNOWN_CHAIN)
    await engine.close()
  } finally {
    rmSync(path, { recursive: true })
  }
}

describe(`a loss of power (TEST_SEED=${SEED})`, () => {
  /** A commit flushes all pages, and only then writes the meta page, of which there are two. */
  it('before the meta page is written leaves the state before, whichever pages had come to the disk', async () => {
    const random = createRandom(SEED)
    const { before, after } = await twoStates()
    const pages = changedPages(before, after).filter((page) => page > 1)
    expect(pages.length).toBeGreaterThan(5)
    for (let round = 0; round < ROUNDS; round++) {
      const torn = Buffer.alloc(after.length)
      before.copy(torn)
      for (const page of pages) {
        if (random.below(2) === 0) continue
        // Some pages only in part.
        const sectors = random.below(10) < 3 ? random.below(8) : PAGE / SECTOR
        after.copy(torn, page * PAGE, page * PAGE, page * PAGE + sectors * SECTOR)
      }
      await expectState(torn, 399n)
    }
  })

  it('while the meta page is written leaves the state before or the state after', async () => {
    const { before, after } = await twoStates()
    const [meta, ...others] = changedPages(before, after).filter((page) => page <= 1)
    expect(others).toEqual([])
    for (let sectors = 0; sectors <= PAGE / SECTOR; sectors++) {
      const torn = Buffer.from(after)
      before.copy(torn, meta! * PAGE, meta! * PAGE, (meta! + 1) * PAGE)
      after.copy(torn, meta! * PAGE, meta! * PAGE, meta! * PAGE + sectors * SECTOR)
      await expectState(torn, sectors === 0 ? 399n : 409n)
    }
  })
})
