import { Buffer } from 'node:buffer'
import { expect, it } from 'vitest'
import { bytes, CHAIN, record } from '../../testing/small-records.ts'
import { temporaryFolder } from '../../testing/temporary-folder.ts'
import { openStateEngine, type StateEngine } from '../open-state-engine.js'
import { listSegments } from '../segments/segment-names.js'

// Counts of files. A look-up touches all of them. A level has seven segments at most when all is merged, and 12 + 3 ×
// (number of levels) while commits come as fast as they can; the data below the window has one more file.

const folder = temporaryFolder()
const LEVELS = 2
const MOST_FILES = LEVELS * (12 + 3 * LEVELS) + 1
const KEYS = 40

function valueAt(version: number, at: number): Uint8Array {
  return Buffer.alloc(300, `${version} ${at};`)
}

/** Commits versions as fast as possible. Returns the most files that there were. */
async function commitAll(engine: StateEngine, versions: number, keys: number): Promise<number> {
  let most = 0
  for (let version = 0; version < versions; version++) {
    const writes = Array.from({ length: keys }, (_, at) => [bytes(`key ${at}`), valueAt(version, at)] as const)
    await engine.commit([record(version, [...writes], version)], CHAIN)
    most = Math.max(most, listSegments(folder.path).length)
  }
  return most
}

it.each([
  ['each commit makes a file', 0, 100, KEYS],
  ['a memtable makes a file every few commits', 60_000, 120, KEYS],
  ['merges run in the thread', 2_400_000, 60, 1_000],
])('commits do not run ahead of merges: %s', async (_, memtableBytes, versions, keys) => {
  const engine = openStateEngine({ path: folder.path, durability: 'none', memtableBytes })
  expect(await commitAll(engine, versions, keys)).toBeLessThanOrEqual(MOST_FILES)
  await engine.merge()
  for (let again = 0; again < 2; again++) {
    const merged = listSegments(folder.path)
    expect(merged.length).toBeLessThanOrEqual(7 * LEVELS + 1)
    await engine.merge()
    expect(listSegments(folder.path)).toEqual(merged)
    for (const version of [0, versions >> 1, versions - 1]) {
      for (const at of [0, keys - 1]) {
        const found = engine.at(BigInt(version)).get(bytes(`key ${at}`))!
        expect(Buffer.compare(found, valueAt(version, at))).toBe(0)
      }
    }
  }
  expect((await engine.check()).problems).toEqual([])
  await engine.close()
})

it('a merge that is asked for ends when the engine closes', async () => {
  const engine = openStateEngine({ path: folder.path, durability: 'none', memtableBytes: 2_400_000 })
  await commitAll(engine, 30, 1_000)
  const merged = engine.merge()
  const closed = engine.close()
  await Promise.all([merged.catch((error: unknown) => expect(error).toMatchObject({ code: 'store_closed' })), closed])
  const again = openStateEngine({ path: folder.path, durability: 'none' })
  await again.merge()
  expect(again.ledger?.latestVersion).toBe(29n)
  expect((await again.check()).problems).toEqual([])
  await again.close()
})
