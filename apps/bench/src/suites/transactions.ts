import { ByteWriter } from '@ledger-state/core'
import { type LedgerSource, openSource } from '@ledger-state/feed'
import { ingestSource, type KeptParts } from '@ledger-state/ingest'
import {
  accountTransactions,
  createLedger,
  eventsOfType,
  type Ledger,
  streamEvents,
  wholeTransactionAt,
} from '@ledger-state/ledger'
import { readSent } from '@ledger-state/records'
import { openStateEngine, openStateEngineReader } from '@ledger-state/state-engine'
import { createRandom, type Random } from '@ledger-state/testing/random'
import { type TypeTag, writeTypeTag } from '@ledger-state/type-tag'
import { type IngestContender, measureContenders } from '../ingest/contenders.ts'
import { createMainnetLikeLedger, SWAP_EVENT } from '../ingest/mainnet-like-ledger.ts'
import { openMainnetLikeSource } from '../ingest/mainnet-like-source.ts'
import { writeBackup } from '../ingest/write-backup.ts'
import { dropFromPageCache } from '../lookup/reader-process.ts'
import type { BenchRun } from '../run/bench-run.ts'
import type { Suite } from '../run/suite.ts'
import { openPostgresTransactions } from '../stores/postgres-transactions.ts'
import { openSqliteTransactions } from '../stores/sqlite-transactions.ts'
import { folderBytes } from '../stores/store.ts'
import type { RowPage, TransactionRows } from '../stores/transaction-rows.ts'

/** Items of a page, as of a request without `limit`. */
const PAGE = 25
const KINDS = ['version', 'account', 'event key', 'event type'] as const
/** Databases with the same transactions as rows. */
const PEERS = [
  { name: 'SQLite', folder: 'transactions-sqlite', open: openSqliteTransactions },
  { name: 'PostgreSQL', folder: 'transactions-postgres', open: openPostgresTransactions },
] as const
const ROW_BATCH = 1_000
const BLOCK_EVENTS = { address: new Uint8Array(32).fill(1, 31), creationNumber: 3n }
const SWAP_TYPE: TypeTag = SWAP_EVENT
const SWAP_BYTES = (() => {
  const writer = new ByteWriter()
  writeTypeTag(writer, SWAP_TYPE)
  return writer.toBytes()
})()

export const transactionsSuite: Suite = {
  name: 'transactions',
  summary:
    'pages of 25 transactions and events, by version, account, event key and event type; ingest with whole transactions; their bytes',
  estimate: (scale) =>
    ({
      tiny: { minutes: 1, memoryBytes: 0.3e9, diskBytes: 0.1e9 },
      small: { minutes: 4, memoryBytes: 1e9, diskBytes: 0.5e9 },
      medium: { minutes: 20, memoryBytes: 2e9, diskBytes: 4e9 },
      large: { minutes: 300, memoryBytes: 8e9, diskBytes: 90e9 },
    })[scale],
  async run(run) {
    await measureIngest(run)
    await measurePages(run, run.byScale({ tiny: 600, small: 30_000, medium: 300_000, large: 10_000_000 }))
  },
}

/** Ingests the same backup with each value of `keepTransactions`, and records the bytes that transactions take. */
async function measureIngest(run: BenchRun): Promise<void> {
  const versions = run.byScale({ tiny: 300, small: 20_000, medium: 60_000, large: 60_000 })
  run.step(`making ${versions} versions like those of mainnet`)
  const backup = run.folder('transactions-backup')
  writeBackup(createMainnetLikeLedger(versions, 'spreading'), backup)
  const bytes = new Map<KeptParts, number>()
  const kinds = ['none', 'summary', 'whole'] as const
  const contenders = kinds.map(
    (kind): IngestContender => ({
      subject: kind,
      role: kind === 'none' ? 'floor' : 'ours',
      ...(kind !== 'none' && { comparedWith: 'none' }),
      async run(folder) {
        const source = await openSource(backup, {})
        const engine = openStateEngine({ path: folder, durability: 'none' })
        await ingestSource(engine, source, { keepTransactions: kind })
        await source.close()
        await engine.merge()
        bytes.set(kind, engine.stats.fileBytes)
        await engine.close()
        return undefined
      },
    }),
  )
  const title = 'ingest of versions like those of mainnet, proven and merged, by `--keep-transactions`'
  const rounds = run.byScale({ tiny: 1, small: 5, medium: 5, large: 5 })
  await measureContenders(run, contenders, { title, metric: 'versions', count: versions, rounds })
  for (const kind of ['summary', 'whole'] as const) {
    const more = (bytes.get(kind)! - bytes.get('none')!) / versions
    run.record({ title, subject: kind, role: 'ours', metric: 'more, by versions', unit: 'B', rounds: more })
  }
  run.removeFolder('transactions-backup')
}

