import { createMemoryGroup, type MemoryGroup } from '../larger/memory-group.ts'
import { runTask } from '../larger/run-task.ts'
import type { TaskCost } from '../larger/store-task.ts'
import { dropFromPageCache } from '../lookup/reader-process.ts'
import type { BenchRun } from '../run/bench-run.ts'
import type { Suite } from '../run/suite.ts'

/** Each process has this memory, its page cache included: some 250 MB are of Node.js and of what is not merged. */
const MEMORY_BYTES = 768 * 2 ** 20
/** A key takes about this in the file. */
const KEY_BYTES = 290
/** The program gives a writer the first number; with the second nothing is read ahead. */
const THREADS = 24
const FEWEST_THREADS = 1

export const largerSuite: Suite = {
  name: 'larger',
  summary:
    'stores up to many times larger than memory, in a control group: ingest, look-ups with and without pages in memory, prune; time, pages and bytes of each',
  estimate: (scale) =>
    ({
      tiny: { minutes: 1, memoryBytes: 0.5e9, diskBytes: 0.1e9 },
      small: { minutes: 5, memoryBytes: 0.8e9, diskBytes: 1e9 },
      medium: { minutes: 25, memoryBytes: 0.8e9, diskBytes: 5e9 },
      large: { minutes: 120, memoryBytes: 0.8e9, diskBytes: 45e9 },
    })[scale],
  charts: [
    {
      title: 'Cost against the number of keys, with memory for some two million',
      metric: 'time',
      x: 'keys',
      where: { plotted: 'yes' },
      logarithmic: true,
      caption: 'Keys drawn evenly. Look-ups with no page in memory; writes with their merges.',
    },
    {
      title: 'Pages read, against the number of keys',
      metric: 'pages read',
      x: 'keys',
      where: { plotted: 'yes' },
      logarithmic: true,
      caption: 'Pages of 4 KiB that the disk was asked for, for each write or look-up.',
    },
  ],
  async run(run) {
    const group = createMemoryGroup(`ledger-state-bench-${process.pid}`, MEMORY_BYTES)
    if (!group) {
      run.note('left out: no control group that limits memory can be made here; it takes root on Linux')
      return
    }
    const takeBack = run.atEnd(() => group.remove())
    const sizes = run.byScale({
      tiny: [2_000],
      small: [100_000, 1_000_000],
      medium: [100_000, 1_000_000, 10_000_000],
      large: [100_000, 1_000_000, 10_000_000, 100_000_000],
    })
    for (const keys of run.keys === undefined ? sizes : [run.keys]) await measure(run, group, keys)
    takeBack()
    group.remove()
  },
}

async function measure(run: BenchRun, group: MemoryGroup, keys: number): Promise<void> {
  const path = run.folder('larger')
  const writes = run.byScale({ tiny: 1_000, small: 100_000, medium: 200_000, large: 200_000 })
  const count = run.byScale({ tiny: 200, small: 3_000, medium: 3_000, large: 3_000 })
  const times = (keys * KEY_BYTES) / MEMORY_BYTES
  const title = `${keys} keys: ${times < 0.1 ? 'a small part' : times.toFixed(1)} of the memory`
  const record = (subject: string, costs: readonly TaskCost[], role: 'ours' | 'floor' = 'ours', of = title) => {
    const common = { title: of, subject, role, at: { keys, ...(role === 'ours' && { plotted: 'yes' }) } } as const
    const add = (metric: string, unit: string, figureOf: (cost: TaskCost) => number | undefined) => {
      const rounds = costs.map(figureOf).filter((value) => value !== undefined)
      if (rounds.length > 0) run.record({ ...common, metric, unit, rounds })
    }
    add('time', 'µs', ({ microseconds }) => microseconds)
    add('CPU time', 'µs', ({ cpuMicroseconds }) => cpuMicroseconds)
    add('pages read', '', ({ pagesRead }) => pagesRead)
    add('written to the disk', 'B', ({ bytesWritten }) => bytesWritten)
    add('p99 of a commit', 'ms', ({ commitMilliseconds }) => commitMilliseconds?.p99)
    add('p99.9 of a commit', 'ms', ({ commitMilliseconds }) => commitMilliseconds?.p999)
    add('longest commit', 'ms', ({ commitMilliseconds }) => commitMilliseconds?.longest)
  }
  const runOne = async (task: Parameters<typeof runTask>[1], threads = THREADS) => {
    run.throwIfInterrupted()
    // What this process or one of another group has in memory would not count to the group.
    dropFromPageCache(path)
    return await runTask(group, task, threads)
  }
  run.step(`${keys} keys: filling the store`)
  record('an entry of a state, imported in order', await runOne({ kind: 'fill', path, keys }))
  run.step(`${keys} keys: ${writes} writes, and the same without reading ahead`)
  // The first time, pages that were filled in order split.
  await runOne({ kind: 'update', path, keys, writes, seed: run.seed })
  const update = { kind: 'update', path, keys, writes } as const
  const without: TaskCost[] = []
  const ahead: TaskCost[] = []
  for (let round = 0; round < run.byScale({ tiny: 1, small: 3, medium: 3, large: 1 }); round++) {
    without.push(...(await runOne({ ...update, seed: run.seed + 2 * round + 1 }, FEWEST_THREADS)))
    ahead.push(...(await runOne({ ...update, seed: run.seed + 2 * round + 2 })))
  }
  record('a write with its merge, nothing read ahead', without, 'floor', `${title}, writes`)
  record('a write with its merge', ahead, 'ours', `${title}, writes`)
  run.step(`${keys} keys: look-ups`)
  for (const at of ['newest', 'past'] as const) {
    const [cold, warm] = await runOne({ kind: 'read', path, keys, at, count, seed: run.seed, writes })
    record(`a look-up, ${at}, nothing in memory`, [cold!])
    record(`the same look-up, ${at}, again`, [warm!])
  }
  run.step(`${keys} keys: pruning`)
  record('a superseded value that is pruned', await runOne({ kind: 'prune', path, keys }))
  run.removeFolder('larger')
}
