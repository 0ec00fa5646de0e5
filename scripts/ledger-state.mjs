// The program in a checkout: builds what changed, silently, then runs `ledger-state` in this process.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const program = new URL('../apps/node/dist/main.js', import.meta.url)
if (!existsSync(program)) process.stderr.write('building for the first time …\n')
const build = spawnSync('turbo', ['run', 'build', '--filter=ledger-state', '--output-logs=errors-only'], {
  cwd: root,
  encoding: 'utf8',
  env: { ...process.env, TURBO_TELEMETRY_DISABLED: '1' },
})
if (build.status !== 0) {
  process.stderr.write(`${build.stdout ?? ''}${build.stderr ?? build.error}\nthe build failed\n`)
  process.exit(1)
}
// npx and pnpm end at SIGTERM without passing it on to the program.
const launcher = findLauncher()
if (launcher !== undefined) {
  setInterval(() => {
    if (!existsSync(`/proc/${launcher}`)) process.kill(process.pid, 'SIGTERM')
  }, 500).unref()
}
await import(program.href)

/** Finds the outermost npx or pnpm around this process, if the system has /proc. */
function findLauncher() {
  let found
  for (let pid = process.ppid; pid > 1 && existsSync(`/proc/${pid}/cmdline`); ) {
    if (!/pnpm|npx|npm exec/.test(readFileSync(`/proc/${pid}/cmdline`, 'utf8'))) break
    found = pid
    pid = Number(/\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1])
  }
  return found
}
