import { Backoff, pauseFor } from '@ledger-state/core'
import type { Client, QueryResult, QueryResultRow } from 'pg'
import { storeLocked, workLost } from '../errors.js'
import {
  createSchema,
  END_ABANDONED_STATEMENTS,
  expectLayout,
  hasCitus,
  NO_STATEMENT_TIMEOUT,
  WRITER_LOCK,
} from '../schema/create-schema.js'
import { type Head, type HeadRow, hasLostWork, rowToHead, SELECT_HEAD } from '../schema/head.js'
import { ServerLink } from '../sql/link.js'
import type { ServerAddress } from '../sql/server-address.js'
import { isPassing, toStoreError } from '../sql/server-errors.js'
import { commitOnWorkers, expectNonePrepared, PUBLISH, publishWritten, recoverPrepared } from './publish.js'

export interface WriterSessionOptions {
  readonly server: ServerAddress
  /** Whether to create the store if there is none. */
  readonly create: boolean
  /** Whether to end the session of another writer. */
  readonly takeOver: boolean
  /** How long to try a server that refuses connections. A server that is slow to accept them has more time. */
  readonly patienceMs: number
  /** Longest time of a piece of work, with all of its attempts. */
  readonly writePatienceMs: number
  /** Called with every head that the session reads. */
  readonly onHead: (head: Head, askedAt: number) => void
}

const PAUSES = { firstMs: 50, longestMs: 1_000 }
const LOCK_PAUSES = { firstMs: 20, longestMs: 100 }
/** Time for a connection: a busy server takes seconds to accept one, and an ingest of days should not fail for that. */
const SLOW_CONNECT_MS = 10_000
/** How long to wait for the lock: the session of a writer that ended may hold it a little longer. */
const LOCK_PATIENCE_MS = 1_000

const BEGIN = 'BEGIN; SELECT writer_epoch FROM ledger_state.head FOR UPDATE'
const TERMINATE = `
SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = $1 AND backend_start = $2::timestamptz`
const TERMINATE_HOLDER = `
SELECT pg_terminate_backend(pid) FROM pg_locks
WHERE locktype = 'advisory' AND granted AND ((classid::bigint << 32) | objid::bigint) = $1
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`

/**
 * The session of the one writer. It holds an advisory lock as long as it is connected. Every transaction compares its
 * epoch, a number that each new writer raises, so a writer that lost its connection and slept while another took over
 * is refused. So is a writer that finds a store without work that it did, as its next work relies on that. A writer
 * that connects again keeps its epoch: if it raised the epoch and the answer was lost, it would take itself for deposed.
 */
export class WriterSession {
  readonly #options: WriterSessionOptions
  readonly #link: ServerLink
  readonly #connectMs: number
  #epoch: bigint | undefined
  #backend: { readonly pid: number; readonly start: string } | undefined
  #head: Head | undefined
  #isSharded = false
  /** Whether a worker may still have a prepared part of an earlier transaction, such as rows that were cut off. */
  #isUnsettled = false
  /** Why the session does no further work: it was deposed, or the store lost work. */
  #refusal: unknown
  /** End of the work that was begun last. */
  #tail: Promise<unknown> = Promise.resolve()

  constructor(options: WriterSessionOptions) {
    this.#options = options
    const { patienceMs, writePatienceMs } = options
    this.#connectMs = Math.max(patienceMs, Math.min(SLOW_CONNECT_MS, writePatienceMs))
    this.#link = new ServerLink({ server: options.server, isPipelined: false, greet: (client) => this.#greet(client) })
  }

  get isSharded(): boolean {
    return this.#isSharded
  }

  get server(): string {
    return this.#options.server.name
  }

  /** Head that the last transaction left. Only for use within `inTurn`. */
  get head(): Head {
    return this.#head!
  }

