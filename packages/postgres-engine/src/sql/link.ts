import type { QueryResult, QueryResultRow } from 'pg'
import pg from 'pg'
import { unavailable } from '../errors.js'
import type { ServerAddress } from './server-address.js'

export interface Statement {
  readonly text: string
  readonly values?: readonly unknown[]
  /** Statements with a name are prepared once for each connection. */
  readonly name?: string
}

export interface LinkOptions {
  readonly server: ServerAddress
  /** Whether a statement is sent while earlier ones wait for their answers. */
  readonly isPipelined: boolean
  /** Runs after connecting, before anything else. */
  readonly greet?: (client: pg.Client) => Promise<void>
}

/** How long a server that failed is left alone, so that not each read waits for it. */
const REST_MS = 100

/**
 * One connection to a server, made when it is needed and again after it broke. A statement that is not answered in time
 * breaks it: the statements behind it would wait as long.
 */
export class Link {
  readonly server: ServerAddress
  readonly #options: LinkOptions
  #client: Promise<pg.Client> | undefined
  #open: pg.Client | undefined
  #failedAt = Number.NEGATIVE_INFINITY
  #failure: unknown
  #isClosed = false

  constructor(options: LinkOptions) {
    this.server = options.server
    this.#options = options
  }

  get isConnected(): boolean {
    return this.#open !== undefined
  }

  /** Whether it failed a moment ago. */
  get isResting(): boolean {
    return performance.now() - this.#failedAt < REST_MS
  }

  /** @throws errors of the driver and the server; `unavailable` when the time is over */
  async query<R extends QueryResultRow>(statement: Statement, patienceMs: number): Promise<QueryResult<R>> {
    const [result] = await this.queryAll<R>([statement], patienceMs)
    return result!
  }

  /** Statements of one connection, which answers each after the one before. @throws as `query` */
  async queryAll<R extends QueryResultRow>(
    statements: readonly Statement[],
    patienceMs: number,
  ): Promise<QueryResult<R>[]> {
    const until = performance.now() + patienceMs
    const client = await this.connect(patienceMs)
    return await this.within(until - performance.now(), () =>
      Promise.all(statements.map((statement) => client.query<R>(statement as pg.QueryConfig))),
    )
  }

  /** The open connection, to be used within `within`. */
  async connect(patienceMs: number): Promise<pg.Client> {
    if (this.#open) return this.#open
    if (this.isResting) throw this.#failure
    this.#client ??= this.#connect(patienceMs)
    return await this.#client
  }

  async #connect(patienceMs: number): Promise<pg.Client> {
    const { server, isPipelined, greet } = this.#options
    const client = new pg.Client({
      connectionString: server.url,
      connectionTimeoutMillis: Math.max(1, Math.ceil(patienceMs)),
      keepAlive: true,
      application_name: 'ledger-state',
      pipeline: isPipelined,
    } as pg.ClientConfig)
    const onEnd = () => this.#forget(client)
    client.on('error', onEnd)
    client.on('end', onEnd)
    this.#open = undefined
    try {
      await client.connect()
      if (greet) await withTimeLimit(server, patienceMs, greet(client))
      // Closed while it connected.
      if (this.#isClosed) throw unavailable(server.name, 'it was closed')
      this.#open = client
      return client
    } catch (error) {
      this.#failedAt = performance.now()
      this.#failure = error
      destroy(client)
      throw error
    } finally {
      this.#client = undefined
    }
  }

  /** Work on the connection; if it takes longer, the connection is broken. */
  async within<T>(patienceMs: number, work: () => Promise<T>): Promise<T> {
    const client = this.#open
    try {
      return await withTimeLimit(this.server, patienceMs, work())
    } catch (error) {
      if (client && (error as { code?: unknown }).code === 'unavailable') {
        this.#failedAt = performance.now()
        this.#failure = error
        this.#forget(client)
        destroy(client)
      }
      throw error
    }
  }

  #forget(client: pg.Client): void {
    if (this.#open === client) this.#open = undefined
  }

  /** Ends the connection; statements under way fail. The next statement makes a new one. */
  disconnect(): void {
    const client = this.#open
    this.#open = undefined
    if (client) destroy(client)
  }

  close(): void {
    this.#isClosed = true
    this.disconnect()
  }
}

async function withTimeLimit<T>(server: ServerAddress, patienceMs: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise<never>((_, reject) => {
    const fail = () => reject(unavailable(server.name, 'it took too long'))
    timer = setTimeout(fail, Math.max(0, patienceMs))
  })
  try {
    return await Promise.race([work, limit])
  } finally {
    clearTimeout(timer)
    work.catch(() => {})
  }
}

/** `end` would wait for a server that does not answer. */
function destroy(client: pg.Client): void {
  const { connection } = client as unknown as { readonly connection: { readonly stream: { destroy(): void } } }
  connection.stream.destroy()
}
