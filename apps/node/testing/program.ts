// The built program, run as a user runs it.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { eventually, PATIENCE_MS } from '@ledger-state/testing/eventually'

export const PROGRAM = fileURLToPath(new URL('../dist/main.js', import.meta.url))

/** Cache with which programs start a quarter faster. Node checks its entries against the code. */
const COMPILE_CACHE = { NODE_COMPILE_CACHE: join(tmpdir(), 'ledger-state-compile-cache') }

export interface RunOptions {
  readonly cwd?: string
  /** Words before the program's words, such as `prlimit --fsize=1000000`. */
  readonly prefix?: readonly string[]
  /** A Node.js and the main module of the program; by default the ones that the tests use. */
  readonly installed?: readonly string[]
  readonly env?: NodeJS.ProcessEnv
}

export interface Outcome {
  /** Exit status; null if a signal ended the program. */
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs the program to its end, and blocks this process. */
export function runProgram(
  words: readonly string[],
  { cwd, prefix = [], installed = [process.execPath, PROGRAM], env = {} }: RunOptions = {},
): Outcome {
  const [command, ...rest] = [...prefix, ...installed, ...words]
  const options = {
    encoding: 'utf8',
    timeout: PATIENCE_MS,
    cwd,
    env: { ...process.env, ...COMPILE_CACHE, ...env },
  } as const
  const { status, stdout, stderr } = spawnSync(command!, rest, options)
  return { status, stdout, stderr }
}

/** The program while it runs. */
export class RunningProgram {
  readonly child: ChildProcess
  /** Output of both streams. */
  output = ''
  readonly #texts = { stdout: '', stderr: '' }
  /** Resolves with the exit status; null if a signal ended the program. */
  readonly ended: Promise<number | null>

  constructor(
    words: readonly string[],
    { cwd, prefix = [], installed = [process.execPath, PROGRAM], env = {} }: RunOptions = {},
  ) {
    const [command, ...rest] = [...prefix, ...installed, ...words]
    const options = {
      stdio: ['ignore', 'pipe', 'pipe'] as const,
      cwd,
      env: { ...process.env, ...COMPILE_CACHE, ...env },
    }
    this.child = spawn(command!, rest, { ...options, stdio: [...options.stdio] })
    for (const name of ['stdout', 'stderr'] as const) {
      this.child[name]!.setEncoding('utf8').on('data', (text) => {
        this.output += text
        this.#texts[name] += text
      })
    }
    this.ended = once(this.child, 'close').then(([status]) => status as number | null)
  }

  async outputMatching(pattern: RegExp): Promise<string> {
    const hasEnded = (): boolean => this.child.exitCode !== null || this.child.signalCode !== null
    await eventually(
      () => pattern.test(this.output) || hasEnded(),
      () => `${pattern} in ${this.output}`,
    )
    // The output of an ended process may still be on its way.
    if (!pattern.test(this.output)) await this.ended
    if (pattern.test(this.output)) return this.output
    throw new Error(`the program ended with status ${this.child.exitCode}: ${this.output}`)
  }

  /** Result of the program, once it has ended. */
  async outcome(): Promise<Outcome> {
    return { status: await this.ended, ...this.#texts }
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    this.child.kill(signal)
    return await this.ended
  }
}
