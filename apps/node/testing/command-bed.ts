// A folder in which a test runs commands of the program; all is gone when the test ends.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually } from '@ledger-state/testing/eventually'
import { PROGRAM, RunningProgram, type RunOptions, runProgram } from './program.ts'

/** Metrics and probes have tests of their own; here several nodes run at once. */
const ENVIRONMENT = { LEDGER_STATE_ADMIN_LISTEN: 'off' }

export class CommandBed {
  readonly folder = mkdtempSync(join(tmpdir(), 'commands-'))
  readonly #running: RunningProgram[] = []

  at(name: string): string {
    return join(this.folder, name)
  }

  run(...words: string[]) {
    return this.runWith({}, ...words)
  }

  runWith(options: RunOptions, ...words: string[]) {
    return runProgram(words, { cwd: this.folder, env: ENVIRONMENT, ...options })
  }

  start(...words: string[]): RunningProgram {
    const program = new RunningProgram(words, { cwd: this.folder, env: ENVIRONMENT })
    this.#running.push(program)
    return program
  }

  /** Starts a command that serves, on a free port; resolves with the address of the API once it does. */
  async serve(...words: string[]): Promise<{ program: RunningProgram; output: string; address: string }> {
    const program = this.start(...words, '--listen', '127.0.0.1:0')
    const output = await program.outputMatching(/on (http:\/\/\S+)\/v1\n/)
    return { program, output, address: /on (http:\/\/\S+)\/v1/.exec(output)![1]! }
  }

  /** The words of a shell that run a command of the program. */
  commandLine(...words: string[]): string[] {
    return [process.execPath, PROGRAM, ...words]
  }

  async exists(name: string): Promise<void> {
    await eventually(
      () => existsSync(this.at(name)),
      () => name,
    )
  }

  ingest(source: string, store: string, ...options: string[]) {
    return this.run('ingest', source, '--data-dir', this.at(store), ...options)
  }

  info(store: string): Record<string, unknown> {
    return JSON.parse(this.run('info', '--data-dir', this.at(store), '--json').stdout)
  }

  /** Everything that a store answers, of which its own check says that it is sound. */
  digest(store: string): string {
    const check = this.run('check', '--data-dir', this.at(store))
    if (!/^sound/.test(check.stdout)) throw new Error(`${store}: ${check.stdout}${check.stderr}`)
    rmSync(this.at('digest.ndjson'), { force: true })
    const { status, stderr } = this.run('export', this.at('digest.ndjson'), '--data-dir', this.at(store))
    if (status !== 0) throw new Error(`${store}: ${stderr}`)
    return readFileSync(this.at('digest.ndjson'), 'utf8')
  }

  async close(): Promise<void> {
    for (const { child } of this.#running) child.kill('SIGKILL')
    await Promise.all(this.#running.map(({ ended }) => ended))
    rmSync(this.folder, { recursive: true, force: true })
  }
}
