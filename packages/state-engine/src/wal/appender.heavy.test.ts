import { spawnSync } from 'node:child_process'
import { closeSync, readdirSync, readlinkSync } from 'node:fs'
import { eventually } from '@ledger-state/testing/eventually'
import { SOURCE_OPTIONS } from '@ledger-state/testing/source-process'
import { describe, expect, it } from 'vitest'
import { differences, KNOWN_CHAIN, knownVersion } from '../../testing/known-ledger.ts'
import { bytes, CHAIN, record } from '../../testing/small-records.ts'
import { temporaryFolder } from '../../testing/temporary-folder.ts'
import type { Failpoint } from '../failpoints/failpoints.js'
import { openStateEngine, openStateEngineReader, openWithFailpoints } from '../open-state-engine.js'

const folder = temporaryFolder()
const KEY = bytes('key')

const version = (number: number, value = bytes(`value ${number}`)) => record(number, [[KEY, value]], number)

/** Makes writes to the open WAL file fail. */
function closeWalFile(): void {
  for (const descriptor of readdirSync('/proc/self/fd')) {
    const target = (() => {
      try {
        return readlinkSync(`/proc/self/fd/${descriptor}`)
      } catch {
        return ''
      }
    })()
    if (target.startsWith(folder.path) && /write-ahead-\d+$/.test(target)) closeSync(Number(descriptor))
  }
}

describe('a commit that fails', () => {
  it.skipIf(process.platform === 'win32')(
    'for a full disk (here a limit on file sizes) leaves no trace, in any step',
    () => {
      const url = (path: string) => JSON.stringify(new URL(path, import.meta.url).href)
      // Segment files reach the limit when the memtable is written, WAL files when a commit is appended.
      const write = `
      const { openStateEngine } = await import(${url('../index.ts')})
      const { KNOWN_CHAIN, knownVersion } = await import(${url('../../testing/known-ledger.ts')})
      const engine = openStateEngine({ path: ${JSON.stringify(folder.path)}, memtableBytes: 300_000 })
      let version = 0n
      let failures = 0
      for (let tries = 0; tries < 400; tries++) {
        const length = tries % 50 === 49 ? 1_200 : 10
        const before = engine.ledger?.latestVersion
        try {
          await engine.commit(Array.from({ length }, (_, at) => knownVersion(version + BigInt(at))), KNOWN_CHAIN)
          version += BigInt(length)
        } catch (error) {
          failures++
          if (engine.ledger?.latestVersion !== before) console.log('changed')
          if (!/^store_f/.test(error.code)) console.log(error.message)
        }
      }
      console.log(String(version), failures)
      await engine.close()`
      const limited = `ulimit -f 130; exec "$0" ${SOURCE_OPTIONS.join(' ')} --input-type=module -e "$1"`
      const { stdout, stderr } = spawnSync('bash', ['-c', limited, process.execPath, write], { encoding: 'utf8' })
      const lines = stdout.trim().split('\n')
      expect(lines, stderr).toEqual([expect.stringMatching(/^\d+ \d+$/)])
      const [version, failures] = lines[0]!.split(' ')
      expect(Number(failures)).toBeGreaterThan(5)
      const engine = openStateEngine({ path: folder.path })
      expect(engine.ledger?.latestVersion).toBe(BigInt(version!) - 1n)
      for (const share of [0n, 1n, 2n, 3n]) {
        expect(differences(engine.at((engine.ledger!.latestVersion * share) / 3n))).toEqual([])
      }
      return engine.commit([knownVersion(BigInt(version!))], KNOWN_CHAIN).then(() => engine.close())
    },
  )

  it.skipIf(process.platform !== 'linux')(
    'and cannot be undone stops the writer until the store is opened again',
    async () => {
      const engine = openStateEngine({ path: folder.path })
      await engine.commit([version(0)], CHAIN)
      await engine.commit([version(1)], CHAIN)
      closeWalFile()
      const broken = expect.objectContaining({
        code: 'store_failed',
        message: expect.stringMatching(/reopen the store/),
      })
      for (let tries = 0; tries < 2; tries++) await expect(engine.commit([version(2)], CHAIN)).rejects.toEqual(broken)
      await expect(engine.flush()).rejects.toEqual(broken)
      expect(engine.ledger?.latestVersion).toBe(1n)
      expect(engine.at().get(KEY)).toEqual(Buffer.from('value 1'))
      await engine.close().catch(() => {})
      const again = openStateEngine({ path: folder.path })
      await again.commit([version(2)], CHAIN)
      expect((await again.check()).problems).toEqual([])
      await again.close()
    },
  )

  const points: readonly Failpoint[] = [
    'commit: appended',
    'commit: synced',
    'rotation: file created',
    'rotation: sealed',
  ]
  it.each(points)('at ‘%s’ leaves no trace for a reader, a writer, or the next opener', async (point) => {
    const { path } = folder
    let aborts = false
    let failed = false
    const engine = openWithFailpoints({ path, memtableBytes: 4_000 }, (reached) => {
      if (!aborts || reached !== point) return
      failed = true
      throw new Error('aborted by the test')
    })
    await engine.commit([version(0)], CHAIN)
    const reader = openStateEngineReader({ path })
    let next = 1
    for (; next < 200; next++) {
      aborts = true
      failed = false
      const commit = engine.commit([version(next, bytes('another, longer value'))], CHAIN)
      await commit.then(
        () => expect(failed).toBe(false),
        () => expect(failed).toBe(true),
      )
      aborts = false
      if (!failed) continue
      expect(engine.ledger?.latestVersion).toBe(BigInt(next - 1))
      await engine.commit([version(next)], CHAIN)
    }
    await eventually(
      () => reader.ledger?.latestVersion === BigInt(next - 1),
      () => `version ${next - 1}, not ${reader.ledger?.latestVersion}`,
    )
    await reader.close()
    await engine.close()
    const again = openStateEngine({ path })
    expect(again.ledger?.latestVersion).toBe(BigInt(next - 1))
    expect((await again.check()).problems).toEqual([])
    await again.close()
  })
})