async function measurePages(run: BenchRun, versions: number): Promise<void> {
  const title = `${versions} versions like those of mainnet: a page of ${PAGE}`
  run.step(`ingesting ${versions} versions`)
  const path = run.folder('transactions')
  const sent = new SentCounts()
  const engine = openStateEngine({ path, durability: 'none' })
  const source = sent.countedIn(openMainnetLikeSource(versions, 'spreading'))
  await ingestSource(engine, source, { keepTransactions: 'whole' })
  await engine.merge()
  await engine.close()
  const asked: Asked = { random: createRandom(run.seed), sender: sent.busiest(), versions }
  const bytes = folderBytes(path) / versions
  run.record({ title, subject: 'ledger-state, with the state', metric: 'by versions', unit: 'B', rounds: bytes })
  await measurePagesOf(run, { title, path, name: 'ledger-state', role: 'ours' }, async () => {
    const reader = openStateEngineReader({ path })
    return { page: (kind) => pageOf(createLedger(reader), kind, asked), close: () => reader.close() }
  })
  run.removeFolder('transactions')
  for (const peer of PEERS) {
    try {
      await measurePeer(run, title, peer, asked)
    } catch (error) {
      run.throwIfInterrupted()
      run.note(`${peer.name} is left out: ${(error as Error).message}`)
    }
    run.removeFolder(peer.folder)
  }
}

/** Fills a database with the rows of the same transactions, and reads the same pages. */
async function measurePeer(
  run: BenchRun,
  title: string,
  { name, folder, open }: (typeof PEERS)[number],
  asked: Asked,
): Promise<void> {
  const path = run.folder(folder)
  run.step(`filling ${name}`)
  const bytes = (await fillRows(await open(path), asked.versions)) / asked.versions
  run.record({
    title,
    subject: `${name}, without a state`,
    role: 'peer',
    metric: 'by versions',
    unit: 'B',
    rounds: bytes,
  })
  await measurePagesOf(run, { title, path, name, role: 'peer' }, async () => {
    const rows = await open(path)
    return { page: (kind) => rowsOf(rows, kind, asked), close: async () => rows.close() }
  })
}

/** An open store that has pages of each kind. */
interface Pages {
  page(kind: Kind): RowPage
  close(): Promise<void>
}

interface Measured {
  readonly title: string
  readonly path: string
  readonly name: string
  readonly role: 'ours' | 'peer'
}

/**
 * Records the times of pages of each kind: warm, after as many that warm up; then of the first page of an open while
 * nothing is in the page cache, and of the next ones, each at another place, which nothing has read.
 */
async function measurePagesOf(run: BenchRun, store: Measured, open: () => Promise<Pages>): Promise<void> {
  const { title, path, name, role } = store
  run.step(`reading pages of ${name}`)
  const warm = run.byScale({ tiny: 3, small: 51, medium: 101, large: 201 })
  for (const kind of KINDS) {
    const pages = await open()
    const rounds: number[] = []
    for (let round = -warm; round < warm; round++) {
      run.throwIfInterrupted()
      const time = await timeOfPage(pages, kind)
      if (round >= 0) rounds.push(time)
    }
    await pages.close()
    run.record({ title, subject: `by ${kind}, warm, ${name}`, role, metric: 'time', unit: 'ms', rounds })
  }
  const cold = run.byScale({ tiny: 1, small: 5, medium: 15, large: 31 })
  for (const kind of KINDS) {
    if (!dropFromPageCache(path)) return run.note('cold pages are left out: the page cache cannot be dropped here')
    const pages = await open()
    const first = await timeOfPage(pages, kind)
    const rounds: number[] = []
    for (let round = 0; round < cold; round++) {
      run.throwIfInterrupted()
      rounds.push(await timeOfPage(pages, kind))
    }
    await pages.close()
    const common = { title, role, metric: 'time', unit: 'ms' } as const
    run.record({ ...common, subject: `by ${kind}, the first of a cold open, ${name}`, rounds: first })
    run.record({ ...common, subject: `by ${kind}, cold, ${name}`, rounds })
  }
}

