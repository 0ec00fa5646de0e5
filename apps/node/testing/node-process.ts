// The real program, `ledger-state serve`, run and observed from outside.
import { eventually } from '@ledger-state/testing/eventually'
import { RunningProgram, type RunOptions } from './program.ts'

export { PROGRAM } from './program.ts'

export interface NodeOptions extends RunOptions {
  readonly dataDir: string
  /** URL of a store in a database, instead of the folder. */
  readonly store?: string
  /** Further options of `serve`, in addition to its folder and addresses. */
  readonly options?: readonly string[]
  /** Address to listen on, by default `127.0.0.1:0`. */
  readonly listen?: string
}

/** All words of the command line, instead of the usual ones. */
export interface ServedBy extends RunOptions {
  readonly words: readonly string[]
}

export interface Readiness {
  readonly ready: boolean
  readonly why?: string
  readonly processes: readonly { readonly name: string; readonly state: string; readonly pid?: number }[]
  readonly ledger_version?: string
  readonly oldest_ledger_version?: string
}

export class NodeProcess extends RunningProgram {
  /** Address of the API, without `/v1`. */
  address = ''
  admin = ''

  constructor(options: NodeOptions | ServedBy) {
    if ('words' in options) {
      super(options.words, options)
      return
    }
    const { dataDir, store, options: more = [], listen = '127.0.0.1:0', ...run } = options
    const addresses = ['--listen', listen, '--admin-listen', '127.0.0.1:0']
    const place = store === undefined ? ['--data-dir', dataDir] : ['--store', store]
    super(['serve', ...place, ...addresses, '--log-format', 'json', ...more], run)
  }

  /** Resolves when requests are answered. */
  async listening(): Promise<this> {
    const output = await this.outputMatching(/on (http:\S+)\/v1/)
    this.address = /on (http:\S+)\/v1/.exec(output)![1]!
    this.admin = /probes are on (http:[^"\s]+)/.exec(output)![1]!
    return this
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

  /** Waits for a process to be up, which the supervisor learns from its first report. Resolves with its pid. */
  async pidOnceUp(name: string): Promise<number> {
    let pid: number | undefined
    await eventually(
      async () => {
        pid = await this.pidOf(name)
        return pid !== undefined
      },
      () => `${name} to be up: ${this.output.slice(-1_000)}`,
    )
    return pid!
  }

  /** Newest version in the answer of any reader. */
  async version(): Promise<number> {
    const response = await fetch(`${this.address}/v1`)
    await response.arrayBuffer()
    return Number(response.headers.get('x-svc-ledger-version') ?? -1)
  }

  /** Kills this process and all that it started, at once. */
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

/** Sends a signal to a process. Returns whether there was such a process. */
export function kill(pid: number, signal: NodeJS.Signals = 'SIGKILL'): boolean {
  try {
    return process.kill(pid, signal)
  } catch {
    return false
  }
}
