import { setTimeout as sleep } from 'node:timers/promises'
import { openPostgresEngine } from '@ledger-state/postgres-engine'
import { type PostgresServer, startPostgres } from '@ledger-state/postgres-engine/testing/postgres-server'
import { type Cut, startTcpProxy, type TcpProxy } from '@ledger-state/postgres-engine/testing/tcp-proxy'
import pg from 'pg'

/** Text instead of a URL, for a server that the soak starts and kills. */
const EMBEDDED = 'embedded'

const DEFAULT_PORT = 5432
/** Time within which a commit must come for a cut. */
const CUT_PATIENCE_MS = 30_000

/** Database of a node's store. The node reaches it over connections that can be cut. */
export class SoakDatabase {
  /** URL of the database, through the proxy. */
  readonly url: string
  /** The server; undefined if the soak did not start it and therefore must not kill it. */
  readonly server: PostgresServer | undefined
  readonly #direct: string
  readonly #proxy: TcpProxy

  /**
   * Opens the database.
   * @param store a URL, or `EMBEDDED`
   * @throws if the database already has a store
   */
  static async open(store: string): Promise<SoakDatabase> {
    const server = store === EMBEDDED ? await startPostgres() : undefined
    const direct = server?.url() ?? store
    try {
      await expectNoStore(direct)
      const { hostname, port } = new URL(direct)
      return new SoakDatabase(direct, server, await startTcpProxy(Number(port || DEFAULT_PORT), hostname))
    } catch (error) {
      await server?.close()
      throw error
    }
  }

  private constructor(direct: string, server: PostgresServer | undefined, proxy: TcpProxy) {
    this.#direct = direct
    this.server = server
    this.#proxy = proxy
    const url = new URL(direct)
    url.hostname = '127.0.0.1'
    url.port = String(proxy.port)
    this.url = url.href
  }

  /** Cuts the connection that sends this text next. Resolves with whether one did. */
  async cutOn(text: string, cut: Cut): Promise<boolean> {
    const isCut = this.#proxy.cutOn(text, cut).then(() => true)
    return await Promise.race([isCut, sleep(CUT_PATIENCE_MS, false, { ref: false })])
  }

  /** Holds all that is sent for a time. */
  async holdConnections(milliseconds: number): Promise<void> {
    this.#proxy.hold()
    await sleep(milliseconds)
    this.#proxy.flow()
  }

  async refuseConnections(milliseconds: number): Promise<void> {
    this.#proxy.refuse()
    await sleep(milliseconds)
    this.#proxy.accept()
  }

  /** Takes the store over, as a writer on another machine does if it thinks that the first one is dead. */
  async takeOver(): Promise<void> {
    await (await openPostgresEngine({ url: this.#direct, takeOver: true })).close()
  }

  async close(): Promise<void> {
    await this.#proxy.close()
    if (this.server) await this.server.close()
    else await run(this.#direct, 'DROP SCHEMA IF EXISTS ledger_state CASCADE')
  }
}

async function expectNoStore(url: string): Promise<void> {
  const found = await run(url, "SELECT FROM pg_namespace WHERE nspname = 'ledger_state'")
  if (found > 0) throw new Error('the database has a store: name an empty one')
}

/** Resolves with the number of rows. */
async function run(url: string, sql: string): Promise<number> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(sql)).rowCount ?? 0
  } finally {
    await client.end()
  }
}
