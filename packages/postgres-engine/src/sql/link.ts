import type { Socket } from 'node:net'
import type { QueryResult, QueryResultRow } from 'pg'
import pg from 'pg'
import { unavailable } from '../errors.js'
import type { ServerAddress } from './server-address.js'

export interface Statement {
  readonly text: string
  readonly values?: readonly unknown[]
  /** Name of a statement that is prepared once for each connection. */
  readonly name?: string
}

export interface LinkOptions {
  readonly server: ServerAddress
  /** Whether a statement is sent while earlier ones wait for their answers. */
  readonly isPipelined: boolean
  /** Called after connecting, before anything else. */
  readonly greet?: (client: pg.Client) => Promise<void>
}

/** Time for which a server that failed is not asked, so that not each read waits for it. */
const REST_MS = 100
/** Least silence after which a statement that is not answered in time breaks a connection that others use, too. */
const SILENCE_MS = 500

/**
 * A connection to a server, made when it is first needed, and again after it broke. A statement that is not answered in
 * time breaks it, because the statements after it would have to wait too; if it is pipelined, only after a silence, so
 * that a caller with little time left does not fail the statements of others.
 */
export class ServerLink {
  readonly server: ServerAddress
  readonly #options: LinkOptions
  #client: Promise<pg.Client> | undefined
  #open: pg.Client | undefined
  #failedAt = Number.NEGATIVE_INFINITY
  #failure: unknown
  /** Number of pieces of work under way. */
  #working = 0
  /** Since when the server has sent nothing while an answer was due; undefined if none is due. */
  #silentSince: number | undefined
  #isClosed = false

  constructor(options: LinkOptions) {
    this.server = options.server
    this.#options = options
  }

  get isConnected(): boolean {
    return this.#open !== undefined
  }

  /** Whether the server failed less than `REST_MS` ago. */
  get isResting(): boolean {
    return performance.now() - this.#failedAt < REST_MS
  }

  /** Runs a statement. @throws errors of the driver and the server; `unavailable` when the time is over */
  async query<R extends QueryResultRow>(statement: Statement, patienceMs: number): Promise<QueryResult<R>> {
    const [result] = await this.queryAll<R>([statement], patienceMs)
    return result!
  }

  /** Runs statements on one connection, which answers them in their order. @throws as `query` */
  async queryAll<R extends QueryResultRow>(
    statements: readonly Statement[],
    patienceMs: number,
  ): Promise<QueryResult<R>[]> {
    const until = performance.now() + patienceMs
    const client = await this.connect(patienceMs)
    const left = until - performance.now()
    // Nothing was asked, so nothing says that the connection is broken.
    if (left <= 0) throw unavailable(this.server.name, 'it took too long')
    return await this.within(left, () =>
      Promise.all(statements.map((statement) => client.query<R>(statement as pg.QueryConfig))),
    )
  }

  /**
   * Returns the open connection, for use in the function given to `within`. Callers share the attempt to connect, and
   * each waits for it as long as it can.
   */
  async connect(patienceMs: number): Promise<pg.Client> {
    if (this.#open) return this.#open
    if (this.isResting) throw this.#failure
    this.#client ??= this.#connect(patienceMs)
    return await withTimeLimit(this.server, patienceMs, this.#client)
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
      this.#silentSince = undefined
      streamOf(client).on('data', () => this.#hear(client))
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

  /** Runs work on the connection. If it takes too long, it fails, and breaks the connection as the class says. */
  async within<T>(patienceMs: number, work: () => Promise<T>): Promise<T> {
    const client = this.#open
    this.#working++
    this.#silentSince ??= performance.now()
    let isAnswered = true
    try {
      return await withTimeLimit(this.server, patienceMs, work())
    } catch (error) {
      isAnswered = (error as { code?: unknown }).code !== 'unavailable'
      if (client && !isAnswered && this.#isSilent) {
        this.#failedAt = performance.now()
        this.#failure = error
        this.#forget(client)
        destroy(client)
      }
      throw error
    } finally {
      this.#working--
      if (isAnswered && this.#working === 0) this.#silentSince = undefined
    }
  }

  get #isSilent(): boolean {
    const since = this.#silentSince
    return !this.#options.isPipelined || (since !== undefined && performance.now() - since >= SILENCE_MS)
  }

  #hear(client: pg.Client): void {
    if (this.#open === client) this.#silentSince = this.#working > 0 ? performance.now() : undefined
  }

  #forget(client: pg.Client): void {
    if (this.#open === client) this.#open = undefined
  }

  /** Ends the connection. Statements under way fail, and the next statement makes a new connection. */
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

/** Destroys a connection: `end` would wait for a server that does not answer. */
function destroy(client: pg.Client): void {
  streamOf(client).destroy()
}

function streamOf(client: pg.Client): Socket {
  const { connection } = client as unknown as { readonly connection: { readonly stream: Socket } }
  return connection.stream
}
