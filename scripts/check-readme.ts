// Runs every line of every `sh` block of README.md. A server runs until another one is started on its address, as for a
// reader who leaves it running; the next line follows once the server says that it serves. The output of a line has to
// begin with the text after its `# →`. `pnpm test` is left out, because CI runs it anyway.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { eventually } from '@ledger-state/testing/eventually'
import { hasSharedData } from '@ledger-state/testing/shared-data'

const root = fileURLToPath(new URL('..', import.meta.url))
const LEFT_TO_CALLER = ['npx -y pnpm test']
const SERVES = /pnpm (ledger-state )?(start|serve)\b/
/** Port that a run listens on until it ends: the servers of README.md have the same ports in every run. */
const TURN_PORT = 8_079
const PATIENCE_MS = 600_000

const blocks = [...readFileSync(`${root}/README.md`, 'utf8').matchAll(/^```sh\n(.*?)^```$/gms)].map(
  ([, block]) => block!,
)
await takeTurn()
let passed = 0
const servers = new Map<string, ChildProcess>()
for (const block of blocks) {
  if (block.includes('../shared') && !hasSharedData) {
    console.log(`skipped, ../shared is absent:\n${block}`)
    continue
  }
  for (const line of block.split('\n')) {
    const [, command = '', printed] = /^(.*?)(?:\s+#\s+(?:→ )?(.*))?$/.exec(line.trim())!
    if (command === '' || LEFT_TO_CALLER.includes(command)) continue
    console.log(`$ ${command}`)
    if (SERVES.test(command)) {
      const [, address = 'the default'] = /--listen (\S+)/.exec(command) ?? []
      await stopServer(servers.get(address))
      servers.set(address, await startServer(command))
    } else expectOutput(command, runToEnd(command), line.includes('# → ') ? printed! : '')
    passed++
  }
}
await Promise.all([...servers.values()].map(stopServer))
console.log(`${passed} commands of README.md work`)

/** Runs a command to its end, shows its output, and returns it. */
function runToEnd(command: string): string {
  const { status, stdout } = spawnSync('bash', ['-c', command.replace(/^curl /, 'curl -sS --fail-with-body ')], {
    cwd: root,
    stdio: ['inherit', 'pipe', 'inherit'],
    encoding: 'utf8',
  })
  process.stdout.write(stdout)
  if (status !== 0) throw new Error(`status ${status}: ${command}`)
  return stdout
}

/** Checks the output of a command. `…` at the end of `expected` stands for any text. */
function expectOutput(command: string, found: string, expected: string): void {
  const plain = (text: string) => text.replaceAll(/\s+/g, ' ').trim()
  const isWhole = expected !== '' && !expected.endsWith('…')
  const begin = plain(expected.replace(/…$/, ''))
  if (isWhole ? plain(found) === begin : plain(found).startsWith(begin)) return
  throw new Error(`${command} prints\n${found}\nREADME.md says\n${expected}`)
}

/** Waits until no other run of this check is under way on this machine, and lets none begin before this one ends. */
async function takeTurn(): Promise<void> {
  const turn = createServer()
  const isTaken = async () => {
    turn.listen(TURN_PORT, '127.0.0.1')
    await once(turn, 'listening')
    return true
  }
  await eventually(isTaken, () => `port ${TURN_PORT} to be free: another run of this check has it`, PATIENCE_MS)
  turn.unref()
}

/**
 * Starts a server in a separate process group, so that SIGINT reaches every process from npx to the program, as Ctrl-C
 * does.
 */
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

async function stopServer(server: ChildProcess | undefined): Promise<void> {
  if (!server) return
  const ended = new Promise((resolve) => server.on('exit', resolve))
  process.kill(-server.pid!, 'SIGINT')
  await ended
}
