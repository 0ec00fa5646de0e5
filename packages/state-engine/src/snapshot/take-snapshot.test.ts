import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, linkSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Write } from '@ledger-state/core'
import { eventually } from '@ledger-state/testing/eventually'
import { isSlowRun } from '@ledger-state/testing/slow-run'
import { SOURCE_OPTIONS } from '@ledger-state/testing/source-process'
import { expect, it } from 'vitest'
import { bytes, CHAIN, record } from '../../testing/small-records.ts'
import { BUSY_WRITER, expectSoundCopy } from '../../testing/sound-copy.ts'
import { temporaryFolder } from '../../testing/temporary-folder.ts'
import { LOCK_FILE, STORE_FILE } from '../lmdb/lmdb-store.js'
import { openReaderWithFailpoints, openStateEngine, openStateEngineReader } from '../open-state-engine.js'
import { listSegments, segmentPath } from '../segments/segment-names.js'
import { HeldSegments } from './held-segments.js'

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
  expect(readdirSync(copyPath)).toEqual([LOCK_FILE])
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

/** A store with a segment file. */
async function filledStore(path: string): Promise<void> {
  const engine = openStateEngine({ path })
  for (let version = 0; version < 5; version++)
    await engine.commit([record(version, [[bytes(`k${version}`), bytes('value')]], version)], CHAIN)
  await engine.merge()
  await engine.close()
}

it('of two snapshots into one folder, one has it, whatever step it is at', async () => {
  const path = join(folder.path, 'store')
  await filledStore(path)
  const segments = () => listSegments(path).map((file) => readFileSync(segmentPath(path, file)).toString('hex'))
  const before = segments()
  const second = openStateEngineReader({ path })
  const steps = new Set<string>()
  const refused: Promise<unknown>[] = []
  const copyPath = join(folder.path, 'copy')
  const first = openReaderWithFailpoints({ path }, (step) => {
    if (!step.startsWith('snapshot: ') || steps.has(step)) return
    steps.add(step)
    refused.push(second.snapshot(copyPath).catch((error: unknown) => error))
  })
  await first.snapshot(copyPath)
  expect(steps.size).toBe(3)
  for (const error of await Promise.all(refused)) {
    expect(error).toMatchObject({ code: 'store_locked', fields: { holder: 'self' } })
  }
  await expect(second.snapshot(copyPath)).rejects.toMatchObject({ code: 'store_not_empty' })
  expect(segments()).toEqual(before)
  expect((await second.check()).problems).toEqual([])
  const copy = openStateEngine({ path: copyPath, create: false })
  expect((await copy.check()).problems).toEqual([])
  expect(copy.ledger?.latestVersion).toBe(4n)
  for (const engine of [first, second, copy]) await engine.close()
})

it.each(['snapshot: files held', 'snapshot: data file copied', 'snapshot: file copied'] as const)(
  'a signal at "%s" ends a copy, of which nothing but the lock file is left, and the next one is whole',
  async (stopped) => {
    const path = join(folder.path, 'store')
    await filledStore(path)
    const end = new AbortController()
    const reader = openReaderWithFailpoints({ path }, (step) => step === stopped && end.abort())
    const copyPath = join(folder.path, 'copy')
    const { signal } = end
    await expect(reader.snapshot(copyPath, { signal })).rejects.toMatchObject({ name: 'AbortError' })
    expect(readdirSync(copyPath)).toEqual([LOCK_FILE])
    await expect(reader.snapshot(copyPath, { signal })).rejects.toMatchObject({ name: 'AbortError' })
    await reader.snapshot(copyPath)
    const copy = openStateEngineReader({ path: copyPath })
    expect((await copy.check()).problems).toEqual([])
    for (const engine of [reader, copy]) await engine.close()
  },
)

it('a signal during the compaction of a copy leaves the whole copy', async () => {
  const path = join(folder.path, 'store')
  await filledStore(path)
  const reader = openStateEngineReader({ path })
  const copyPath = join(folder.path, 'copy')
  const end = new AbortController()
  const copying = reader.snapshot(copyPath, { compact: true, signal: end.signal })
  await eventually(
    () => existsSync(join(copyPath, STORE_FILE)),
    () => 'a copy with its name',
  )
  end.abort()
  // It may be done by then.
  await copying.catch((error: unknown) => expect(error).toBe(end.signal.reason))
  const copy = openStateEngine({ path: copyPath, create: false })
  expect((await copy.check()).problems).toEqual([])
  expect(copy.ledger).toEqual(reader.ledger)
  for (const engine of [reader, copy]) await engine.close()
})

it('a file that has the name of a copied one stays as it is: it may be the same file', async () => {
  const path = join(folder.path, 'store')
  await filledStore(path)
  const file = listSegments(path)[0]!
  const before = readFileSync(segmentPath(path, file))
  linkSync(segmentPath(path, file), segmentPath(folder.path, file))
  const held = new HeldSegments(path, folder.path, () => {})
  expect(() => held.holdPresent()).toThrow('EEXIST')
  held.close()
  expect(readFileSync(segmentPath(path, file)).equals(before)).toBe(true)
})
