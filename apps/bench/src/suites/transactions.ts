import { ByteWriter } from '@ledger-state/core'
import { openSource } from '@ledger-state/feed'
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
import type { BenchRun } from '../run/bench-run.ts'
import type { Suite } from '../run/suite.ts'
import { folderBytes } from '../stores/store.ts'
import { openTransactionRows, type TransactionRows } from '../stores/transaction-rows.ts'

/** Items of a page, as of a request without `limit`. */
const PAGE = 25
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
  const rowsPath = run.folder('transactions-rows')
  const engine = openStateEngine({ path, durability: 'none' })
  await ingestSource(engine, openMainnetLikeSource(versions, 'spreading'), { keepTransactions: 'whole' })
  await engine.merge()
  await engine.close()
  run.step('filling SQLite')
  const sender = await fillRows(rowsPath, versions)
  run.record({
    title,
    subject: 'ledger-state',
    metric: 'by versions, with the state',
    unit: 'B',
    rounds: folderBytes(path) / versions,
  })
  run.record({
    title,
    subject: 'SQLite',
    metric: 'by versions, without a state',
    unit: 'B',
    rounds: folderBytes(rowsPath) / versions,
  })
  for (const kind of ['version', 'account', 'event key', 'event type'] as const) {
    for (const isWarm of [false, true]) {
      const open = { reader: openStateEngineReader({ path }), rows: openTransactionRows(rowsPath) }
      try {
        const ledger = createLedger(open.reader)
        measureKind(run, title, kind, isWarm, { ledger, rows: open.rows, sender, versions })
      } finally {
        await open.reader.close()
        open.rows.close()
      }
    }
  }
  run.removeFolder('transactions')
  run.removeFolder('transactions-rows')
}

interface Asked {
  readonly ledger: Ledger
  readonly rows: TransactionRows
  /** The account that sent most transactions. */
  readonly sender: { readonly address: Uint8Array; readonly count: number }
  readonly versions: number
}

/** Each round asks for another page. The first page of a store that was just opened is a cold one. */
function measureKind(
  run: BenchRun,
  title: string,
  kind: 'version' | 'account' | 'event key' | 'event type',
  isWarm: boolean,
  { ledger, rows, sender, versions }: Asked,
): void {
  const random = createRandom(run.seed)
  const blocks = Math.max(1, Math.floor(versions / 14) - PAGE)
  const ours = {
    version: () => {
      const state = ledger.at()
      const first = random.below(Math.max(1, versions - PAGE))
      return Array.from({ length: PAGE }, (_, at) => wholeTransactionAt(state, BigInt(first + at))?.toBcs())
    },
    account: () =>
      Array.from(
        accountTransactions(ledger.at(), sender.address, { start: startOf(random, sender), limit: PAGE }),
        (one) => one.toBcs(),
      ),
    'event key': () =>
      Array.from(
        streamEvents(ledger.at(), BLOCK_EVENTS, { start: BigInt(1 + random.below(blocks)), limit: PAGE }),
        ({ bytes }) => bytes,
      ),
    'event type': () =>
      Array.from(
        eventsOfType(ledger.at(), SWAP_TYPE, { from: BigInt(random.below(versions)), order: 'asc', limit: PAGE }),
        (event) => event?.bytes,
      ),
  }
  const theirs = {
    version: () => rows.byVersion(BigInt(random.below(Math.max(1, versions - PAGE)))),
    account: () => rows.byAccount(sender.address, startOf(random, sender)),
    'event key': () =>
      rows.byEventKey(BLOCK_EVENTS.address, BLOCK_EVENTS.creationNumber, BigInt(1 + random.below(blocks))),
    'event type': () => rows.byEventType(SWAP_BYTES, BigInt(random.below(versions))),
  }
  const subject = `by ${kind}, ${isWarm ? 'warm' : 'first pages of an open'}`
  for (const [name, page] of [
    [`${subject}`, ours[kind]],
    [`${subject}, SQLite`, theirs[kind]],
  ] as const) {
    run.throwIfInterrupted()
    const count = isWarm ? run.byScale({ tiny: 3, small: 51, medium: 101, large: 101 }) : 1
    const rounds: number[] = []
    for (let round = isWarm ? -count : 0; round < count; round++) {
      const began = performance.now()
      page()
      if (round >= 0) rounds.push(performance.now() - began)
    }
    const role = name === subject ? 'ours' : 'peer'
    run.record({ title, subject: name, role, metric: 'time', unit: 'ms', rounds })
  }
}

function startOf(random: Random, { count }: Asked['sender']): bigint {
  return BigInt(random.below(Math.max(1, count - PAGE)))
}

/** Fills SQLite with the same transactions. Returns the account that sent most of them. */
async function fillRows(path: string, versions: number): Promise<Asked['sender']> {
  const rows = openTransactionRows(path)
  const counts = new Map<string, number>()
  const source = openMainnetLikeSource(versions, 'spreading')
  let batch = []
  for await (const version of source.versions()) {
    batch.push(version)
    const sent = readSent(version.readWhole!().transaction)
    const name = sent && Buffer.from(sent.sender).toString('hex')
    if (name !== undefined) counts.set(name, (counts.get(name) ?? 0) + 1)
    if (batch.length === ROW_BATCH) {
      rows.add(batch)
      batch = []
    }
  }
  rows.add(batch)
  rows.close()
  const [name, count] = [...counts].reduce((most, one) => (one[1] > most[1] ? one : most))
  return { address: Buffer.from(name, 'hex'), count }
}
