// A folder in which a test runs commands of the program; it is gone when the test ends.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { bytesToHex } from '@ledger-state/core'
import { type LedgerSource, openSource } from '@ledger-state/feed'
import { type IngestOptions, ingestSource } from '@ledger-state/ingest'
import { isOwnKey } from '@ledger-state/records'
import { type LmdbEngineReader, openStateEngine, openStateEngineReader } from '@ledger-state/state-engine'
import { eventually } from '@ledger-state/testing/eventually'
import { storeFacts } from '../src/commands/info.ts'
import { openDemoLedger } from '../src/demo/demo-ledger.ts'
import { FEED_HEADER, feedRows } from './feed-rows.ts'
import { type Outcome, PROGRAM, RunningProgram, type RunOptions, runProgram } from './program.ts'

/** No admin server, which has separate tests: here several nodes run at once. */
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

  /** Runs several commands at the same time. */
  async runAll(commands: readonly (readonly string[])[]): Promise<Outcome[]> {
    return await Promise.all(commands.map((words) => this.start(...words).outcome()))
  }

  start(...words: string[]): RunningProgram {
    return this.startWith({}, ...words)
  }

  /** Starts a command with more variables in its environment. */
  startWith(env: Readonly<Record<string, string>>, ...words: string[]): RunningProgram {
    const program = new RunningProgram(words, { cwd: this.folder, env: { ...ENVIRONMENT, ...env } })
    this.#running.push(program)
    return program
  }

  /** Starts a command that serves, on a free port. Resolves with the address of the API once it serves. */
  async serve(...words: string[]): Promise<{ program: RunningProgram; output: string; address: string }> {
    const program = this.start(...words, '--listen', '127.0.0.1:0')
    const output = await program.outputMatching(/on (http:\/\/\S+)\/v1\n/)
    return { program, output, address: /on (http:\/\/\S+)\/v1/.exec(output)![1]! }
  }

  /** Runs a line of a shell in the folder. */
  async runInShell(line: string): Promise<{ readonly status: number | null; readonly stderr: string }> {
    const shell = spawn('bash', ['-c', line], { cwd: this.folder, env: { ...process.env, ...ENVIRONMENT } })
    let stderr = ''
    shell.stderr.on('data', (chunk) => (stderr += chunk))
    const [status] = (await once(shell, 'close')) as [number | null]
    return { status, stderr }
  }

  /** Words of a shell that run a command of the program. */
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

  /** Ingests a feed of `feedRows` in this process. */
  async fill(store: string, versions: number, options: Pick<IngestOptions, 'retain'> = {}): Promise<void> {
    const path = this.at('feed.ndjson')
    writeFileSync(path, [FEED_HEADER, ...feedRows(0, versions)].join('\n'))
    await this.#ingest(store, await openSource(path), options)
  }

  /** Ingests the demonstration ledger in this process. */
  async fillWithDemo(store: string, options: IngestOptions = {}): Promise<void> {
    await this.#ingest(store, openDemoLedger(), options)
  }

  /** Output of `info --json`, made in this process. */
  async info(store: string): Promise<ReturnType<typeof storeFacts>> {
    return await this.#reading(store, storeFacts)
  }

  /**
   * Digest of everything that a store answers, which does not depend on its source.
   * @throws if the store is not sound
   */
  async digest(store: string): Promise<string> {
    return await this.#reading(store, async (engine) => {
      const { problems } = await engine.check()
      if (problems.length > 0) throw new Error(`${store}: ${problems.join('\n')}`)
      const { oldestVersion, latestVersion } = engine.ledger!
      const hash = createHash('sha256').update(
        inspect([engine.ledger, engine.base!.complete, engine.blockAt(oldestVersion)]),
      )
      for (const { key, value, version } of engine.at(oldestVersion).scan(new Uint8Array(0))) {
        if (!isOwnKey(key)) hash.update(`${bytesToHex(key)}=${bytesToHex(value)}@${version}\n`)
      }
      for (const { version, block, writes } of engine.versions(oldestVersion + 1n, latestVersion)) {
        hash.update(inspect([version, block]))
        for (const [key, value] of writes) {
          if (!isOwnKey(key)) hash.update(`${bytesToHex(key)}=${value && bytesToHex(value)}\n`)
        }
      }
      return hash.digest('hex')
    })
  }

  async #ingest(store: string, source: LedgerSource, options: IngestOptions): Promise<void> {
    const engine = openStateEngine({ path: this.at(store) })
    await ingestSource(engine, source, options)
    await engine.close()
  }

  async #reading<T>(store: string, read: (engine: LmdbEngineReader) => T | Promise<T>): Promise<T> {
    const engine = openStateEngineReader({ path: this.at(store) })
    try {
      return await read(engine)
    } finally {
      await engine.close()
    }
  }

  async close(): Promise<void> {
    for (const { child } of this.#running) child.kill('SIGKILL')
    await Promise.all(this.#running.map(({ ended }) => ended))
    rmSync(this.folder, { recursive: true, force: true })
  }
}
