// Calls of the disk that fail once, after which the disk is sound again: docs/storage.md, "Errors of the disk".
import { existsSync, mkdtempSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { bundledScript } from '@ledger-state/testing/bundled-script'
import { createRandom, testSeed } from '@ledger-state/testing/random'
import { sampleCases } from '@ledger-state/testing/sample-cases'
import { isSlowRun } from '@ledger-state/testing/slow-run'
import { SOURCE_OPTIONS } from '@ledger-state/testing/source-process'
import { scaledRounds, testScale } from '@ledger-state/testing/test-scale'
import { beforeAll, describe, expect, it } from 'vitest'
import { CALLS_BY_NAME, compileFaultyDisk, type DiskFault, hasFaultyDisk } from '../testing/disk-faults/disk-faults.ts'
import { expectDurable } from '../testing/disk-faults/expect-durable.ts'
import type { FaultyWriterRun } from '../testing/disk-faults/faulty-writer.ts'
import { folderForAll } from '../testing/temporary-folder.ts'
import { STORE_FILE } from './lmdb/lmdb-store.js'
import { openStateEngine } from './open-state-engine.js'

const SEED = testSeed()
/** Most calls that fail, one in each run. The slow run tries all of them; with `TEST_SCALE` below 1, that share of them. */
const MOST_FAULTS = isSlowRun ? Number.POSITIVE_INFINITY : 1
const MOST_SKIPPED = isSlowRun ? Math.round(2 / Math.min(1, testScale())) - 2 : 2
const MOST_CALLS = 200
const folder = folderForAll()

const STEPS: Readonly<Record<string, readonly string[]>> = {
  commits: ['commit 4', 'commit 4'],
  merge: ['commit 6', 'merge', 'commit 3'],
  bulk: ['commit 3', 'bulk 60', 'commit 2'],
  prune: ['commit 12', 'merge', 'prune 5', 'commit 2'],
  truncation: ['commit 8', 'merge', 'truncate 3', 'commit 2'],
  levels: [...Array.from({ length: 9 }, () => ['commit 2', 'merge']).flat(), 'prune 3', 'merge'],
  import: ['import', 'commit 3', 'merge'],
}
/** Files whose calls fail, by a part of their names, and the folder. */
const FILES = ['state.mdb', 'write-ahead', 'segment-', '.']
const FILES_ONLY = FILES.filter((name) => name !== '.')
/** The fast run has a part of them. */
const NAMES = isSlowRun ? triedSteps() : ['commits', 'merge', 'truncation', 'import']
/** The threads that the programs start. */
const THREADS = [new URL('./lmdb/catalog-thread.ts', import.meta.url)]
const OPTIONS: FaultyWriterRun['options'] = { memtableBytes: 40_000 }

/** The steps that a test tries, or a share of them. */
function triedSteps(): readonly string[] {
  const names = Object.keys(STEPS)
  return sampleCases(names, Math.min(names.length, scaledRounds(names.length)))
}

describe.skipIf(!hasFaultyDisk())(`a disk whose calls fail (needs gcc; TEST_SEED=${SEED})`, () => {
  const random = createRandom(SEED)
  let faulty: ReturnType<typeof compileFaultyDisk>
  let script: string

  beforeAll(async () => {
    faulty = compileFaultyDisk(folder.path)
    script = await bundledScript(new URL('../testing/disk-faults/faulty-writer.ts', import.meta.url), {
      threads: THREADS,
    })
  })

  const start = (writer: FaultyWriterRun, fault?: DiskFault) => faulty.runWith(script, [JSON.stringify(writer)], fault)

  /** Makes each call fail, or some of them. */
  async function tryFaults(writer: FaultyWriterRun, fault: Omit<DiskFault, 'nth'>): Promise<void> {
    let reached = 0
    const first = isSlowRun ? 1 + random.below(MOST_SKIPPED + 1) : 2 + random.below(4)
    for (let nth = first; nth <= MOST_CALLS && reached < MOST_FAULTS; nth += 1 + random.below(MOST_SKIPPED + 1)) {
      const found = start(writer, { ...fault, nth })
      const why = `the ${fault.call} number ${nth} (${fault.times ?? 1} times) of ${fault.name}: ${found.lines.join(', ')}`
      expect(found.signal, why).toBe('SIGKILL')
      if (!found.isReached) break
      reached++
      try {
        await expectDurable(found)
      } catch (error) {
        throw new Error(why, { cause: error })
      }
    }
  }

  const timeout = isSlowRun ? 600_000 : 60_000

  /** The fast run has the calls of one file fail in each try of some steps. */
  const someFiles = (files: readonly string[]) => (isSlowRun ? files : [random.pick(files)])

  /** Calls that fail one after the other, each in another try of a step. */
  const someTimes = () => 1 + random.below(3)

  it.for(NAMES)('keeps all that was acknowledged with the durability full: %s', { timeout }, async (name) => {
    const steps = STEPS[name]!
    for (const file of someFiles(FILES)) {
      const fault = { call: 'sync', name: file, times: someTimes() } as const
      await tryFaults({ options: { ...OPTIONS, durability: 'full' }, steps }, fault)
    }
  })

  it.for(['ordered', 'none'] as const)('keeps all that a flush saved: %s', { timeout }, async (durability) => {
    for (const name of isSlowRun ? NAMES : ['merge', 'truncation']) {
      for (const file of someFiles(FILES)) {
        const writer = { options: { ...OPTIONS, durability }, steps: [...STEPS[name]!, 'flush'] }
        await tryFaults(writer, { call: 'sync', name: file, times: someTimes() })
      }
    }
  })

  it('keeps all that was acknowledged if writes fail', { timeout }, async () => {
    for (const name of isSlowRun ? NAMES : ['commits', 'merge']) {
      for (const file of someFiles(FILES_ONLY)) {
        const writer: FaultyWriterRun = { options: { ...OPTIONS, durability: 'full' }, steps: STEPS[name]! }
        await tryFaults(writer, { call: 'write', name: file })
      }
    }
  })

  it.for(CALLS_BY_NAME)(
    'keeps all that was acknowledged, with errors of the store, if a call fails: %s',
    { timeout },
    async (call) => {
      const names = Object.keys(STEPS)
      for (const name of isSlowRun ? NAMES : [names[random.below(names.length)]!]) {
        const writer: FaultyWriterRun = { options: { ...OPTIONS, durability: 'full' }, steps: STEPS[name]! }
        for (const file of call === 'list' ? ['.'] : someFiles(FILES_ONLY)) {
          await tryFaults(writer, { call, name: file })
        }
      }
    },
  )

  // lmdb-js ignores some transactions that could not begin, and continues without one.
  it('keeps all that was acknowledged, with errors of the store, if a transaction cannot begin', {
    timeout,
  }, async () => {
    for (const name of isSlowRun ? NAMES : ['merge', 'truncation']) {
      const writer: FaultyWriterRun = { options: { ...OPTIONS, durability: 'full' }, steps: STEPS[name]! }
      await tryFaults(writer, { call: 'lock', name: '.' })
    }
  })

  it('commits, merges and reports nothing of a file that cannot be removed once, and removes it later', async () => {
    const writer: FaultyWriterRun = {
      options: { ...OPTIONS, durability: 'full' },
      steps: ['commit 6', 'merge', 'merge'],
    }
    const found = start(writer, { call: 'remove', name: 'write-ahead', nth: 1 })
    expect(found).toMatchObject({ isReached: true, lines: ['durable 5', 'durable 5', 'durable 5'] })
    expect(readdirSync(found.disk).filter((name) => name.startsWith('write-ahead'))).toHaveLength(1)
    await expectDurable(found)
  })

  // Without commits after them, nothing but the flush syncs the files that these steps create.
  it.for([
    ['commit 1'],
    ['commit 6', 'merge'],
    ['commit 3', 'bulk 60'],
    ['commit 8', 'merge', 'truncate 3'],
    ['commit 12', 'merge', 'prune 5'],
    ['import'],
  ])('has all that a flush saved with the durability none, without a fault: %s', async (steps) => {
    const found = start({ options: { ...OPTIONS, durability: 'none' }, steps: [...steps, 'flush'] })
    expect(found.signal).toBe('SIGKILL')
    await expectDurable(found)
  })

  it.for(['plain', 'merged', 'compact'])('has the whole snapshot once it resolves: %s', { timeout }, async (how) => {
    const taker = await bundledScript(new URL('../testing/disk-faults/snapshot-taker.ts', import.meta.url))
    const take = (fault?: DiskFault) => faulty.runWith(taker, [mkdtempSync(join(folder.path, 'source-')), how], fault)
    const faults = FILES.map((name): DiskFault => ({ call: 'sync', name, nth: 1 }))
    for (const fault of [undefined, ...faults]) {
      const found = take(fault)
      // A link that cannot be synced is replaced by a copy.
      const isFailed = found.isReached && fault?.name !== 'segment-'
      expect(found.lines).toEqual(isFailed ? ['failed: store_failed', 'durable 29'] : ['durable 29'])
      await expectDurable(found)
    }
  })

  it('the event loop turns, commits and reads while a sync takes as long as it likes', { timeout }, async () => {
    const writer = await bundledScript(new URL('../testing/disk-faults/held-writer.ts', import.meta.url), {
      threads: THREADS,
    })
    expect(faulty.runHeld(writer)).toEqual([
      'first commit: . segment state.mdb write-ahead',
      'commits: write-ahead',
      'merge: . segment state.mdb write-ahead',
      'bulk: . segment state.mdb write-ahead',
      'levels: . segment state.mdb write-ahead',
      'prune: state.mdb',
      'reclaim: . segment state.mdb',
      'truncation: . state.mdb write-ahead',
      'flush: state.mdb',
      'close: state.mdb',
      'committed and read: 7',
      'import: . segment state.mdb write-ahead',
      'done',
    ])
  })

  it('leaves no store behind if the data file is removed at the moment when a reader opens it', async () => {
    const path = join(folder.path, 'removed')
    await openStateEngine({ path }).close()
    const read = `
      const { openStateEngineReader } = await import(${JSON.stringify(new URL('./index.ts', import.meta.url).href)})
      try { openStateEngineReader({ path: ${JSON.stringify(path)} }) } catch (error) { console.log(error.code) }`
    const said = faulty.runWhileRemoved([...SOURCE_OPTIONS, '--input-type=module', '-e', read])
    expect(said).toBe('store_missing\n')
    expect(existsSync(join(path, STORE_FILE))).toBe(false)
    const engine = openStateEngine({ path })
    expect(engine.ledger).toBeUndefined()
    await engine.close()
  })
})
