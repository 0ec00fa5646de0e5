import { execFile, execFileSync } from 'node:child_process'
import { existsSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { BenchRun } from '../run/bench-run.ts'
import { startEmbeddedPostgres } from '../stores/embedded-postgres.ts'

/** A database server, or a cluster, to measure on. */
export interface Database {
  readonly name: string
  /** Number of Citus workers; 0 for PostgreSQL without Citus. */
  readonly workers: number
  readonly url: string
  close(): Promise<void>
}

/** Starts real clusters: ../shared/citus/README.md. */
const CLUSTER_SCRIPT = fileURLToPath(new URL('../../../../../shared/citus/cluster.sh', import.meta.url))

/** The server that was named, or else those that can be started here, one after the other. */
export async function* openDatabases(run: BenchRun): AsyncGenerator<Database> {
  if (run.store !== undefined) {
    yield { name: 'the server of --store', workers: 0, url: run.store, close: async () => {} }
    return
  }
  yield* tryToOpen(run, 'PostgreSQL', () => openEmbedded(run))
  if (!existsSync(CLUSTER_SCRIPT)) {
    run.note('Citus is left out: its folder is not next to this checkout')
    return
  }
  const sizes = run.byScale({ tiny: [2], small: [1, 2, 3], medium: [1, 2, 3], large: [1, 2, 3] })
  for (const workers of sizes) yield* tryToOpen(run, nameOfCluster(workers), () => openCluster(run, workers))
}

async function* tryToOpen(run: BenchRun, name: string, open: () => Promise<Database>): AsyncGenerator<Database> {
  let database: Database
  try {
    database = await open()
  } catch (error) {
    run.note(`${name} is left out: ${(error as Error).message.trim().split('\n').at(-1)}`)
    return
  }
  try {
    yield database
  } finally {
    await database.close()
  }
}

async function openEmbedded(run: BenchRun): Promise<Database> {
  const { server, url } = await startEmbeddedPostgres(run.folder('distributed'))
  return { name: 'PostgreSQL', workers: 0, url, close: () => server.stop() }
}

function nameOfCluster(workers: number): string {
  return workers === 1 ? 'Citus, 1 worker' : `Citus, ${workers} workers`
}

async function openCluster(run: BenchRun, workers: number): Promise<Database> {
  const folder = run.folder(`citus-${workers}`)
  const script = async (...words: string[]): Promise<string> =>
    (await promisify(execFile)(CLUSTER_SCRIPT, words, { encoding: 'utf8' })).stdout
  // Servers of a cluster outlive the process that started them, so they are stopped when the run ends.
  const forget = run.atEnd(() => execFileSync(CLUSTER_SCRIPT, ['stop', folder]))
  const close = async () => {
    await script('stop', folder)
    forget()
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  }
  try {
    const said = await script('start', folder, String(workers))
    return { name: nameOfCluster(workers), workers, url: said.trim().split('\n').at(-1)!, close }
  } catch (error) {
    await close().catch(() => {})
    throw error
  }
}
