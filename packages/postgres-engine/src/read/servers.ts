import { Backoff, pauseFor } from '@ledger-state/core'
import { branchOf, expectNotTruncated, type LedgerSummary, type Truncation } from '@ledger-state/engine'
import { storeClosed } from '@ledger-state/engine/authoring'
import type { Client, QueryResultRow } from 'pg'
import { storeDamaged, storeMissing, unavailable } from '../errors.js'
import { END_ABANDONED_STATEMENTS, expectLayout, hasCitus } from '../schema/create-schema.js'
import { type Head, type HeadRow, rowToHead, SELECT_HEAD, toTruncations } from '../schema/head.js'
import { ServerLink, type Statement } from '../sql/link.js'
import type { ServerAddress } from '../sql/server-address.js'
import { isPassing, toStoreError } from '../sql/server-errors.js'
import { readShardMap, type ShardMap } from './shard-map.js'

/** Answer of a server to a statement of reads, with the window of the server in the same snapshot. */
export interface ServerAnswer<R> {
  readonly rows: readonly R[]
  /** Whether the server is the one that takes writes. A window of a replica may be old, as its replication may stop. */
  readonly isOfPrimary: boolean
  readonly latestVersion: bigint
  readonly oldestVersion: bigint
  /** Number of the newest truncation. */
  readonly branch: number
  /** `Head.markNumber` of the store. */
  readonly markNumber: bigint
  /** Truncations of the store; there if it was truncated since the ledger of the question. */
  readonly truncations: readonly Truncation[] | undefined
}

/** A statement that reads. `values` are its `$n`. */
export interface Question extends Required<Statement> {
  /** Version that the answering server must have: the answer of a server that lags behind it is discarded. */
  readonly version: bigint
  /** Ledger that the question sees. The answer of a server that does not have its branch yet is discarded. */
  readonly ledger: LedgerSummary
}

/** @throws `version_truncated` if the version was cut off after the question was asked */
export function expectNotCut(
  version: bigint,
  ledger: LedgerSummary,
  { truncations }: Pick<ServerAnswer<unknown>, 'truncations'>,
): void {
  expectNotTruncated(version, ledger, { ...ledger, truncations })
}

type Answer<R> = Omit<ServerAnswer<R>, 'isOfPrimary'>

/** Whether an answer can be used. A server that lags, or has truncated since, may lack the version. */
function isBelieved(answer: Answer<unknown>, { version, ledger }: Pick<Question, 'version' | 'ledger'>): boolean {
  const branch = branchOf(ledger)
  return answer.branch > branch || (answer.branch === branch && answer.latestVersion >= version)
}

interface Server {
  readonly link: ServerLink
  /** Whether the connection was set up once. */
  isKnown: boolean
  /** Map of the shards of a store that Citus distributes; undefined for other stores. */
  shards: ShardMap | undefined
}

interface WindowRow {
  readonly latest_version: string | null
  readonly oldest_version: string | null
  readonly branch: string
  readonly mark_number: string
  readonly truncations: readonly string[] | null
}

const SELECT_WINDOW = {
  name: 'window',
  text: 'SELECT latest_version, oldest_version, branch, mark_number, truncations FROM ledger_state.head',
}
/** Pauses between attempts: a replica shows a version some milliseconds after its primary. */
const PAUSES = { firstMs: 20, longestMs: 250 }

/** Servers that answer reads: replicas in turn, then the one that takes writes. */
export class Servers {
  readonly #primary: Server
  readonly #replicas: readonly Server[]
  readonly #patienceMs: number
  #turn = 0
  readonly #closed = new AbortController()

  constructor(primary: ServerAddress, replicas: readonly ServerAddress[], patienceMs: number) {
    this.#primary = createServer(primary, patienceMs)
    this.#replicas = replicas.map((address) => createServer(address, patienceMs))
    this.#patienceMs = patienceMs
  }

  get name(): string {
    return this.#primary.link.server.name
  }

  /**
   * Map of the shards of a store that Citus distributes; undefined for other stores. Asks for the head first if no
   * server is known yet.
   */
  async shards(): Promise<ShardMap | undefined> {
    if (!this.#known) await this.head()
    return this.#known?.shards
  }

  /** Makes the next connection read the map of shards again. */
  forgetShards(): void {
    this.#primary.link.disconnect()
  }

  get #known(): Server | undefined {
    return this.#primary.isKnown ? this.#primary : this.#replicas.find(({ isKnown }) => isKnown)
  }

