import type { AsyncStateReader, AsyncStateWriter, LedgerSummary, ListenerOptions } from '@ledger-state/engine'
import { createCommitWatch, expectCount, expectOptions, invalidArgument } from '@ledger-state/engine/authoring'
import { type CheckOptions, type CheckReport, checkStore } from './maintain/check-store.js'
import { Servers } from './read/servers.js'
import { Snapshots } from './read/snapshots.js'
import { createSchema } from './schema/create-schema.js'
import { parseServerUrl, type ServerAddress } from './sql/server-address.js'
import { commitBatch } from './write/commit.js'
import { beginImport, unfinishedImport } from './write/import-state.js'
import { KnownKeys } from './write/known-keys.js'
import { pruneStore } from './write/prune.js'
import { putMark } from './write/put-mark.js'
import { truncateStore } from './write/truncate.js'
import { WriterSession } from './write/writer-session.js'

/** Which servers an engine asks, and how long it waits for them. */
export interface PostgresReaderOptions {
  /**
   * URL of the server: `postgres://USER:PASSWORD@HOST:PORT/DATABASE`, with the parameters of libpq, such as `sslmode`.
   */
  readonly url: string
  /** Streaming replicas of that server. Reads take them in turn, and use the server itself if none can answer. */
  readonly replicas?: readonly string[] | undefined
  /** Longest time of a read with all of its attempts, in milliseconds: 2,000 by default. */
  readonly patienceMs?: number | undefined
  /** Longest time for which a snapshot counts as the newest, in milliseconds: 20 by default. */
  readonly headMaxAgeMs?: number | undefined
}

/** Options of the writer of a store. */
export interface PostgresWriterOptions extends PostgresReaderOptions {
  /** Whether a store is created if there is none; true by default. */
  readonly create?: boolean | undefined
  /**
   * Whether to end the session of a writer that still holds the store, such as one whose machine is gone; false by
   * default.
   */
  readonly takeOver?: boolean | undefined
  /** Longest time of a commit or a step of a prune with all of its attempts, in milliseconds: 30,000 by default. */
  readonly writePatienceMs?: number | undefined
}

interface Checked {
  /** Checks that the whole store keeps the invariants of its layout. */
  check(options?: CheckOptions): Promise<CheckReport>
}

/** A store on PostgreSQL, open for reading. */
export interface PostgresEngineReader extends AsyncStateReader, Checked {}

/** A store on PostgreSQL, open for its one writer. */
export interface PostgresEngine extends AsyncStateWriter, Checked {}

const PATIENCE_MS = 2_000
const WRITE_PATIENCE_MS = 30_000
const HEAD_MAX_AGE_MS = 20
/** Interval at which readers look for commits while a listener waits for them. */
const POLL_MS = 200

const knownOptions = {
  url: 0,
  replicas: 0,
  patienceMs: 0,
  headMaxAgeMs: 0,
  create: 0,
  takeOver: 0,
  writePatienceMs: 0,
} satisfies Record<keyof PostgresWriterOptions, 0>
/**
 * Options that readers accept. Those of writers are among them and have no effect, so that programs can use one object
 * for both.
 */
const KNOWN_OPTIONS = Object.keys(knownOptions)

/**
 * Opens the store of a database for reading.
 * @throws `invalid_argument`, `store_missing`, `store_format`, `store_failed`, `unavailable`
 */
export async function openPostgresEngineReader(options: PostgresReaderOptions): Promise<PostgresEngineReader> {
  const parts = createReader(options)
  try {
    await parts.snapshots.take()
  } catch (error) {
    await parts.reader.close()
    throw error
  }
  return parts.reader
}

/**
 * Opens the store of a database for its one writer.
 * @throws as `openPostgresEngineReader`; `store_locked` if another writer has it open, `store_read_only`
 */
