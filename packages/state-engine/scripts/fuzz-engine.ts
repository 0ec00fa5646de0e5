// Compares random histories of the state engine with the engine in memory, on all cores.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { testSeed } from '@ledger-state/testing/random'
import { runBesideModel } from '../testing/histories/beside-model.ts'

const HELP = `Usage: pnpm fuzz-engine [--histories N] [--seed N]

Runs N random histories (default 1000000) of commits, reads, scans, prunes, aborted work and reopening, and compares each
with the engine in memory after every step. Prints the seed of a difference, which repeats it.
`
/** Number of histories between two lines of progress. */
const ROUND = 1_000
/** Distance between the seeds of two processes. */
const SEED_STRIDE = 7_919_000

const { values } = parseArgs({
  options: {
    histories: { type: 'string', default: '1000000' },
    seed: { type: 'string', default: String(testSeed()) },
    part: { type: 'boolean' },
    help: { type: 'boolean' },
  },
  allowPositionals: true,
})
const histories = Number(values.histories)
const seed = Number(values.seed)
if (values.help) process.stdout.write(HELP)
else if (values.part) await runPart()
else await runAll()

async function runPart(): Promise<void> {
  for (let done = 0; done < histories; done += ROUND) {
    await runBesideModel({ count: Math.min(ROUND, histories - done), seed: seed + done })
    process.send?.(Math.min(histories, done + ROUND))
  }
  process.disconnect?.()
}

async function runAll(): Promise<void> {
  const cores = availableParallelism()
  const share = Math.ceil(histories / cores)
  const done = new Map<ChildProcess, number>()
  const began = performance.now()
  const parts = Array.from({ length: cores }, async (_, part) => {
    const args = ['--part', '--histories', String(share), '--seed', String(seed + part * SEED_STRIDE)]
    const child = fork(fileURLToPath(import.meta.url), args)
    child.on('message', (count: number) => {
      done.set(child, count)
      const total = [...done.values()].reduce((sum, one) => sum + one, 0)
      const rate = total / ((performance.now() - began) / 1_000)
      process.stderr.write(`${total} of ${share * cores} histories, ${rate.toFixed(0)} a second\n`)
    })
    const [code] = (await once(child, 'exit')) as [number | null]
    return code === 0
  })
  const allAlike = (await Promise.all(parts)).every(Boolean)
  process.stdout.write(`${share * cores} histories, seed ${seed}: ${allAlike ? 'all alike' : 'FOUND a difference'}\n`)
  process.exitCode = allAlike ? 0 : 1
}