/** Time of a page that begins at a random place, in milliseconds. */
async function timeOfPage(pages: Pages, kind: Kind): Promise<number> {
  const began = performance.now()
  const page = pages.page(kind)
  if (page instanceof Promise) await page
  return performance.now() - began
}

type Kind = (typeof KINDS)[number]

interface Asked {
  readonly random: Random
  /** The account that sent most transactions. */
  readonly sender: { readonly address: Uint8Array; readonly count: number }
  readonly versions: number
}

/** Reads a page that begins at a random place. */
function pageOf(ledger: Ledger, kind: Kind, { random, sender, versions }: Asked): readonly unknown[] {
  switch (kind) {
    case 'version': {
      const state = ledger.at()
      const first = firstVersion(random, versions)
      return Array.from({ length: PAGE }, (_, at) => wholeTransactionAt(state, BigInt(first + at))?.toBcs())
    }
    case 'account':
      return Array.from(
        accountTransactions(ledger.at(), sender.address, { start: startOf(random, sender), limit: PAGE }),
        (one) => one.toBcs(),
      )
    case 'event key':
      return Array.from(
        streamEvents(ledger.at(), BLOCK_EVENTS, { start: firstBlock(random, versions), limit: PAGE }),
        (event) => event?.bytes,
      )
    case 'event type':
      return Array.from(
        eventsOfType(ledger.at(), SWAP_TYPE, { from: BigInt(random.below(versions)), order: 'asc', limit: PAGE }),
        (event) => event?.bytes,
      )
  }
}

/** Reads the rows of a page that begins at a random place. */
function rowsOf(rows: TransactionRows, kind: Kind, { random, sender, versions }: Asked): RowPage {
  switch (kind) {
    case 'version':
      return rows.byVersion(BigInt(firstVersion(random, versions)))
    case 'account':
      return rows.byAccount(sender.address, startOf(random, sender))
    case 'event key':
      return rows.byEventKey(BLOCK_EVENTS.address, BLOCK_EVENTS.creationNumber, firstBlock(random, versions))
    case 'event type':
      return rows.byEventType(SWAP_BYTES, BigInt(random.below(versions)))
  }
}

function firstVersion(random: Random, versions: number): number {
  return random.below(Math.max(1, versions - PAGE))
}

function firstBlock(random: Random, versions: number): bigint {
  return BigInt(1 + random.below(Math.max(1, Math.floor(versions / 14) - PAGE)))
}

function startOf(random: Random, { count }: Asked['sender']): bigint {
  return BigInt(random.below(Math.max(1, count - PAGE)))
}

/** Fills a database and closes it. Returns its bytes. */
async function fillRows(rows: TransactionRows, versions: number): Promise<number> {
  try {
    let batch = []
    for await (const version of openMainnetLikeSource(versions, 'spreading').versions()) {
      batch.push(version)
      if (batch.length < ROW_BATCH) continue
      await rows.add(batch)
      batch = []
    }
    await rows.add(batch)
    return await rows.usedBytes()
  } finally {
    await rows.close()
  }
}

/** Counts the transactions of each sender while a source is read. */
class SentCounts {
  readonly #counts = new Map<string, number>()

  countedIn(source: LedgerSource): LedgerSource {
    const count = (transaction: Uint8Array): void => {
      const sent = readSent(transaction)
      if (!sent) return
      const name = Buffer.from(sent.sender).toString('latin1')
      this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1)
    }
    return {
      ...source,
      async *versions() {
        for await (const version of source.versions()) {
          count(version.readWhole!().transaction)
          yield version
        }
      },
    }
  }

  busiest(): Asked['sender'] {
    const [name, count] = [...this.#counts].reduce((most, one) => (one[1] > most[1] ? one : most))
    return { address: Buffer.from(name, 'latin1'), count }
  }
}