describe('commits that are not awaited', () => {
  it('are made in the order of their calls, even while merges hold some up, until the engine is closed', async () => {
    const engine = openStateEngine({ path: folder.path, memtableBytes: 20_000, durability: 'none' })
    const batches = Array.from({ length: 60 }, (_, at) =>
      Array.from({ length: at % 9 === 0 ? 30 : 3 }, (_, place) => ({ at, place })),
    )
    let next = 0n
    const commits = batches.map((batch) =>
      engine.commit(
        batch.map(() => knownVersion(next++)),
        KNOWN_CHAIN,
      ),
    )
    await Promise.all(commits)
    expect(engine.ledger?.latestVersion).toBe(next - 1n)
    expect(differences(engine.at())).toEqual([])
    const late = Array.from({ length: 40 }, () => engine.commit([knownVersion(next++)], KNOWN_CHAIN))
    const settled = Promise.allSettled(late)
    await engine.close()
    const results = (await settled).map((result) => (result.status === 'fulfilled' ? 'made' : result.reason.code))
    // The commits that succeeded are the first ones.
    expect(results).toEqual([...results].sort((a, b) => (a === b ? 0 : a === 'made' ? -1 : 1)))
    const again = openStateEngine({ path: folder.path })
    expect(again.ledger?.latestVersion).toBe(next - 1n - BigInt(results.filter((result) => result !== 'made').length))
    expect((await again.check()).problems).toEqual([])
    await again.close()
  })

  it('share a write and a sync where they wait for the same turn', async () => {
    let syncs = 0
    const engine = openWithFailpoints({ path: folder.path }, (point) => {
      if (point === 'commit: synced') syncs++
    })
    await engine.commit([version(0)], CHAIN)
    await Promise.all(Array.from({ length: 50 }, (_, at) => engine.commit([version(at + 1)], CHAIN)))
    // The first sync may begin at once, and the other commits wait for it.
    expect(syncs).toBeLessThanOrEqual(2)
    expect(engine.ledger?.latestVersion).toBe(50n)
    await engine.close()
  })

  it('fail by themselves, and the next ones succeed', async () => {
    const engine = openStateEngine({ path: folder.path })
    await engine.commit([version(0)], CHAIN)
    const twice = record(
      2,
      [
        [KEY, KEY],
        [bytes('other'), KEY],
        [KEY, null],
      ],
      2,
    )
    const results = await Promise.allSettled([
      engine.commit([version(1)], CHAIN),
      engine.commit([twice], CHAIN),
      engine.commit([version(3)], CHAIN),
      engine.commit([version(2)], { chainId: 8 }),
      engine.commit([version(2)], CHAIN),
      engine.commit([], CHAIN),
      engine.commit([version(3)], CHAIN),
    ])
    const codes = results.map((result) => (result.status === 'fulfilled' ? 'made' : result.reason.code))
    expect(codes).toEqual(['made', 'duplicate_key', 'version_gap', 'chain_id_mismatch', 'made', 'made', 'made'])
    expect([...engine.history(KEY)].map((one) => one.version)).toEqual([3n, 2n, 1n, 0n])
    expect(engine.at().get(bytes('other'))).toBeUndefined()
    await engine.close()
    const again = openStateEngine({ path: folder.path })
    expect((await again.check()).problems).toEqual([])
    expect(again.ledger?.latestVersion).toBe(3n)
    await again.close()
  })

  it('are seen by nobody before they are made, and leave nothing where they are not', async () => {
    const { path } = folder
    const reports: unknown[] = []
    let aborts = true
    const engine = openWithFailpoints({ path }, (point) => {
      if (point !== 'commit: appended' || engine.ledger?.latestVersion !== 1n) return
      reports.push(reportOf())
      if (aborts) throw new Error('aborted by the test')
    })
    const reportOf = () => [
      engine.ledger,
      [...engine.at().scan(bytes(''))],
      [...engine.history(KEY)],
      engine.blockAt(1n),
      [...engine.versions(1n, engine.ledger!.latestVersion)],
    ]
    await engine.commit([version(0)], CHAIN)
    await engine.commit([version(1)], CHAIN)
    const before = reportOf()
    const commitTwo = () =>
      engine.commit(
        [
          record(
            2,
            [
              [bytes('a new key'), KEY],
              [KEY, null],
            ],
            2,
          ),
        ],
        CHAIN,
      )
    await expect(commitTwo()).rejects.toThrow('aborted by the test')
    expect(reportOf()).toEqual(before)
    aborts = false
    await commitTwo()
    expect(reports).toEqual([before, before])
    expect([...engine.at().scan(bytes(''))].map(({ key }) => Buffer.from(key).toString())).toEqual(['a new key'])
    expect((await engine.check()).problems).toEqual([])
    await engine.close()
  })

  it.skipIf(process.platform === 'win32')(
    'are made up to the one for which a full disk (here a limit on file sizes) has no room',
    async () => {
      const url = (path: string) => JSON.stringify(new URL(path, import.meta.url).href)
      const write = `
      const { openStateEngine } = await import(${url('../index.ts')})
      const { KNOWN_CHAIN, knownVersion } = await import(${url('../../testing/known-ledger.ts')})
      const engine = openStateEngine({ path: ${JSON.stringify(folder.path)} })
      await engine.commit([knownVersion(0n)], KNOWN_CHAIN)
      const commits = Array.from({ length: 4000 }, (_, at) => engine.commit([knownVersion(BigInt(at) + 1n)], KNOWN_CHAIN))
      const results = await Promise.allSettled(commits)
      const made = results.filter(({ status }) => status === 'fulfilled').length
      const isPrefix = results.findIndex(({ status }) => status === 'rejected') === made
      console.log(JSON.stringify({ made, isPrefix, full: results[made]?.reason.code, latest: Number(engine.ledger.latestVersion) }))
      process.kill(process.pid, 'SIGKILL')`
      const limited = `ulimit -f 400; exec "$0" ${SOURCE_OPTIONS.join(' ')} --input-type=module -e "$1"`
      const { stdout, stderr } = spawnSync('bash', ['-c', limited, process.execPath, write], { encoding: 'utf8' })
      expect(stdout, stderr).toMatch(/made/)
      const { made, ...others } = JSON.parse(stdout)
      expect(others).toEqual({ isPrefix: true, full: expect.stringMatching(/^store_f/), latest: made })
      const engine = openStateEngine({ path: folder.path })
      expect(engine.ledger?.latestVersion).toBe(BigInt(made))
      expect(differences(engine.at())).toEqual([])
      expect((await engine.check()).problems).toEqual([])
      await engine.close()
    },
  )
})
