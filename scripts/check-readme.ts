// Runs every line of every `sh` block of README.md. A line that starts a server runs until its block ends; the next line
// follows once the server says that it serves. `pnpm test` is left to the caller, who runs it anyway.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { hasSharedData } from '@ledger-state/testing/shared-data'

const root = fileURLToPath(new URL('..', import.meta.url))
const LEFT_TO_CALLER = ['npx -y pnpm test']
const SERVES = /pnpm (ledger-state )?(start|serve)\b/

const blocks = [...readFileSync(`${root}/README.md`, 'utf8').matchAll(/^```sh\n(.*?)^```$/gms)].map(
  ([, block]) => block!,
)
let passed = 0
for (const block of blocks) {
  const servers: ChildProcess[] = []
  for (const line of block.split('\n')) {
    const command = line.replace(/\s+#.*$/, '').trim()
    if (command === '' || LEFT_TO_CALLER.includes(command)) continue
    if (command.includes('../shared') && !hasSharedData) {
      console.log(`skipped, ../shared is absent: ${command}`)
      continue
    }
    console.log(`$ ${command}`)
    if (SERVES.test(command)) servers.push(await startServer(command))
    else runToEnd(command)
    passed++
  }
  await Promise.all(servers.map(stopServer))
}
console.log(`${passed} commands of README.md work`)

function runToEnd(command: string): void {
  const { status } = spawnSync('bash', ['-c', command.replace(/^curl /, 'curl -sS --fail-with-body ')], {
    cwd: root,
    stdio: 'inherit',
  })
  if (status !== 0) throw new Error(`status ${status}: ${command}`)
}

/** In a process group of its own, so that SIGINT reaches every process from npx to the program, as Ctrl-C does. */
async function startServer(command: string): Promise<ChildProcess> {
  const server = spawn('bash', ['-c', command], { cwd: root, detached: true, stdio: ['ignore', 'pipe', 'inherit'] })
  await new Promise<void>((resolve, reject) => {
    server.stdout.on('data', (chunk: Buffer) => {
      process.stdout.write(chunk)
      if (/serving .* on http/.test(chunk.toString())) resolve()
    })
    server.on('exit', (status) => reject(new Error(`status ${status}: ${command}`)))
  })
  server.removeAllListeners('exit')
  return server
}

async function stopServer(server: ChildProcess): Promise<void> {
  const ended = new Promise((resolve) => server.on('exit', resolve))
  process.kill(-server.pid!, 'SIGINT')
  await ended
}
