import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { LedgerInfo, Write } from '@ledger-state/core'
import { SOURCE_OPTIONS } from '@ledger-state/testing/source-process'
import { describe, expect, it } from 'vitest'
import { differences, KNOWN_CHAIN, knownVersion } from '../../testing/known-ledger.ts'
import { bytes, CHAIN, record } from '../../testing/small-records.ts'
import { temporaryFolder } from '../../testing/temporary-folder.ts'
import { type LmdbStore, openLmdbStore } from '../lmdb/lmdb-store.js'
import { openStateEngine, openStateEngineReader } from '../open-state-engine.js'
import { takeSnapshot } from './take-snapshot.js'

const folder = temporaryFolder()

it.each([false, true])('copies itself while it is written (compact: %s)', async (compact) => {
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

/** Commits, rotates, merges and prunes all the time. */
const WRITER = fileURLToPath(new URL('../../testing/crash-writer.ts', import.meta.url))

async function expectSoundCopy(path: string, before: LedgerInfo): Promise<void> {
  const copy = openStateEngine({ path })
  const { oldestVersion, latestVersion } = copy.ledger!
  expect(latestVersion).toBeGreaterThanOrEqual(before.latestVersion)
  expect((await copy.check()).problems).toEqual([])
  for (const version of [oldestVersion, (oldestVersion + latestVersion) / 2n, latestVersion]) {
    expect(differences(copy.at(version))).toEqual([])
  }
  await copy.commit([knownVersion(latestVersion + 1n)], KNOWN_CHAIN)
  await copy.close()
}

it('copies a store that a writer in another process commits to, merges and prunes', { timeout: 120_000 }, async () => {
  const path = join(folder.path, 'store')
  const writer = spawn(process.execPath, [...SOURCE_OPTIONS, WRITER, path], { stdio: ['ignore', 'pipe', 'inherit'] })
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
})

describe('a snapshot beside a writer that commits, merges and prunes more than a hundred versions', {
  timeout: 60_000,
}, () => {
  const path = () => join(folder.path, 'store')
  const copyPath = () => join(folder.path, 'copy')

  /** Nothing else of this process runs meanwhile. */
  function runWriter(): void {
    const { signal } = spawnSync(process.execPath, [...SOURCE_OPTIONS, WRITER, path(), 'commit: done', '12'])
    expect(signal).toBe('SIGKILL')
  }

  type Backup = LmdbStore['root']['backup']

  /** Takes what is done in place of the copy of the data file, with that copy. */
  async function copyWith(around: (backup: Backup) => Backup): Promise<LedgerInfo> {
    runWriter()
    const reader = openStateEngineReader({ path: path() })
    const before = reader.ledger!
    await reader.close()
    const store = openLmdbStore({ path: path(), readOnly: true, durability: 'full', verifyReads: true })
    const backup: Backup = (file, compact) => store.root.backup(file, compact)
    const root = { backup: around(backup) } as LmdbStore['root']
    try {
      await takeSnapshot({ ...store, root }, copyPath(), false)
    } finally {
      await store.root.close()
    }
    return before
  }

  /** The writer runs before the copy, and after it has begun, before anybody can see that: its files come and go. */
  const runUnseen =
    (backup: Backup): Backup =>
    (file, compact) => {
      runWriter()
      const copied = backup(file, compact)
      waitUntilBegun(file)
      runWriter()
      return copied
    }

  /** Nothing else of this process runs meanwhile. */
  function waitUntilBegun(file: string): void {
    const nothing = new Int32Array(new SharedArrayBuffer(4))
    while (!statSync(file, { throwIfNoEntry: false })?.size) Atomics.wait(nothing, 0, 0, 1)
  }

  it('has what was there when the data file was copied, although files were merged and removed since', async () => {
    const before = await copyWith((backup) => async (file, compact) => {
      await backup(file, compact)
      runWriter()
    })
    await expectSoundCopy(copyPath(), before)
  })

  it('has the window of the data file, although it was opened before and the files were merged after', async () => {
    let copies = 0
    const before = await copyWith((backup) => async (file, compact) => {
      // A copy that is over before its files were opened is taken again.
      if (copies++ > 0) return backup(file, compact)
      runWriter()
      await backup(file, compact)
      runWriter()
    })
    await expectSoundCopy(copyPath(), before)
  })

  it('has what was there before the copy, although the files that followed came and went before they could be opened', async () => {
    let copies = 0
    const before = await copyWith((backup) => (file, compact) => {
      const copied = backup(file, compact)
      if (copies++ > 0) return copied
      waitUntilBegun(file)
      runWriter()
      return copied
    })
    await expectSoundCopy(copyPath(), before)
  })

  it('is taken again if a file came and went before it could be opened', async () => {
    let copies = 0
    const before = await copyWith((backup) => (file, compact) => {
      return copies++ === 0 ? runUnseen(backup)(file, compact) : backup(file, compact)
    })
    expect(copies).toBe(2)
    await expectSoundCopy(copyPath(), before)
  })
})

it('says that a file of the store is missing, and leaves nothing', async () => {
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

it('has the commits that are not merged, and nothing of a snapshot that was interrupted', async () => {
  const path = join(folder.path, 'store')
  const engine = openStateEngine({ path })
  for (let version = 0; version < 5; version++) await engine.commit([record(version, [], version)], CHAIN)
  const copyPath = join(folder.path, 'copy')
  cpSync(path, copyPath, { recursive: true, filter: (name) => !name.includes('state.mdb') })
  writeFileSync(join(copyPath, 'write-ahead-2'), 'of a snapshot that was interrupted')
  await engine.snapshot(copyPath)
  await engine.close()
  const copy = openStateEngineReader({ path: copyPath })
  expect(copy.ledger?.latestVersion).toBe(4n)
  expect(await copy.check()).toMatchObject({ problems: [], unmergedCommits: 4 })
  await copy.close()
})
