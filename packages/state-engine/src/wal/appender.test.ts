import { spawnSync } from 'node:child_process'
import { closeSync, readdirSync, readlinkSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
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

/** Makes writes to the open write-ahead file fail. */
function closeWriteAheadFile(): void {
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
      // The data file reaches the limit while it is merged into, the write-ahead files while they are appended to.
      const write = `
      const { openStateEngine } = await import(${url('../index.ts')})
      const { KNOWN_CHAIN, knownVersion } = await import(${url('../../testing/known-ledger.ts')})
      const engine = openStateEngine({ path: ${JSON.stringify(folder.path)}, memoryTableBytes: 300_000 })
      let version = 0n
      let failures = 0
      while (failures < 20) {
        const length = failures % 3 === 2 ? 600 : 10
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
      console.log(String(version))
      await engine.close()`
      const limited = `ulimit -f 1500; exec "$0" ${SOURCE_OPTIONS.join(' ')} --input-type=module -e "$1"`
      const { stdout, stderr } = spawnSync('bash', ['-c', limited, process.execPath, write], { encoding: 'utf8' })
      const lines = stdout.trim().split('\n')
      expect(lines, stderr).toEqual([expect.stringMatching(/^\d+$/)])
      const engine = openStateEngine({ path: folder.path })
      expect(engine.ledger?.latestVersion).toBe(BigInt(lines[0]!) - 1n)
      for (const share of [0n, 1n, 2n, 3n]) {
        expect(differences(engine.at((engine.ledger!.latestVersion * share) / 3n))).toEqual([])
      }
      return engine.commit([knownVersion(BigInt(lines[0]!))], KNOWN_CHAIN).then(() => engine.close())
    },
  )

  it.skipIf(process.platform !== 'linux')(
    'and cannot be undone stops the writer until the store is opened again',
    async () => {
      const engine = openStateEngine({ path: folder.path })
      await engine.commit([version(0)], CHAIN)
      await engine.commit([version(1)], CHAIN)
      closeWriteAheadFile()
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
    const engine = openWithFailpoints({ path, memoryTableBytes: 4_000 }, (reached) => {
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
    await sleep(50)
    expect(reader.ledger?.latestVersion).toBe(BigInt(next - 1))
    await reader.close()
    await engine.close()
    const again = openStateEngine({ path })
    expect(again.ledger?.latestVersion).toBe(BigInt(next - 1))
    expect((await again.check()).problems).toEqual([])
    await again.close()
  })
})

describe('commits that are not awaited', () => {
  it('are made in the order of their calls, also while merges hold some up, until the engine is closed', async () => {
    const engine = openStateEngine({ path: folder.path, memoryTableBytes: 20_000, durability: 'none' })
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
    // Those that were made are the first.
    expect(results).toEqual([...results].sort((a, b) => (a === b ? 0 : a === 'made' ? -1 : 1)))
    const again = openStateEngine({ path: folder.path })
    expect(again.ledger?.latestVersion).toBe(next - 1n - BigInt(results.filter((result) => result !== 'made').length))
    expect((await again.check()).problems).toEqual([])
    await again.close()
  })
})
