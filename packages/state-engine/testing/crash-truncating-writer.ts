// Commits, truncates and prunes until it is killed, or reaches a failpoint for the nth time and kills itself.
import { runSteps } from './truncated-ledger.ts'

/** Most steps: far more than it takes to reach any failpoint eight times. */
const MOST_STEPS = 900

const [path, killAt, times] = process.argv.slice(2) as [string, string?, string?]
let left = Number(times ?? 0)

// The clock runs fast, so that work in slices takes many of them.
let now = 0
performance.now = () => {
  now += 5
  return now
}
await runSteps({ path, memtableBytes: 60_000 }, MOST_STEPS, (point) => {
  if (point === killAt && --left <= 0) process.kill(process.pid, 'SIGKILL')
})
