// The real program, `ledger-state serve`, run and looked at from outside.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

export const PROGRAM = fileURLToPath(new URL('../dist/main.js', import.meta.url))

/** How long a loaded machine may take for anything. */
const PATIENCE_MS = 60_000

export interface NodeOptions {
  readonly dataDir: string
  /** Of `serve`, beside its folder and addresses. */
  readonly options?: readonly string[]
  /** Words before those of the program, such as `prlimit --fsize=1000000`. */
  readonly prefix?: readonly string[]
  readonly env?: NodeJS.ProcessEnv
  /** Default `127.0.0.1:0`. */
  readonly listen?: string
}

export interface Readiness {
  readonly ready: boolean
  readonly processes: readonly { readonly name: string; readonly state: string; readonly pid?: number }[]
  readonly ledger_version?: string
  readonly oldest_ledger_version?: string
}

export class NodeProcess {
  readonly child: ChildProcess
  /** Of the API, without `/v1`. */
  address = ''
  admin = ''
  output = ''
  readonly ended: Promise<number | null>

  constructor({ dataDir, options = [], prefix = [], env = {}, listen = '127.0.0.1:0' }: NodeOptions) {
    const words = [...prefix, process.execPath, PROGRAM, 'serve', '--data-dir', dataDir, '--listen', listen]
    const [command, ...rest] = [...words, '--admin-listen', '127.0.0.1:0', '--log-format', 'json', ...options]
    this.child = spawn(command!, rest, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } })
    for (const stream of [this.child.stdout!, this.child.stderr!]) {
      stream.on('data', (text) => {
        this.output += text
      })
    }
    this.ended = once(this.child, 'exit').then(([status]) => status as number | null)
  }

  /** Resolves when requests are answered. */
  async listening(): Promise<this> {
    const output = await this.outputMatching(/on (http:\S+)\/v1/)
    this.address = /on (http:\S+)\/v1/.exec(output)![1]!
    this.admin = /probes are on (http:[^"\s]+)/.exec(output)![1]!
    return this
  }

  async outputMatching(pattern: RegExp): Promise<string> {
    await eventually(
      () => pattern.test(this.output) || this.child.exitCode !== null,
      () => `${pattern} in ${this.output}`,
    )
    if (!pattern.test(this.output)) throw new Error(`the node ended with status ${this.child.exitCode}: ${this.output}`)
    return this.output
  }

  async readiness(): Promise<Readiness> {
    return (await (await fetch(`${this.admin}/-/ready`)).json()) as Readiness
  }

  async metrics(): Promise<string> {
    return await (await fetch(`${this.admin}/metrics`)).text()
  }

  async pidOf(name: string): Promise<number | undefined> {
    const found = (await this.readiness()).processes.find((candidate) => candidate.name === name)
    return found?.state === 'up' ? found.pid : undefined
  }

  /** Newest version that is served, in the answer of whichever reader. */
  async version(): Promise<number> {
    const response = await fetch(`${this.address}/v1`)
    await response.arrayBuffer()
    return Number(response.headers.get('x-svc-ledger-version') ?? -1)
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    this.child.kill(signal)
    return await this.ended
  }

  /** Ends this process and all it started, at once. */
  async killAll(): Promise<void> {
    const pids = this.admin ? await this.readiness().then(pidsOf, () => []) : []
    this.child.kill('SIGKILL')
    for (const pid of pids) kill(pid)
    await this.ended
  }
}

function pidsOf({ processes }: Readiness): number[] {
  return processes.flatMap(({ pid }) => pid ?? [])
}

/** Whether there was such a process. */
export function kill(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL')
  } catch {
    return false
  }
}

/** Waits until something holds. */
export async function eventually(holds: () => boolean | Promise<boolean>, what: () => string): Promise<void> {
  for (const began = Date.now(); ; ) {
    try {
      if (await holds()) return
    } catch (error) {
      if (Date.now() - began > PATIENCE_MS) throw error
    }
    if (Date.now() - began > PATIENCE_MS) throw new Error(`waited in vain for ${what()}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
