// The program in a checkout: builds changed packages, then runs `ledger-state` in this process. A first build says what
// it does; later ones only if they take some time.
import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Time after which a build that is not the first says what it does. */
const QUIET_MS = 2_000

const root = fileURLToPath(new URL('..', import.meta.url))
const program = new URL('../apps/node/dist/main.js', import.meta.url)
const page = new URL('../apps/explorer/dist/index.html', import.meta.url)
await build()
// npx and pnpm end at SIGTERM without passing it on to the program.
const launcher = findLauncher()
if (launcher !== undefined) {
  setInterval(() => {
    if (!existsSync(`/proc/${launcher}`)) process.kill(process.pid, 'SIGTERM')
  }, 500).unref()
}
await import(program.href)

async function build() {
  const isFirst = !existsSync(program)
  const began = performance.now()
  const seconds = () => Math.round((performance.now() - began) / 1_000)
  const words = ['run', 'build', '--filter=ledger-state', '--output-logs=errors-only']
  const child = spawn('turbo', words, {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, TURBO_TELEMETRY_DISABLED: '1' },
  })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (printed += text))
  const { isTTY } = process.stderr
  let shown = ''
  const show = () => {
    if (!isFirst && performance.now() - began < QUIET_MS) return
    const step = !isFirst ? 'what changed' : existsSync(page) ? 'the program (2 of 2)' : 'the page of the node (1 of 2)'
    const text = `building ${step}`
    if (isTTY) process.stderr.write(`\r\x1b[K${text} … ${seconds()} s`)
    else if (text !== shown) process.stderr.write(`${text} …\n`)
    shown = text
  }
  show()
  const timer = setInterval(show, 250)
  const failure = await new Promise((resolve) => {
    child.on('error', (error) => resolve(error.message))
    child.on('close', (status) => resolve(status === 0 ? undefined : printed))
  })
  clearInterval(timer)
  if (isTTY && shown !== '') process.stderr.write('\r\x1b[K')
  if (failure !== undefined) {
    process.stderr.write(`${failure}\nthe build failed\n`)
    process.exit(1)
  }
  if (isFirst) process.stderr.write(`built in ${seconds()} s; the next start needs no build\n`)
}

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