  /** Takes the lock and a new epoch. @throws `store_locked`, `store_missing`, `store_format`, … */
  async open(): Promise<void> {
    const { create, server } = this.#options
    if (create) await createSchema(server, this.#connectMs)
    await this.inTurn(async () => {})
  }

  /** Runs pieces of work one after the other, each with a head that was read since the connection was made. */
  async inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#tail.then(async () => {
      await this.#attempt(async () => {}, this.#options.patienceMs)
      return await work()
    })
    this.#tail = turn.catch(() => {})
    return await turn
  }

  /**
   * Runs a transaction and commits it exactly once. Only for use within `inTurn`. If it fails and may succeed later, the
   * session reads the head by a new connection, and `isDone` decides from it whether the transaction was committed. If it was
   * not, it runs again, until the time is over.
   * @param longMs time limit of each attempt of long work, which does not count as time of the session's patience
   */
  async transact(
    work: (client: Client) => Promise<void>,
    isDone: (head: Head) => boolean,
    longMs?: number,
  ): Promise<void> {
    const before = this.#head
    await this.#attempt(
      async (client) => {
        if (this.#head !== before && isDone(this.head)) return
        await this.#transaction(client, work)
      },
      this.#options.writePatienceMs,
      longMs,
    )
  }

  /** Runs a statement outside of transactions that may be repeated. Only for use within `inTurn`. */
  async query<R extends QueryResultRow>(text: string, values: readonly unknown[] = []): Promise<R[]> {
    let rows: R[] = []
    await this.#attempt(async (client) => {
      rows = (await client.query<R>(text, [...values])).rows
    }, this.#options.writePatienceMs)
    return rows
  }

  async #attempt(work: (client: Client) => Promise<void>, patienceMs: number, longMs?: number): Promise<void> {
    let until = performance.now() + patienceMs
    for (const backoff = new Backoff(PAUSES); ; ) {
      if (this.#refusal) throw this.#refusal
      const left = () => until - performance.now()
      try {
        const client = await this.#link.connect(this.#connectMs)
        const begunAt = performance.now()
        try {
          return await this.#link.within(longMs ?? left(), () => work(client))
        } finally {
          if (longMs !== undefined) until += performance.now() - begunAt
        }
      } catch (error) {
        // The server may have committed before it failed. The head that is read after connecting shows that.
        if (isPassing(error)) this.#link.disconnect()
        if (!isPassing(error) || left() < PAUSES.firstMs) throw toStoreError(error, this.server)
      }
      // The last attempts have time left, so they fail with their own error.
      await pauseFor(Math.min(backoff.next(), left() / 2))
    }
  }

  async #transaction(client: Client, work: (client: Client) => Promise<void>): Promise<void> {
    const askedAt = performance.now()
    if (this.#isUnsettled) await expectNonePrepared(client, this.server)
    this.#isUnsettled = false
    let isCommitting = false
    try {
      // Two statements answer an array of two results.
      const [, locked] = (await client.query(BEGIN)) as unknown as [unknown, QueryResult<{ writer_epoch: string }>]
      if (BigInt(locked.rows[0]?.writer_epoch ?? -1) !== this.#epoch) throw this.#depose()
      await work(client)
      isCommitting = true
      if (this.#isSharded) {
        this.#isUnsettled = await commitOnWorkers(client)
        await publishWritten(client, this.server, this.#isUnsettled)
        await this.#readHead(client, askedAt)
      } else {
        // One round instead of three.
        const results = (await client.query(`${PUBLISH}; COMMIT; ${SELECT_HEAD}`)) as unknown as QueryResult<HeadRow>[]
        this.#learn(results[2]!.rows[0]!, askedAt)
      }
    } catch (error) {
      // The server may have committed. The next work reads the head by a new connection.
      if (isCommitting) this.#link.disconnect()
      else await client.query('ROLLBACK').catch(() => {})
      throw error
    }
  }

  async #readHead(client: Client, askedAt: number): Promise<void> {
    const { rows } = await client.query<HeadRow & QueryResultRow>(SELECT_HEAD)
    this.#learn(rows[0]!, askedAt)
  }

  #learn(row: HeadRow, askedAt: number): void {
    this.#head = rowToHead(row)
    this.#options.onHead(this.#head, askedAt)
  }

  #depose(): unknown {
    return this.#refuse(storeLocked.writerDeposed(this.server))
  }

  #refuse(error: unknown): unknown {
    this.#refusal = error
    return error
  }

  async #greet(client: Client): Promise<void> {
    const { server } = this.#options
    await client.query(
      `${NO_STATEMENT_TIMEOUT}; SET lock_timeout = '5s'; SET idle_in_transaction_session_timeout = '60s';
       SET client_min_messages = 'warning'`,
    )
    await expectLayout(client, server.name)
    this.#isSharded = await hasCitus(client)
    this.#isUnsettled = this.#isSharded
    // The server may not have noticed that our connection broke, and may be in the middle of our transaction.
    if (this.#backend) await client.query(TERMINATE, [this.#backend.pid, this.#backend.start])
    if (this.#isSharded) {
      await client.query(END_ABANDONED_STATEMENTS)
      // A failed commit may have left a prepared part on a worker, which keeps its rows locked.
      await recoverPrepared(client)
    }
    const { rows: own } = await client.query<{ pid: number; start: string }>(
      'SELECT pid, backend_start::text AS start FROM pg_stat_activity WHERE pid = pg_backend_pid()',
    )
    // Before the lock: if this connection breaks unnoticed by the server, the next one has to end its session.
    this.#backend = own[0]
    await this.#lock(client)
    // This waits for a transaction of an earlier session of this writer.
    const { rows } = await client.query<{ writer_epoch: string }>(
      this.#epoch === undefined
        ? 'UPDATE ledger_state.head SET writer_epoch = writer_epoch + 1 RETURNING writer_epoch'
        : 'UPDATE ledger_state.head SET writer_epoch = $1 WHERE writer_epoch = $1 RETURNING writer_epoch',
      this.#epoch === undefined ? [] : [String(this.#epoch)],
    )
    if (!rows[0]) throw this.#depose()
    this.#epoch = BigInt(rows[0].writer_epoch)
    const askedAt = performance.now()
    await publishWritten(client, server.name, this.#isSharded)
    const known = this.#head
    await this.#readHead(client, askedAt)
    if (known && hasLostWork(this.head, known)) throw this.#refuse(workLost(server.name))
  }

  async #lock(client: Client): Promise<void> {
    const { takeOver } = this.#options
    const lock = String(WRITER_LOCK)
    const backoff = new Backoff(LOCK_PAUSES)
    for (const began = performance.now(); ; ) {
      const { rows } = await client.query<{ taken: boolean }>('SELECT pg_try_advisory_lock($1) AS taken', [lock])
      if (rows[0]!.taken) return
      if (takeOver && this.#epoch === undefined) await client.query(TERMINATE_HOLDER, [lock])
      if (performance.now() - began > LOCK_PATIENCE_MS) {
        throw this.#epoch === undefined ? storeLocked.writerElsewhere(this.server) : this.#depose()
      }
      await pauseFor(backoff.next())
    }
  }

  async close(): Promise<void> {
    await this.#tail
    this.#link.close()
  }
}
