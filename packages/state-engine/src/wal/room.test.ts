// The zeros behind the records of a WAL file.
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { bytes, CHAIN, record } from '../../testing/small-records.ts'
import { temporaryFolder } from '../../testing/temporary-folder.ts'
import { endOfRecords } from '../../testing/wal-files.ts'
import { openStateEngine, openStateEngineReader, type StateEngine } from '../open-state-engine.js'
import { ROOM_LENGTH } from './record.js'

const folder = temporaryFolder()
const COMMITS = 100

async function commit(engine: StateEngine, version: number, length = 20): Promise<void> {
  await engine.commit([record(version, [[bytes('key'), bytes(`${version}`.padEnd(length))]], version)], CHAIN)
}

it('let small commits leave the size of the file as it is, and are cut off at close', async () => {
  const path = join(folder.path, 'store')
  const file = join(path, 'write-ahead-1')
  const engine = openStateEngine({ path })
  // The first commit of a store goes to a segment file.
  await commit(engine, 0)
  const reader = openStateEngineReader({ path })
  const sizes = new Set<number>()
  for (let version = 1; version <= COMMITS; version++) {
    await commit(engine, version)
    sizes.add(statSync(file).size)
  }
  const end = endOfRecords(file)
  const content = readFileSync(file)
  expect(sizes.size).toBe(Math.ceil((end - 3 * 512) / ROOM_LENGTH))
  expect(content.subarray(end).every((byte) => byte === 0)).toBe(true)
  expect((await reader.check()).unreadableBytes).toBe(0)
  await engine.close()
  expect(readFileSync(file)).toHaveLength(end)
  for (const one of [reader, openStateEngineReader({ path })]) {
    expect(one.ledger!.latestVersion).toBe(BigInt(COMMITS))
    await one.close()
  }
})

it.each([
  ['follow no commit that is as long as they are', { durability: 'full' }, ROOM_LENGTH],
  ['follow no commit that is not synced', { durability: 'ordered' }, 20],
] as const)('%s', async (_, options, length) => {
  const path = join(folder.path, 'store')
  const file = join(path, 'write-ahead-1')
  const engine = openStateEngine({ path, ...options })
  for (const version of [0, 1]) await commit(engine, version, length)
  expect(statSync(file).size).toBe(endOfRecords(file))
  await engine.close()
})

it('are there again once the next writer commits', async () => {
  const path = join(folder.path, 'store')
  const file = join(path, 'write-ahead-1')
  for (let version = 0; version < 4; version++) {
    const engine = openStateEngine({ path })
    await commit(engine, version)
    if (version > 0) expect(statSync(file).size).toBe(endOfRecords(file) + ROOM_LENGTH)
    await engine.close()
    expect(statSync(file).size).toBe(endOfRecords(file))
  }
})
