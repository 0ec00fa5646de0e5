import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { bundledScript } from '@ledger-state/testing/bundled-script'
import { createRandom, testSeed } from '@ledger-state/testing/random'
import { isSlowRun } from '@ledger-state/testing/slow-run'
import { scaledRounds } from '@ledger-state/testing/test-scale'
import { expect, it, vi } from 'vitest'
import { KNOWN_CHAIN, knownVersion } from '../../testing/known-ledger.ts'
import { temporaryFolder } from '../../testing/temporary-folder.ts'
import { openStateEngine } from '../open-state-engine.js'
import { CatalogCommits } from './catalog-commits.js'
import { openLmdbStore } from './lmdb-store.js'

const SEED = testSeed()
const folder = temporaryFolder()
const EXIT_CODE = 7
const MOST_EXIT_MS = 40

it(`a process can end at any moment of a transaction, and loses nothing (TEST_SEED=${SEED})`, async () => {
  const random = createRandom(SEED)
  const script = await bundledScript(new URL('../../testing/exiting-writer.ts', import.meta.url), {
    threads: [new URL('./catalog-thread.ts', import.meta.url)],
  })
  for (let round = 0; round < scaledRounds(isSlowRun ? 100 : 5); round++) {
    const path = join(folder.path, `store-${round}`)
    const how = random.below(2) === 0 ? 'exit' : 'throw'
    const child = spawnSync(process.execPath, [script, path, how, String(random.below(MOST_EXIT_MS))], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: 60_000,
    })
    expect([how, child.signal, child.status]).toEqual([how, null, how === 'exit' ? EXIT_CODE : 1])
    const engine = openStateEngine({ path, create: false })
    expect(engine.ledger!.latestVersion).toBeGreaterThanOrEqual(BigInt(child.stdout.split('\n').at(-2)!))
    expect((await engine.check()).problems).toEqual([])
    await engine.close()
  }
})

it('a store without the thread commits on the event loop', async () => {
  const write = async (path: string) => {
    const engine = openStateEngine({ path, memtableBytes: 40_000 })
    for (let version = 0n; version < 40n; version++) await engine.commit([knownVersion(version)], KNOWN_CHAIN)
    await engine.merge()
    await engine.prune(10n)
    await engine.truncateTo(35n)
    await engine.close()
  }
  const commits = vi.spyOn(CatalogCommits.prototype, 'commit')
  await write(join(folder.path, 'with'))
  expect(commits.mock.calls.length).toBeGreaterThan(2)
  const made = commits.mock.calls.length
  vi.spyOn(CatalogCommits.prototype, 'canCommit').mockResolvedValue(false)
  await write(join(folder.path, 'without'))
  expect(commits.mock.calls.length).toBe(made)
  vi.restoreAllMocks()
  for (const name of readdirSync(folder.path)) {
    const engine = openStateEngine({ path: join(folder.path, name), create: false })
    expect(engine.ledger).toMatchObject({ latestVersion: 35n, oldestVersion: 30n })
    expect((await engine.check()).problems).toEqual([])
    await engine.close()
  }
})

/** Opens the engine with another module in the place of the thread's. */
async function engineWithThread(module: string) {
  const url = new URL(`data:text/javascript,${encodeURIComponent(module)}`)
  vi.resetModules()
  vi.doMock('@ledger-state/core/threads', async (original) => ({
    ...(await original<typeof import('@ledger-state/core/threads')>()),
    threadModule: (name: string) => (name === 'catalog-thread' ? url : undefined),
  }))
  const { openStateEngine: openWithThread } = await import('../open-state-engine.js')
  vi.doUnmock('@ledger-state/core/threads')
  return openWithThread
}

async function expectTwoVersions(path: string): Promise<void> {
  const reopened = openStateEngine({ path, create: false })
  expect(reopened.ledger).toMatchObject({ latestVersion: 1n })
  expect((await reopened.check()).problems).toEqual([])
  await reopened.close()
}

it('an error of the thread fails the transaction, and the next transaction tries again', async () => {
  const flag = join(folder.path, 'broken-thread')
  const open = await engineWithThread(`
    import { existsSync } from 'node:fs'
    import { parentPort } from 'node:worker_threads'
    const on = parentPort.on.bind(parentPort)
    parentPort.on = (name, listener) => on(name, (message) => {
      if (message?.request.kind === 'commit' && existsSync(${JSON.stringify(flag)})) throw new Error('no LMDB')
      return listener(message)
    })
    await import(${JSON.stringify(new URL('./catalog-thread.ts', import.meta.url).href)})`)
  const path = join(folder.path, 'broken')
  const engine = open({ path })
  writeFileSync(flag, '')
  for (let attempt = 0; attempt < 2; attempt++) {
    await expect(engine.commit([knownVersion(0n)], KNOWN_CHAIN)).rejects.toMatchObject({
      code: 'store_failed',
      message: 'the store failed: a thread of the store failed: Error: no LMDB',
    })
    expect(engine.ledger).toBeUndefined()
  }
  rmSync(flag)
  for (let version = 0n; version < 2n; version++) await engine.commit([knownVersion(version)], KNOWN_CHAIN)
  await engine.merge()
  await engine.close()
  await expectTwoVersions(path)
})

it('a store whose thread cannot load its module commits on the event loop', async () => {
  const open = await engineWithThread("throw new Error('no module')")
  const path = join(folder.path, 'unable')
  const engine = open({ path })
  for (let version = 0n; version < 2n; version++) await engine.commit([knownVersion(version)], KNOWN_CHAIN)
  await engine.merge()
  await engine.close()
  await expectTwoVersions(path)
})

it('a transaction of a store whose data file was replaced fails', async () => {
  const path = join(folder.path, 'replaced')
  mkdirSync(path)
  const store = openLmdbStore({ path, readOnly: false })
  const commits = new CatalogCommits({ ...store, storeId: store.storeId + 1n })
  expect(await commits.canCommit()).toBe(true)
  await expect(commits.commit('full', [])).rejects.toMatchObject({
    code: 'store_missing',
    message: expect.stringContaining('replaced'),
  })
  await commits.close()
  await store.root.close()
})