export async function openPostgresEngine(options: PostgresWriterOptions): Promise<PostgresEngine> {
  const { reader, snapshots, server, patienceMs } = createReader(options)
  const session = new WriterSession({
    server,
    create: options.create ?? true,
    takeOver: options.takeOver ?? false,
    patienceMs,
    writePatienceMs: options.writePatienceMs ?? WRITE_PATIENCE_MS,
    onHead: (head, askedAt) => snapshots.learn(head, askedAt),
  })
  try {
    await session.open()
  } catch (error) {
    await session.close()
    await reader.close()
    throw error
  }
  const known = new KnownKeys()
  const open = async <T>(work: () => Promise<T>): Promise<T> => {
    snapshots.expectOpen()
    return await work()
  }
  return {
    ...reader,
    // A spread would read getters once.
    get ledger() {
      return snapshots.ledger
    },
    commit: (versions, commitOptions) => open(() => commitBatch(session, known, versions, commitOptions)),
    prune: (retainVersions, pruneOptions) => open(() => pruneStore(session, known, retainVersions, pruneOptions)),
    truncateTo: (version, truncateOptions) =>
      open(() => session.inTurn(() => truncateStore(session, known, version, truncateOptions))),
    putMark: (mark) => open(() => session.inTurn(() => putMark(session, mark))),
    beginImport: (version, importOptions) =>
      open(() => session.inTurn(() => beginImport(session, known, version, importOptions))),
    unfinishedImport: () => open(() => session.inTurn(() => unfinishedImport(session))),
    async close() {
      await reader.close()
      await session.close()
    },
  }
}

/**
 * Creates the store of a database if there is none, such as for a writer whose user lacks the right to create it.
 * @throws as `openPostgresEngine`
 */
export async function createPostgresStore({ url }: { readonly url: string }): Promise<void> {
  await createSchema(parseServerUrl(url), PATIENCE_MS)
}

interface ReaderParts {
  readonly reader: PostgresEngineReader
  readonly snapshots: Snapshots
  readonly server: ServerAddress
  readonly patienceMs: number
}

function createReader(options: PostgresReaderOptions): ReaderParts {
  expectOptions('the options of the store', options, KNOWN_OPTIONS)
  const { url, replicas = [], patienceMs = PATIENCE_MS, headMaxAgeMs = HEAD_MAX_AGE_MS } = options
  const server = parseServerUrl(url)
  if (!Array.isArray(replicas)) throw invalidArgument('replicas', 'an array', replicas)
  expectCount('patienceMs', patienceMs, 1)
  expectCount('headMaxAgeMs', headMaxAgeMs, 0)
  const servers = new Servers(server, replicas.map(parseServerUrl), patienceMs)
  const watch = createCommitWatch(() => snapshots.ledger)
  const snapshots: Snapshots = new Snapshots({ servers, headMaxAgeMs, onChange: () => watch.notice() })
  const poll = createPoll(() => snapshots.take())
  const reader: PostgresEngineReader = {
    kind: 'async',
    get ledger() {
      return snapshots.ledger
    },
    snapshot: () => snapshots.take(),
    onCommit(listener: (ledger: LedgerSummary) => void, listenerOptions?: ListenerOptions) {
      snapshots.expectOpen()
      const remove = watch.add(listener, listenerOptions)
      const rest = poll.begin()
      return () => {
        remove()
        rest()
      }
    },
    check: async (checkOptions) => {
      snapshots.expectOpen()
      return await checkStore(server, checkOptions)
    },
    async close() {
      snapshots.close()
      watch.close()
      poll.end()
      servers.close()
    },
    async [Symbol.asyncDispose]() {
      await this.close()
    },
  }
  return { reader, snapshots, server, patienceMs }
}

/**
 * Calls `look` at an interval as long as at least one caller has begun it. The reads that follow report the failures.
 */
function createPoll(look: () => Promise<unknown>) {
  let users = 0
  let timer: NodeJS.Timeout | undefined
  const end = () => {
    clearInterval(timer)
    timer = undefined
  }
  return {
    begin() {
      users++
      timer ??= setInterval(() => look().catch(() => {}), POLL_MS).unref()
      let isOver = false
      return () => {
        if (isOver) return
        isOver = true
        users--
        if (users === 0) end()
      }
    },
    end,
  }
}
