import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { platform, tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { eventually } from '@ledger-state/testing/eventually'
import { hasSharedData, sharedPath } from '@ledger-state/testing/shared-data'
import { runSql } from './run-sql.ts'
import { signalServer } from './signal-server.ts'

const SCRIPT = sharedPath('citus/cluster.sh')
const POSTGRES = '/usr/lib/postgresql/15/bin/postgres'
/** Least minor version of the server for which the library of shared/citus was built; an older one does not load it. */
const LEAST_MINOR = 20

/** Why no cluster can be started here; undefined if one can. */
export const CITUS_MISSING = whyMissing()

function whyMissing(): string | undefined {
  if (!hasSharedData) return 'shared/ is absent'
  if (platform() !== 'linux' || process.getuid?.() !== 0) return 'it takes root on Linux'
  const { stdout } = spawnSync(POSTGRES, ['--version'], { encoding: 'utf8' })
  const [, version, minor] = /PostgreSQL\) (15\.(\d+))/.exec(stdout ?? '') ?? []
  if (version === undefined) return 'postgresql-15 is not installed'
  return Number(minor) < LEAST_MINOR ? `PostgreSQL is ${version}, older than 15.${LEAST_MINOR}` : undefined
}

/** Name of the cluster for a group of tests. */
export const ON_CITUS = CITUS_MISSING === undefined ? 'on Citus' : `on Citus (skipped: ${CITUS_MISSING})`

export interface CitusOptions {
  readonly workers: number
  /** Number of workers that are not part of the cluster at first. */
  readonly spares?: number
  /**
   * Number of shards. A test needs few: each is a table on a worker, and a statement on all rows is one for each shard.
   */
  readonly shards?: number
  /** Settings of the coordinator. */
  readonly settings?: Readonly<Record<string, string>>
}

/** Starts a coordinator and workers. They end with this process, however it ends. */
export async function startCitus({
  workers,
  spares = 0,
  shards = 4,
  settings = {},
}: CitusOptions): Promise<CitusCluster> {
  const folder = mkdtempSync(join(tmpdir(), 'citus-'))
  const guard = guardFolder(folder)
  try {
    // One cluster at a time: the script unpacks the library and looks for free ports. With `-o` the servers do not keep
    // the lock.
    const words = ['-o', join(tmpdir(), 'citus-start.lock'), SCRIPT, 'start', folder, String(workers + spares)]
    await promisify(execFile)('flock', words, { timeout: 120_000 })
    const cluster = new CitusCluster(folder, guard)
    await cluster.settle(workers, spares, { ...settings, 'citus.shard_count': String(shards) })
    return cluster
  } catch (error) {
    endServers(folder, guard)
    throw error
  }
}

export class CitusCluster {
  readonly #folder: string
  readonly #guard: ChildProcess

  constructor(folder: string, guard: ChildProcess) {
    this.#folder = folder
    this.#guard = guard
  }

  /** URL of the coordinator. */
  get url(): string {
    return this.#url('coordinator')
  }

  #url(name: string): string {
    return `postgres://postgres@127.0.0.1:${this.portOf(name)}/postgres`
  }

  /** Port of a server, which is `coordinator`, `worker-1`, … */
  portOf(name: string): number {
    return Number(readFileSync(join(this.#folder, `${name}.port`), 'utf8'))
  }

  /** Runs a statement as the administrator, by default on the coordinator. */
  async sql(text: string, name = 'coordinator'): Promise<readonly Record<string, unknown>[]> {
    return await runSql(this.#url(name), text)
  }

  async settle(workers: number, spares: number, settings: Readonly<Record<string, string>>): Promise<void> {
    const names = Array.from({ length: workers + spares }, (_, at) => `worker-${at + 1}`)
    for (const spare of names.slice(workers)) {
      await this.sql(`SELECT citus_remove_node('127.0.0.1', ${this.portOf(spare)})`)
    }
    for (const [name, value] of Object.entries(settings)) await this.sql(`ALTER SYSTEM SET ${name} = ${value}`)
    for (const name of ['coordinator', ...names]) {
      // Needed by the logical replication that moves and splits shards.
      await this.sql("ALTER SYSTEM SET output_plugin_libraries = 'pgoutput', 'citus'", name)
      // Only servers fail in tests, not the machine.
      await this.sql('ALTER SYSTEM SET fsync = off', name)
      await this.sql('SELECT pg_reload_conf()', name)
    }
  }

  async add(worker: string): Promise<void> {
    await this.sql(`SELECT citus_add_node('127.0.0.1', ${this.portOf(worker)})`)
  }

  /** Has the coordinator reach a worker, which has no shards yet, by another port. */
  async reroute(worker: string, port: number): Promise<void> {
    // The proxy has to read the texts of statements.
    await this.sql("ALTER SYSTEM SET citus.node_conninfo = 'sslmode=disable'")
    await this.sql('SELECT pg_reload_conf()')
    await this.sql(`SELECT citus_remove_node('127.0.0.1', ${this.portOf(worker)})`)
    await this.sql(`SELECT citus_add_node('127.0.0.1', ${port})`)
  }

  #pidOf(name: string): number {
    return Number(readFileSync(join(this.#folder, name, 'postmaster.pid'), 'utf8').split('\n')[0])
  }

  /** Kills a server as `kill -9` does. */
  kill(name: string): void {
    process.kill(this.#pidOf(name), 'SIGKILL')
  }

  /** Starts a server. After a kill, it tries until the sessions of the killed server have released its memory. */
  async start(name: string): Promise<void> {
    await eventually(
      async () => {
        await promisify(execFile)(SCRIPT, ['up', this.#folder, name], { timeout: 60_000 })
        return true
      },
      () => `${name} to start`,
    )
  }

  /** Pauses a server with all its sessions, until `proceed`. */
  halt(name: string): void {
    signalServer(this.#pidOf(name), 'SIGSTOP')
  }

  proceed(name: string): void {
    signalServer(this.#pidOf(name), 'SIGCONT')
  }

  close(): void {
    endServers(this.#folder, this.#guard)
  }
}

// Stopped processes do not react to signals to end.
const END = `
for file in "$1"/*/postmaster.pid; do
  pid=$(head -n 1 "$file") && kill -CONT "$pid" $(ps -o pid= --ppid "$pid")
done
"$0" stop "$1"
rm -rf "$1"`

/** Starts a process that ends the servers once this process has ended, even if it is killed. */
function guardFolder(folder: string): ChildProcess {
  const wait = 'while kill -0 "$2"; do sleep 1; done'
  const words = ['-c', `${wait}\n${END}`, SCRIPT, folder, String(process.pid)]
  const guard = spawn('sh', words, { detached: true, stdio: 'ignore', cwd: '/' })
  guard.unref()
  return guard
}

function endServers(folder: string, guard: ChildProcess): void {
  spawnSync('sh', ['-c', END, SCRIPT, folder], { stdio: 'ignore', cwd: '/', timeout: 60_000 })
  rmSync(folder, { recursive: true, force: true })
  guard.kill('SIGKILL')
}
