import { branchOf, type LedgerInfo, type Truncation } from '@ledger-state/core'
import { expectNotTruncated } from '@ledger-state/state-engine/engine-kit'
import type { Client, QueryResultRow } from 'pg'
import { storeAbsent, storeDamaged, unavailable } from '../errors.js'
import { type Head, type HeadRow, rowToHead, SELECT_HEAD, toTruncations } from '../schema/head.js'
import { expectLayout, hasCitus } from '../schema/migrate.js'
import { Link } from '../sql/link.js'
import type { ServerAddress } from '../sql/server-address.js'
import { isPassing, toStoreError } from '../sql/server-errors.js'

/** What a statement of reads answers, with the window of the server in the same snapshot. */
export interface Answer<R> {
  readonly rows: readonly R[]
  readonly latestVersion: bigint
  readonly oldestVersion: bigint
  /** The number of the newest truncation. */
  readonly branch: number
  /** There if the store was truncated since the ledger of the question. */
  readonly truncations?: readonly Truncation[] | undefined
}

/** A statement of reads. `$n` are its values. */
export interface Question {
  readonly name: string
  readonly text: string
  readonly values: readonly unknown[]
  /** A server that has not yet this version is not asked, or not believed. */
  readonly version: bigint
  /** What the question sees. A server that has not yet its branch is not believed. */
  readonly ledger: LedgerInfo
}

/** @throws `version_truncated` if the version was cut off between the ledger of a question and the answer */
export function expectNotCut(
  version: bigint,
  ledger: LedgerInfo,
  { truncations }: Pick<Answer<unknown>, 'truncations'>,
): void {
  expectNotTruncated(version, ledger, { ...ledger, truncations })
}

interface Server {
  readonly link: Link
  /** Whether the statement and the window are read one after the other: Citus has no snapshot over all workers. */
  isSharded: boolean
}

interface WindowRow {
  readonly latest_version: string | null
  readonly oldest_version: string | null
  readonly branch: string
  readonly truncations: readonly string[] | null
}

const SELECT_WINDOW = {
  name: 'window',
  text: 'SELECT latest_version, oldest_version, branch, truncations FROM ledger_state.head',
}
const RETRY_PAUSE_MS = 30

/** The servers that answer reads: replicas in turn, then the one that takes writes. */
export class Servers {
  readonly #primary: Server
  readonly #replicas: readonly Server[]
  readonly #patienceMs: number
  #turn = 0

  constructor(primary: ServerAddress, replicas: readonly ServerAddress[], patienceMs: number) {
    this.#primary = createServer(primary)
    this.#replicas = replicas.map(createServer)
    this.#patienceMs = patienceMs
  }

  get name(): string {
    return this.#primary.link.server.name
  }

  /** Whether the tables are spread over workers by Citus. Known once a server has answered. */
  get isSharded(): boolean {
    return this.#primary.isSharded
  }

  /** The head of the store; that of a replica only where the primary does not answer. */
  async head(): Promise<Head> {
    const { rows } = await this.#firstAnswer([this.#primary, ...this.#replicas], (server, patienceMs) =>
      server.link.query<HeadRow & QueryResultRow>({ name: 'head', text: SELECT_HEAD }, patienceMs),
    )
    if (!rows[0]) throw storeDamaged(this.name, 'the table head is empty')
    return rowToHead(rows[0])
  }

  async ask<R extends QueryResultRow>(question: Question): Promise<Answer<R>> {
    const turn = this.#turn++
    const replicas = this.#replicas.map((_, at) => this.#replicas[(turn + at) % this.#replicas.length]!)
    return await this.#firstAnswer([...replicas, this.#primary], async (server, patienceMs) => {
      const answer = await askServer<R>(server, question, patienceMs)
      const branch = branchOf(question.ledger)
      const isBehind = answer.branch === branch && answer.latestVersion < question.version
      return answer.branch < branch || isBehind ? undefined : answer
    })
  }

  /** Asks servers in turn until one answers, and again, until the patience is over. */
  async #firstAnswer<T>(
    servers: readonly Server[],
    ask: (server: Server, patienceMs: number) => Promise<T | undefined>,
  ): Promise<T> {
    const until = performance.now() + this.#patienceMs
    let failure: unknown
    for (;;) {
      for (const [at, server] of servers.entries()) {
        const left = until - performance.now()
        if (left <= 0) throw this.#unavailable(failure)
        // A server that hangs leaves the others their time.
        const patienceMs = left / (servers.length - at)
        try {
          const answer = await ask(server, patienceMs)
          if (answer !== undefined) return answer
        } catch (error) {
          if (!isPassing(error)) throw toStoreError(error, server.link.server.name)
          failure = error
        }
      }
      await new Promise((resolve) => setTimeout(resolve, RETRY_PAUSE_MS))
    }
  }

  #unavailable(failure: unknown) {
    return failure === undefined
      ? unavailable(this.name, 'no server has the version yet')
      : toStoreError(failure, this.name)
  }

  close(): void {
    for (const { link } of [this.#primary, ...this.#replicas]) link.close()
  }
}

function createServer(address: ServerAddress): Server {
  const server: Server = {
    isSharded: false,
    link: new Link({
      server: address,
      isPipelined: true,
      greet: async (client: Client) => {
        server.isSharded = await hasCitus(client)
        await expectLayout(client, address.name)
        await client.query('SET default_transaction_read_only = on')
        // Plans do not depend on what is asked for. Citus plans by the values, which say where the rows are.
        if (!server.isSharded) await client.query("SET plan_cache_mode = 'force_generic_plan'")
      },
    }),
  }
  return server
}

async function askServer<R extends QueryResultRow>(
  server: Server,
  { name, text, values, ledger }: Question,
  patienceMs: number,
): Promise<Answer<R>> {
  if (server.isSharded) return await askShards(server.link, { name, text, values }, patienceMs)
  const joined = `SELECT head.latest_version, head.oldest_version, head.branch,
      CASE WHEN head.branch > $${values.length + 1}::bigint THEN head.truncations END AS truncations, answer.*
    FROM ledger_state.head LEFT JOIN LATERAL (SELECT true AS is_answer, found.* FROM (${text}) found) answer ON true`
  const { rows } = await server.link.query<R & WindowRow & { readonly is_answer: boolean | null }>(
    { name, text: joined, values: [...values, String(branchOf(ledger))] },
    patienceMs,
  )
  return { ...toWindow(rows[0], server.link), rows: rows.filter((row) => row.is_answer) }
}

/**
 * The coordinator publishes a version after all workers have it, so that whoever knows of a version finds it. What was
 * pruned in between shows in the window that is read afterwards.
 */
async function askShards<R extends QueryResultRow>(
  link: Link,
  statement: { readonly name: string; readonly text: string; readonly values: readonly unknown[] },
  patienceMs: number,
): Promise<Answer<R>> {
  const [found, window] = await Promise.all([
    link.query<R>(statement, patienceMs),
    link.query<WindowRow & QueryResultRow>(SELECT_WINDOW, patienceMs),
  ])
  return { ...toWindow(window.rows[0], link), rows: found.rows }
}

function toWindow(row: WindowRow | undefined, link: Link) {
  if (!row) throw storeDamaged(link.server.name, 'the table head is empty')
  if (row.latest_version === null) throw storeAbsent(link.server.name)
  return {
    latestVersion: BigInt(row.latest_version),
    oldestVersion: BigInt(row.oldest_version!),
    branch: Number(row.branch),
    truncations: row.truncations ? toTruncations(row.truncations) : undefined,
  }
}
