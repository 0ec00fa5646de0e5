import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { LocalRegistry } from './local-registry.ts'
import { type PackedPackage, ROOT } from './pack-packages.ts'
import { npmEnvironment } from './project.ts'
import type { Tally } from './tally.ts'

const run = promisify(execFile)

/** Oldest supported release line of Node, which is tried in addition to the one of the checkout. */
const OTHER_NODE = '22.23.3'
const START_MS = 120_000
const STOP_MS = 30_000

/** Runs `npx ledger-state` in an empty folder, on the Node of the checkout and on the oldest line. */
export async function checkProgram(packed: PackedPackage, registry: LocalRegistry, work: string, tally: Tally) {
  for (const node of [process.execPath, installNode(OTHER_NODE)]) {
    const environment = { ...npmEnvironment(registry), PATH: `${dirname(node)}${delimiter}${process.env.PATH}` }
    const version = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim()
    const folder = join(work, 'program', version)
    mkdirSync(folder, { recursive: true })
    const npx = (...words: string[]) => ['-y', `file:${packed.tarball}`, ...words]
    const { stdout: told } = await run('npx', npx('--version'), { cwd: folder, env: environment, timeout: START_MS })
    const expected = `ledger-state ${packed.manifest.version} (Node ${version})\n`
    tally.add(`npx ledger-state --version on Node ${version}`, told === expected ? undefined : `prints ${told}`)
    const words = npx('start', '--listen', '127.0.0.1:0', '--admin-listen', '127.0.0.1:0')
    const program = spawn('npx', words, {
      cwd: folder,
      env: environment,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    tally.add(`npx ledger-state start on Node ${version}`, await findServingFault(program))
    await stop(program)
  }
}

/** Installs a Node from the registry next to the modules of the checkout. Returns its path. */
function installNode(version: string): string {
  const folder = join(ROOT, 'node_modules/.cache', `node-${version}`)
  const node = join(folder, 'node_modules/node/bin/node')
  if (!existsSync(node)) {
    mkdirSync(folder, { recursive: true })
    execFileSync('npm', ['install', '--no-audit', '--no-fund', '--prefix', folder, `node@${version}`], {
      stdio: 'pipe',
    })
  }
  return node
}

/** Waits until the program reports its address, and asks there for the ledger and for the page. */
async function findServingFault(program: ChildProcess): Promise<string | undefined> {
  let printed = ''
  const address = await new Promise<string | undefined>((resolve) => {
    const timer = setTimeout(resolve, START_MS, undefined)
    const read = (chunk: Buffer) => {
      printed += chunk
      const found = /serving .* on (http:\/\/[\d.:]+)/.exec(printed)?.[1]
      if (found !== undefined) resolve(found)
    }
    program.stdout!.on('data', read)
    program.stderr!.on('data', read)
    program.on('exit', () => resolve(undefined))
    program.on('exit', () => clearTimeout(timer))
  })
  if (address === undefined) return `does not serve:\n${printed}`
  const ledger = (await (await fetch(`${address}/v1`)).json()) as { readonly ledger_version?: string }
  if (ledger.ledger_version === undefined) return `answers ${JSON.stringify(ledger)}`
  const page = await fetch(address, { headers: { accept: 'text/html' } })
  if (!page.ok || !(await page.text()).includes('<script')) return `answers ${page.status} where the page is`
  return undefined
}

/**
 * Stops a program by SIGINT to its process group, which reaches every process from npx to the program, as Ctrl-C does.
 */
async function stop(program: ChildProcess): Promise<void> {
  if (program.exitCode !== null || program.signalCode !== null) return
  const ended = once(program, 'exit')
  process.kill(-program.pid!, 'SIGINT')
  const timer = setTimeout(() => process.kill(-program.pid!, 'SIGKILL'), STOP_MS)
  await ended
  clearTimeout(timer)
}
