// Random histories of the state engine against the plain one in memory, on all cores, until so many were run.
import { type ChildProcess, fork } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createMemoryEngine, openStateEngine } from '../src/index.js'
import { setFailurePointHandler } from '../src/write/failure-points.js'
import { runHistories } from '../testing/engine-histories.ts'

const HELP = `Usage: pnpm fuzz-engine [--histories N] [--seed N]

Runs N random histories (default 1000000) of commits, reads, scans, prunes, aborted work and reopening, each held against
the engine in memory after every step. Says the seed of a find, which makes it again.
`
/** Histories between two lines of progress. */
const ROUND = 1_000
/** In memory where there is such a file system: what is tested is not the disk. */
const ROOT = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()

const { values } = parseArgs({
  options: {
    histories: { type: 'string', default: '1000000' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    part: { type: 'string' },
    help: { type: 'boolean' },
  },
  allowPositionals: true,
})
const histories = Number(values.histories)
const seed = Number(values.seed)
if (values.help) process.stdout.write(HELP)
else if (values.part !== undefined) await runPart()
else await runAll()

async function runPart(): Promise<void> {
  let path = ''
  for (let done = 0; done < histories; done += ROUND) {
    const roundSeed = seed + done
    await runHistories(
      () => {
        path = mkdtempSync(join(ROOT, 'engine-fuzz-'))
        return {
          createModel: createMemoryEngine,
          open: () => openStateEngine({ path, durability: 'none' }),
          setFailurePointHandler,
        }
      },
      () => rmSync(path, { recursive: true }),
      Math.min(ROUND, histories - done),
      roundSeed,
    )
    process.send?.(Math.min(histories, done + ROUND))
  }
  process.disconnect?.()
}

async function runAll(): Promise<void> {
  const cores = availableParallelism()
  const share = Math.ceil(histories / cores)
  const done = new Map<ChildProcess, number>()
  const began = performance.now()
  const codes = await Promise.all(
    Array.from({ length: cores }, (_, part) => {
      const args = ['--part', String(part), '--histories', String(share), '--seed', String(seed + part * 7_919_000)]
      const child = fork(new URL(import.meta.url).pathname, args)
      child.on('message', (count: number) => {
        done.set(child, count)
        const total = [...done.values()].reduce((sum, one) => sum + one, 0)
        const rate = total / ((performance.now() - began) / 1_000)
        process.stderr.write(`${total} of ${share * cores} histories, ${rate.toFixed(0)} a second\n`)
      })
      return new Promise<number>((resolve) => child.on('exit', (code) => resolve(code ?? 1)))
    }),
  )
  const failed = codes.filter((code) => code !== 0).length
  process.stdout.write(
    `${share * cores} histories, seed ${seed}: ${failed === 0 ? 'all alike' : 'FOUND a difference'}\n`,
  )
  process.exitCode = failed === 0 ? 0 : 1
}
