import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Write } from '@ledger-state/core'
import { isSlowRun } from '@ledger-state/testing/slow-run'
import { SOURCE_OPTIONS } from '@ledger-state/testing/source-process'
import { expect, it } from 'vitest'
import { bytes, CHAIN, record } from '../../testing/small-records.ts'
import { BUSY_WRITER, expectSoundCopy } from '../../testing/sound-copy.ts'
import { temporaryFolder } from '../../testing/temporary-folder.ts'
import { STORE_FILE } from '../lmdb/lmdb-store.js'
import { openStateEngine, openStateEngineReader } from '../open-state-engine.js'

const folder = temporaryFolder()

it.each([false, true])('a store copies itself while it is written (compact: %s)', async (compact) => {
  const engine = openStateEngine({ path: folder.path, durability: 'none' })
  const commit = async (from: number) => {
    for (let version = from; version < from + 300; version++) {
      const writes: Write[] = [[bytes(`k${version % 7}`), bytes(`v${version}`.padEnd(3_000))]]
      await engine.commit([record(version, writes, version)], CHAIN)
    }
  }
  await commit(0)
  const copyPath = join(folder.path, 'copy')
  const copying = engine.snapshot(copyPath, { compact })
  await commit(300)
  await copying
  const copy = openStateEngine({ path: copyPath })
  const { latestVersion } = copy.ledger!
  expect(latestVersion).toBeGreaterThanOrEqual(299n)
  expect(latestVersion).toBeLessThanOrEqual(599n)
  expect((await copy.check()).problems).toEqual([])
  expect(
    Buffer.from(copy.at(299n).get(bytes('k5'))!)
      .toString()
      .trim(),
  ).toBe('v299')
  await copy.commit([record(latestVersion + 1n, [], Number(latestVersion) + 1)], CHAIN)
  await copy.close()
  await expect(engine.snapshot(copyPath)).rejects.toMatchObject({ code: 'store_not_empty' })
  await engine.close()
})

// take-snapshot.slow.test.ts runs a busy writer at each step of a snapshot.
it.runIf(isSlowRun)(
  'a snapshot copies a store that a writer in another process commits to, merges and prunes',
  async () => {
    const path = join(folder.path, 'store')
    const writer = spawn(process.execPath, [...SOURCE_OPTIONS, BUSY_WRITER, path], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const ended = once(writer, 'close')
    try {
      await once(writer.stdout, 'data')
      writer.stdout.resume()
      const reader = openStateEngineReader({ path })
      for (let at = 0; at < 6; at++) {
        const before = reader.ledger!
        const copyPath = join(folder.path, `copy ${at}`)
        await reader.snapshot(copyPath, { compact: at % 2 === 1 })
        expect((await reader.check()).problems).toEqual([])
        await expectSoundCopy(copyPath, before)
      }
      await reader.close()
    } finally {
      writer.kill('SIGKILL')
      await ended
    }
  },
)

it('a snapshot says that a file of the store is missing, and leaves nothing', async () => {
  const path = join(folder.path, 'store')
  const engine = openStateEngine({ path })
  for (let version = 0; version < 3; version++) await engine.commit([record(version, [], version)], CHAIN)
  await engine.close()
  const reader = openStateEngineReader({ path })
  rmSync(join(path, 'write-ahead-1'))
  const copyPath = join(folder.path, 'copy')
  await expect(reader.snapshot(copyPath)).rejects.toThrow(/write-ahead-1 at byte 0: the file is missing/)
  expect(readdirSync(copyPath)).toEqual([])
  await reader.close()
})

it('a snapshot has the commits that are not merged, and nothing of a snapshot that was interrupted', async () => {
  const path = join(folder.path, 'store')
  const engine = openStateEngine({ path })
  for (let version = 0; version < 5; version++) await engine.commit([record(version, [], version)], CHAIN)
  const copyPath = join(folder.path, 'copy')
  cpSync(path, copyPath, { recursive: true, filter: (name) => !name.includes(STORE_FILE) })
  writeFileSync(join(copyPath, 'write-ahead-2'), 'of a snapshot that was interrupted')
  await engine.snapshot(copyPath)
  await engine.close()
  const copy = openStateEngineReader({ path: copyPath })
  expect(copy.ledger?.latestVersion).toBe(4n)
  expect(await copy.check()).toMatchObject({ problems: [], unmergedCommits: 4 })
  await copy.close()
})
