// A node whose processes get no memory, or are killed by the system for it; the real program.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { eventually } from '@ledger-state/testing/eventually'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type MemoryGroup, makeMemoryGroup } from '../../testing/memory-group.ts'
import { answersRightly, NodeBed, reaches } from '../../testing/node-bed.ts'
import type { NodeProcess } from '../../testing/node-process.ts'
import { runProgram } from '../../testing/program.ts'
import { STEADY_HANDLE } from '../../testing/steady-ledger.ts'

const tried = makeMemoryGroup()
await tried?.remove()
const place = tried ? 'in a memory cgroup' : 'in a memory cgroup, which cannot be made here'
const hasPrlimit = spawnSync('prlimit', ['--version']).status === 0

let bed: NodeBed
let group: MemoryGroup | undefined
let isLoading: boolean
beforeEach(async () => {
  bed = await NodeBed.open()
  isLoading = true
})
afterEach(async () => {
  isLoading = false
  await bed.close()
  await group?.remove()
  group = undefined
})

const BATCH = JSON.stringify(
  Array.from({ length: 2_000 }, (_, item) => ({ key_type: 'u64', value_type: 'u64', key: String(item) })),
)

/** Sends large batches, many at a time, until the test ends it. */
async function load(node: NodeProcess): Promise<void> {
  const ask = async (): Promise<void> => {
    while (isLoading) {
      const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: BATCH }
      await fetch(`${node.address}/v1/tables/${STEADY_HANDLE}/items`, init).then(
        (response) => response.arrayBuffer(),
        () => {},
      )
    }
  }
  await Promise.all(Array.from({ length: 30 }, ask))
}

const restartsOf = async (node: NodeProcess): Promise<number> =>
  [...(await node.metrics()).matchAll(/process_restarts_total\{process="reader-\d"\} (\d+)/g)].reduce(
    (sum, [, count]) => sum + Number(count),
    0,
  )

/**
 * Waits until all processes are up, answers are right and the ledger grows; then stops the node and checks the store.
 */
async function isWellAgain(node: NodeProcess): Promise<void> {
  await eventually(
    async () => {
      const { ready, processes } = await node.readiness()
      return ready && processes.every(({ state }) => state === 'up')
    },
    () => `all processes: ${node.output.slice(-1_000)}`,
  )
  bed.source.latest += 100
  await reaches(node, bed.source.latest)
  await answersRightly(bed.startClient(() => node))
  expect(await node.stop()).toBe(0)
  expect(runProgram(['check', '--data-dir', bed.at('store')]).stdout).toMatch(/^sound/)
}

describe('a reader', () => {
  it.skipIf(!tried)(`is replaced when it is killed for its memory, and no answer is wrong (${place})`, async () => {
    group = makeMemoryGroup()!
    bed.source.latest = 2_000
    const node = await bed.start({ options: bed.following('--readers', '2') })
    await reaches(node, 2_000)
    const client = bed.startClient(() => node)
    await answersRightly(client)
    const pid = await node.pidOnceUp('reader-0')
    group.add(pid)
    // Memory that the reader already has is not counted.
    group.limit(10_000_000)
    const loading = load(node)
    await eventually(
      async () => (await restartsOf(node)) >= 1,
      () => `the reader to be killed: ${node.output.slice(-1_000)}`,
    )
    expect(node.output).toMatch(/reader-0 was ended by SIGKILL; reader-0 restarts/)
    isLoading = false
    await loading
    await answersRightly(client)
    await isWellAgain(node)
    expect(client.tally.wrong).toEqual([])
  })

  it('is killed before the supervisor, as is every other process, because all end without the supervisor', async () => {
    const node = await bed.start()
    const adjustmentOf = (pid: number) => Number(readFileSync(`/proc/${pid}/oom_score_adj`, 'utf8'))
    const own = adjustmentOf(node.child.pid!)
    await node.pidOnceUp('writer')
    for (const { pid } of (await node.readiness()).processes) {
      expect(adjustmentOf(pid!)).toBe(Math.min(1_000, own + 300))
    }
  })

  it.skipIf(!hasPrlimit)('ends when it gets no more memory and is replaced, and no answer is wrong', async () => {
    bed.source.latest = 2_000
    const node = await bed.start({ options: bed.following('--readers', '2') })
    await reaches(node, 2_000)
    const client = bed.startClient(() => node)
    await answersRightly(client)
    const pid = await node.pidOnceUp('reader-0')
    const [, kilobytes] = /^VmData:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))!
    expect(spawnSync('prlimit', [`--pid=${pid}`, `--data=${1_024 * Number(kilobytes)}`]).status).toBe(0)
    const loading = load(node)
    await eventually(
      async () => (await restartsOf(node)) >= 1,
      () => `the reader to end: ${node.output.slice(-1_000)}`,
    )
    expect(node.output).toMatch(/reader-0 (was ended by SIG|ended with status )\w+; reader-0 restarts/)
    isLoading = false
    await loading
    await answersRightly(client)
    await isWellAgain(node)
    expect(client.tally.wrong).toEqual([])
  })
})
