import { fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { VersionWrites } from '@ledger-state/core'
import { openSource, type SourceOptions } from '@ledger-state/feed'
import { ingestSource } from '@ledger-state/ingest'
import type { SliceSpec } from '@ledger-state/slices'
import { openStateEngine } from '@ledger-state/state-engine'
import { open } from 'lmdb'
import { type FirstCommit, type IngestContender, measureContenders } from '../ingest/contenders.ts'
import { createMainnetLikeLedger } from '../ingest/mainnet-like-ledger.ts'
import { sampleSlice } from '../ingest/sample-slice.ts'
import { startRemoteBackup, startRestNode } from '../ingest/source-process.ts'
import { writeBackup } from '../ingest/write-backup.ts'
import type { BenchRun } from '../run/bench-run.ts'
import type { Scale } from '../run/scale.ts'
import type { Suite } from '../run/suite.ts'
import { openPlainLmdb } from '../stores/plain-lmdb.ts'
import type { KeyReturns } from '../workload/chain/key-population.ts'

const DELETED = Buffer.alloc(0)
const BATCH_VERSIONS = 1_000

/** A backup of a real chain, in the project's shared folder next to the checkout. */
const SHARED_BACKUP = fileURLToPath(new URL('../../../../../shared/data/backup', import.meta.url))

/** Nodes that are followed, with verification, until nothing is left. */
const NODES = [
  { subject: 'node on loopback, pages of 100', latencyMs: 0, maxPage: 100 },
  { subject: 'node that takes 100 ms, pages of 100', latencyMs: 100, maxPage: 100 },
  { subject: 'node that takes 100 ms, pages of 1,000', latencyMs: 100, maxPage: 1_000 },
] as const

const FOLDER = 'backup, verified'
const RETURNING = 'backup of returning keys, verified'

/** Links to a bucket with the same backup, which is verified. */
const LINKS = [
  { subject: 'bucket on loopback', shape: { roundTripMs: 0 } },
  { subject: 'bucket behind a link of 100 ms', shape: { roundTripMs: 100 } },
  { subject: 'bucket behind a link of 20 MB/s', shape: { roundTripMs: 20, bytesPerSecond: 20e6 } },
] as const

/** Settings of the keys. Figures without a named setting have the first one: it has more keys and is the harder one. */
const KEY_RETURNS = ['spreading', 'returning'] as const satisfies readonly KeyReturns[]

/** A slice keeps one of this many accounts and tables. */
const SLICE_ONE_IN = 1_000

const MINUTES: Readonly<Record<Scale, number>> = { tiny: 1, small: 10, medium: 25, large: 35 }

export const ingestSuite: Suite = {
  name: 'ingest',
  summary:
    'ingesting a backup with and without proofs and the index of holdings, compared with reading its files and bare lmdb puts of its writes; versions like those of mainnet from a backup, from a bucket behind links and from a node, and their size on disk; a slice of them compared with the whole',
  estimate: (scale) => ({ minutes: MINUTES[scale], memoryBytes: scale === 'large' ? 4e9 : 2e9, diskBytes: 2e9 }),
  charts: [
    {
      title: 'Versions a second',
      metric: 'versions',
      x: 'subject',
      caption: 'Wall-clock time, two cores, which the node on loopback shares.',
    },
    {
      title: 'Writes a second',
      metric: 'writes',
      x: 'subject',
      caption: 'Wall-clock time, two cores; a thread proves chunks while the one before is ingested.',
    },
  ],
  async run(run) {
    await measureBackup(run)
    await measureMainnetLike(run)
    await measureLongLedger(run)
    for (const returns of KEY_RETURNS) await measureSize(run, returns)
    await measureMembers(run)
  },
}

async function measureBackup(run: BenchRun): Promise<void> {
  const { location, hashSalt } = run.source ?? { location: SHARED_BACKUP, hashSalt: 'DIEM::' }
  if (!existsSync(location)) {
    run.note(`left out: ${location} does not exist; name a backup with --source DIR [--hash-salt SALT]`)
    return
  }
  const options = { hashSalt }
  const files = filesOf(location)
  const { batches, writes } = await readBatches(location, options)
  run.step(`${location}: ${files.length} files, ${writes} writes`)
  const contenders: IngestContender[] = [
    { subject: 'read and unzip the files only', role: 'limit', run: () => readFiles(files) },
    {
      subject: 'lmdb, puts of all entries (key ++ version)',
      role: 'floor',
      run: (folder) => putEntries(folder, batches),
    },
    { subject: 'lmdb, puts of the newest values only', role: 'limit', run: (folder) => putPlain(folder, batches) },
    {
      subject: 'ingest, not verified',
      role: 'ours',
      run: (folder) => ingest(folder, location, { ...options, verify: false }),
    },
    { subject: 'ingest, verified', role: 'ours', run: (folder) => ingest(folder, location, options) },
    ...[true, false].map(
      (verify): IngestContender => ({
        subject: `ingest, ${verify ? '' : 'not '}verified, without the index of holdings`,
        role: 'ours',
        comparedWith: `ingest, ${verify ? '' : 'not '}verified`,
        run: (folder) => ingest(folder, location, { ...options, verify }, undefined, false),
      }),
    ),
  ]
  await measureContenders(run, contenders, { title: `a backup with ${writes} writes`, metric: 'writes', count: writes })
}

/** Measures from a folder, and from a node on the same machine that answers at once or with a delay. */
async function measureMainnetLike(run: BenchRun): Promise<void> {
  const versions = run.byScale({ tiny: 300, small: 20_000, medium: 60_000, large: 60_000 })
  run.step(`making ${versions} versions like those of mainnet`)
  const [spreading, returning] = KEY_RETURNS.map((returns) => {
    const folder = run.folder(`mainnet-like-${returns}`)
    writeBackup(createMainnetLikeLedger(versions, returns), folder)
    return folder
  }) as [string, string]
  const nodes = await Promise.all(
    NODES.map(async (node) => ({ ...node, ...(await startRestNode(versions, 'spreading', node)) })),
  )
  const contenders: IngestContender[] = [
    { subject: 'backup, not verified', role: 'ours', run: (folder) => ingest(folder, spreading, { verify: false }) },
    { subject: FOLDER, role: 'ours', run: (folder) => ingest(folder, spreading, {}) },
    { subject: RETURNING, role: 'ours', run: (folder) => ingest(folder, returning, {}) },
    ...[
      { subject: FOLDER, backup: spreading },
      { subject: RETURNING, backup: returning },
    ].map(
      ({ subject, backup }): IngestContender => ({
        subject: `${subject}, without the index of holdings`,
        role: 'ours',
        comparedWith: subject,
        run: (folder) => ingest(folder, backup, {}, undefined, false),
      }),
    ),
    ...nodes.map(
      ({ subject, url, cpuTime }): IngestContender => ({
        subject,
        role: 'ours',
        sourceCpuTime: cpuTime,
        run: (folder) => ingest(folder, url, {}),
      }),
    ),
  ]
  try {
    const title = 'versions like those of mainnet'
    await measureContenders(run, contenders, { title, metric: 'versions', count: versions })
  } finally {
    for (const { stop } of nodes) await stop()
  }
}

/**
 * Measures a slice, and a bucket behind links, compared with everything from a folder. It takes more versions, because
 * a link costs most at first, and a store once it has many keys.
 */
async function measureLongLedger(run: BenchRun): Promise<void> {
  const versions = run.byScale({ tiny: 300, small: 60_000, medium: 300_000, large: 600_000 })
  run.step(`making ${versions} versions for a bucket`)
  const backup = run.folder('bucket')
  writeBackup(createMainnetLikeLedger(versions, 'spreading'), backup)
  const slice = await sampleSlice(backup, SLICE_ONE_IN)
  const buckets = await Promise.all(
    LINKS.map(async ({ subject, shape }) => ({ subject, ...(await startRemoteBackup(backup, shape)) })),
  )
  const contenders: IngestContender[] = [
    { subject: FOLDER, role: 'ours', run: (folder) => ingest(folder, backup, {}) },
    {
      subject: 'slice of 0.1 %, verified',
      role: 'ours',
      comparedWith: FOLDER,
      run: (folder) => ingest(folder, backup, {}, slice),
    },
    ...buckets.map(
      ({ subject, url, cpuTime }): IngestContender => ({
        subject,
        role: 'ours',
        sourceCpuTime: cpuTime,
        comparedWith: FOLDER,
        run: (folder) => ingest(folder, url, {}),
      }),
    ),
  ]
  try {
    const title = `${versions} versions, all of them, a slice, and from a bucket`
    const rounds = run.byScale({ tiny: 1, small: 3, medium: 3, large: 3 })
    await measureContenders(run, contenders, { title, metric: 'versions', count: versions, isSplit: true, rounds })
  } finally {
    for (const { stop } of buckets) await stop()
    run.removeFolder('bucket')
  }
}

/**
 * Measures the bytes that a store takes on disk, and a slice. Bytes do not depend on the machine, so one round
 * suffices.
 */
async function measureSize(run: BenchRun, returns: KeyReturns): Promise<void> {
  const versions = run.byScale({ tiny: 300, small: 60_000, medium: 150_000, large: 150_000 })
  run.step(`the size of ${versions} versions, ${returns} keys`)
  const backup = run.folder('sized-backup')
  writeBackup(createMainnetLikeLedger(versions, returns), backup)
  const whole = await sizeOf(run, backup, undefined)
  const slice = await sizeOf(run, backup, await sampleSlice(backup, SLICE_ONE_IN))
  run.removeFolder('sized-backup')
  const common = {
    title: 'versions like those of mainnet: merged, on disk',
    subject: `${returns} keys`,
    role: 'ours',
  } as const
  const { keys, superseded, all } = whole
  run.record({ ...common, metric: 'of all, by writes', unit: 'B', rounds: all / Math.max(1, keys + superseded) })
  run.record({ ...common, metric: 'keys', unit: '', better: 'neither', rounds: keys })
  run.record({ ...common, metric: 'superseded writes', unit: '', better: 'neither', rounds: superseded })
  const kept = { ...common, subject: `slice of 0.1 % of ${returns} keys` }
  const writesOf = ({ keys, superseded }: typeof whole) => keys + superseded
  run.record({ ...kept, metric: 'of all, by writes', unit: 'B', rounds: slice.all / Math.max(1, writesOf(slice)) })
  const share = (part: number, of: number) => (100 * part) / Math.max(1, of)
  run.record({
    ...kept,
    metric: 'writes',
    unit: '%',
    better: 'neither',
    rounds: share(writesOf(slice), writesOf(whole)),
  })
  run.record({ ...kept, metric: 'bytes', unit: '%', rounds: share(slice.all, all) })
}

async function sizeOf(run: BenchRun, backup: string, slice: SliceSpec | undefined) {
  const folder = run.folder('sized')
  await ingest(folder, backup, { verify: false }, slice)
  const engine = openStateEngine({ path: folder })
  const { keys, mergedWrites, fileBytes: all } = engine.stats
  const superseded = mergedWrites - keys
  await engine.close()
  run.removeFolder('sized')
  return { keys, superseded, all }
}

/** Measures the memory that the members of a slice take, in a separate process. */
async function measureMembers(run: BenchRun): Promise<void> {
  const members = run.byScale({ tiny: 10_000, small: 1_000_000, medium: 10_000_000, large: 10_000_000 })
  run.step(`${members} members of a slice in memory`)
  const child = fork(fileURLToPath(new URL('../ingest/members-process.ts', import.meta.url)), [String(members)], {
    execArgv: [...process.execArgv, '--expose-gc'],
  })
  const failed = once(child, 'exit').then(([status]) => {
    throw new Error(`members-process.ts ended with status ${status} before it answered`)
  })
  const answered = once(child, 'message') as Promise<[{ readonly grown: number; readonly nanoseconds: number }]>
  const [{ grown, nanoseconds }] = await Promise.race([answered, failed])
  failed.catch(() => {})
  const common = { title: 'the members of a slice', subject: `${members} members`, role: 'ours' } as const
  run.record({ ...common, metric: 'memory', unit: 'MB', rounds: grown / 1e6 })
  run.record({ ...common, metric: 'look at a key outside', unit: 'ns', rounds: nanoseconds })
}

function filesOf(location: string): string[] {
  if (!statSync(location).isDirectory()) return [location]
  return readdirSync(location, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
}

async function readFiles(files: readonly string[]): Promise<undefined> {
  for (const file of files) {
    const content = readFileSync(file)
    if (content[0] === 0x1f) await promisify(gunzip)(content)
  }
}

async function readBatches(location: string, options: SourceOptions) {
  const source = await openSource(location, { ...options, verify: false })
  const batches: VersionWrites[][] = [[]]
  let writes = 0
  for await (const record of source.versions()) {
    if (batches.at(-1)!.length === BATCH_VERSIONS) batches.push([])
    batches.at(-1)!.push(record)
    writes += record.writes.length
  }
  await source.close()
  return { batches, writes }
}

/** Puts every entry that the engine keeps, under key ++ version. */
async function putEntries(folder: string, batches: readonly VersionWrites[][]): Promise<undefined> {
  const database = open<Buffer, Uint8Array>({
    path: join(folder, 'entries.mdb'),
    encoding: 'binary',
    keyEncoding: 'binary',
    noSubdir: true,
    noSync: true,
    overlappingSync: false,
  })
  for (const batch of batches) {
    database.transactionSync(() => {
      for (const { version, writes } of batch) {
        for (const [key, value] of writes) {
          const entryKey = Buffer.allocUnsafe(key.length + 8)
          entryKey.set(key)
          entryKey.writeBigUInt64BE(version, key.length)
          database.putSync(entryKey, (value ?? DELETED) as Buffer)
        }
      }
    })
  }
  await database.close()
}

async function putPlain(folder: string, batches: readonly VersionWrites[][]): Promise<undefined> {
  const plain = openPlainLmdb(folder)
  for (const batch of batches) plain.ingest(batch)
  await plain.close()
}

/**
 * Ingests a source.
 * @param slice specification of the slice; undefined for everything. A slice also keeps its transactions, as the
 * program does.
 * @param holdings whether the store gets the index of holdings
 */
async function ingest(
  folder: string,
  location: string,
  options: SourceOptions,
  slice?: SliceSpec,
  holdings = true,
): Promise<FirstCommit | undefined> {
  const engine = openStateEngine({ path: folder, durability: 'none' })
  const source = await openSource(location, options)
  const only = slice && { spec: slice }
  let first: FirstCommit | undefined
  const observer = {
    onCommit: ({ versions }: { readonly versions: number }) => (first ??= { at: performance.now(), versions }),
    onSourceProgress() {},
    onPrune() {},
  }
  await ingestSource(engine, source, {
    assumeEmptyBase: true,
    only,
    holdings,
    keepTransactions: slice ? 'summary' : 'none',
    observer,
  })
  await source.close()
  await engine.close()
  return first
}