  /** Head of the store. That of a replica is used only if the primary does not answer. */
  async head(): Promise<Head> {
    const { rows } = await this.#firstAnswer([this.#primary, ...this.#replicas], (server, patienceMs) =>
      server.link.query<HeadRow & QueryResultRow>({ name: 'head', text: SELECT_HEAD }, patienceMs),
    )
    if (!rows[0]) throw storeDamaged(this.name, 'the table head is empty')
    return rowToHead(rows[0])
  }

  async ask<R extends QueryResultRow>(question: Question): Promise<ServerAnswer<R>> {
    const turn = this.#turn++
    const replicas = this.#replicas.map((_, at) => this.#replicas[(turn + at) % this.#replicas.length]!)
    return await this.#firstAnswer([...replicas, this.#primary], async (server, patienceMs) => {
      const until = performance.now() + patienceMs
      if (!server.isKnown) await server.link.connect(patienceMs)
      if (server.shards && server !== this.#primary) return undefined
      const left = until - performance.now()
      const answer = server.shards
        ? await askCoordinator<R>(server.link, [question], left)
        : await askServer<R>(server.link, question, left)
      return isBelieved(answer, question) ? { ...answer, isOfPrimary: server === this.#primary } : undefined
    })
  }

  /** Asks the shards of a distributed store, one statement each. Returns the rows of all statements. */
  async askShards<R extends QueryResultRow>(
    statements: readonly Required<Statement>[],
    asked: Pick<Question, 'version' | 'ledger'>,
  ): Promise<ServerAnswer<R>> {
    return await this.#firstAnswer([this.#primary], async ({ link }, patienceMs) => {
      const answer = await askCoordinator<R>(link, statements, patienceMs)
      return isBelieved(answer, asked) ? { ...answer, isOfPrimary: true } : undefined
    })
  }

  /** Asks servers in turn until one answers, and repeats that until the time is over. */
  async #firstAnswer<T>(
    servers: readonly Server[],
    ask: (server: Server, patienceMs: number) => Promise<T | undefined>,
  ): Promise<T> {
    const until = performance.now() + this.#patienceMs
    const backoff = new Backoff(PAUSES)
    let failure: unknown
    for (;;) {
      for (const [at, server] of servers.entries()) {
        const left = until - performance.now()
        if (left <= 0) throw this.#unavailable(failure)
        // A server that hangs leaves time for the others.
        const patienceMs = left / (servers.length - at)
        try {
          const answer = await ask(server, patienceMs)
          if (answer !== undefined) return answer
        } catch (error) {
          if (this.#closed.signal.aborted) throw storeClosed()
          if (!isPassing(error)) throw toStoreError(error, server.link.server.name)
          failure = error
        }
      }
      await pauseFor(Math.min(backoff.next(), until - performance.now()), this.#closed.signal)
      if (this.#closed.signal.aborted) throw storeClosed()
    }
  }

  #unavailable(failure: unknown) {
    return failure === undefined
      ? unavailable(this.name, 'no server has the version yet')
      : toStoreError(failure, this.name)
  }

  /** Closes the connections. Questions that are not answered yet fail with `store_closed`. */
  close(): void {
    this.#closed.abort()
    for (const { link } of [this.#primary, ...this.#replicas]) link.close()
  }
}

/** The greatest time limit that PostgreSQL accepts. */
const LONGEST_MS = 2 ** 31 - 1

function createServer(address: ServerAddress, patienceMs: number): Server {
  const server: Server = {
    isKnown: false,
    shards: undefined,
    link: new ServerLink({
      server: address,
      isPipelined: true,
      greet: async (client: Client) => {
        await expectLayout(client, address.name)
        server.shards = (await hasCitus(client)) ? await readShardMap(client) : undefined
        server.isKnown = true
        await client.query('SET default_transaction_read_only = on')
        // Otherwise the server would go on with a statement that we gave up.
        await client.query(`SET statement_timeout = ${Math.min(Math.ceil(patienceMs), LONGEST_MS)}`)
        // Generic plans suit all values. Citus plans by the values, which decide where the rows are.
        await client.query(server.shards ? END_ABANDONED_STATEMENTS : "SET plan_cache_mode = 'force_generic_plan'")
      },
    }),
  }
  return server
}

/** Reads values and window in one snapshot. */
async function askServer<R extends QueryResultRow>(
  link: ServerLink,
  { name, text, values, ledger }: Question,
  patienceMs: number,
): Promise<Answer<R>> {
  const joined = `SELECT head.latest_version, head.oldest_version, head.branch, head.mark_number,
      CASE WHEN head.branch > $${values.length + 1}::bigint THEN head.truncations END AS truncations, answer.*
    FROM ledger_state.head LEFT JOIN LATERAL (SELECT true AS is_answer, found.* FROM (${text}) found) answer ON true`
  const { rows } = await link.query<R & WindowRow & { readonly is_answer: boolean | null }>(
    { name, text: joined, values: [...values, String(branchOf(ledger))] },
    patienceMs,
  )
  return { ...toWindow(rows[0], link), rows: rows.filter((row) => row.is_answer) }
}

/**
 * Reads values first, then the window, with statements of one connection. Citus has no snapshot over all workers, so no
 * single statement would do: the coordinator reads its head before the workers read their rows, and a prune in between
 * would not show. This order excludes each way to a wrong answer:
 * - The version asked for was published before the question, and a version is published once all workers show its rows
 *   (publish.ts). So no row of it is missing, on whichever worker, and rows above it are passed over.
 * - A row is dropped by a transaction that begins after the head with the raised oldest version was committed. So if it
 *   is missed, the window that is read afterwards says that the version was pruned.
 * - Head and rows are found through one server, the coordinator: while a shard moves, a worker may still look for it in
 *   its old place. The head of a standby of the coordinator lags behind the rows, so its answers are discarded.
 */
async function askCoordinator<R extends QueryResultRow>(
  link: ServerLink,
  statements: readonly Statement[],
  patienceMs: number,
): Promise<Answer<R>> {
  const results = await link.queryAll<R & WindowRow>([...statements, SELECT_WINDOW], patienceMs)
  const window = results.pop()
  return { ...toWindow(window?.rows[0], link), rows: results.flatMap(({ rows }) => rows) }
}

function toWindow(row: WindowRow | undefined, link: ServerLink) {
  if (!row) throw storeDamaged(link.server.name, 'the table head is empty')
  if (row.latest_version === null) throw storeMissing.storeAbsent(link.server.name)
  return {
    latestVersion: BigInt(row.latest_version),
    oldestVersion: BigInt(row.oldest_version!),
    branch: Number(row.branch),
    markNumber: BigInt(row.mark_number),
    truncations: row.truncations ? toTruncations(row.truncations) : undefined,
  }
}
