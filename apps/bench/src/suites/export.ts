import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { bytesToHexDigits, type Write } from '@ledger-state/core'
import { copyBytes } from '@ledger-state/core/bytes'
import { type LedgerSource, openSource } from '@ledger-state/feed'
import { ingestSource } from '@ledger-state/ingest'
import { openStateEngine, openStateEngineReader } from '@ledger-state/state-engine'
import { hasSharedData, sharedPath } from '@ledger-state/testing/shared-data'
import { openMainnetLikeSource } from '../ingest/mainnet-like-source.ts'
import type { BenchRun } from '../run/bench-run.ts'
import { cpuMicroseconds } from '../run/cpu-time.ts'
import type { Suite } from '../run/suite.ts'
import { runExport } from '../stores/export-run.ts'

/** Has the modules whose types the values have. */
const GENESIS = 'data/genesis/devnet.genesis.blob'

export const exportSuite: Suite = {
  name: 'export',
  summary:
    'export --format parquet of versions like those of mainnet, on one core and on all; bytes of each table; memory',
  estimate: (scale) =>
    ({
      tiny: { minutes: 1, memoryBytes: 0.5e9, diskBytes: 0.1e9 },
      small: { minutes: 4, memoryBytes: 1.5e9, diskBytes: 0.5e9 },
      medium: { minutes: 15, memoryBytes: 1.5e9, diskBytes: 1e9 },
      large: { minutes: 60, memoryBytes: 2e9, diskBytes: 5e9 },
    })[scale],
  async run(run) {
    if (!hasSharedData) {
      run.note(`left out: ${sharedPath(GENESIS)} is absent`)
      return
    }
    const versions = run.byScale({ tiny: 1_000, small: 120_000, medium: 300_000, large: 3_000_000 })
    await measureExport(run, versions)
  },
}

async function measureExport(run: BenchRun, versions: number): Promise<void> {
  const store = run.storeFolder('export')
  run.step(`ingesting ${versions} versions like those of mainnet`)
  await fill(store, versions)
  const kinds = ['one', 'all'] as const
  const rounds = run.byScale({ tiny: 1, small: 5, medium: 3, large: 3 })
  const costs = kinds.map(() => ({ rates: [] as number[], cpu: [] as number[], memory: [] as number[] }))
  let sizes: TableSizes | undefined
  for (let round = 0; round < rounds; round++) {
    for (const [at, cores] of kinds.entries()) {
      run.step(`exporting on ${cores} of the cores, round ${round + 1} of ${rounds}`)
      const to = join(run.folder('export-files'), cores)
      const { seconds, cpuMicroseconds, peakBytes } = await runExport(store, to, cores)
      sizes = readSizes(to)
      const { writes } = sizes
      costs[at]!.rates.push(writes!.rows / seconds)
      costs[at]!.cpu.push(cpuMicroseconds / writes!.rows)
      costs[at]!.memory.push(peakBytes)
      run.removeFolder('export-files')
    }
  }
  const title = `${versions} versions like those of mainnet as Parquet`
  for (const [at, cores] of kinds.entries()) {
    const common = { title, subject: `${cores === 'one' ? 'one core' : 'all cores'}` }
    const { rates, cpu, memory } = costs[at]!
    run.record({ ...common, metric: 'writes', unit: '1/s', better: 'higher', rounds: rates })
    run.record({ ...common, metric: 'CPU time of a write', unit: 'µs', rounds: cpu })
    run.record({ ...common, metric: 'memory', unit: 'B', rounds: memory })
  }
  const reading = await costOfReading(store, rounds)
  run.record({
    title,
    subject: 'reading the writes',
    role: 'floor',
    metric: 'CPU time of a write',
    unit: 'µs',
    rounds: reading,
  })
  const ratios = costs[1]!.rates.map((rate, round) => rate / costs[0]!.rates[round]!)
  run.record({ title, subject: 'all cores', metric: '÷ one core', unit: '', better: 'higher', rounds: ratios })
  for (const [table, { rows, bytes }] of Object.entries(sizes ?? {})) {
    run.record({ title, subject: `the table ${table}`, metric: 'bytes of a row', unit: 'B', rounds: bytes / rows })
  }
  run.releaseStores()
}

/** CPU time of reading a write, in each round. */
async function costOfReading(store: string, rounds: number): Promise<number[]> {
  const engine = openStateEngineReader({ path: store })
  const costs: number[] = []
  try {
    const { oldestVersion, latestVersion } = engine.ledger!
    for (let round = 0; round < rounds; round++) {
      let count = 0
      const cost = await cpuMicroseconds(() => {
        for (const { writes } of engine.versions(oldestVersion + 1n, latestVersion)) count += writes.length
      })
      costs.push(cost / count)
    }
  } finally {
    await engine.close()
  }
  return costs
}

/** Ingests versions, the first of them with the state of a genesis. */
async function fill(store: string, versions: number): Promise<void> {
  const engine = openStateEngine({ path: store, durability: 'none' })
  try {
    if (engine.ledger) return
    const source = withWrites(openMainnetLikeSource(versions, 'returning'), await genesisWrites())
    await ingestSource(engine, source, { keepTransactions: 'none' })
    await engine.merge()
  } finally {
    await engine.close()
  }
}

async function genesisWrites(): Promise<Write[]> {
  const source = await openSource(sharedPath(GENESIS), {})
  try {
    const found: Write[] = []
    for await (const { writes } of source.versions()) {
      for (const [key, value] of writes) if (value) found.push([copyBytes(key), copyBytes(value)])
    }
    return found
  } finally {
    await source.close()
  }
}

/** The source with further writes in its first version. */
function withWrites(source: LedgerSource, more: readonly Write[]): LedgerSource {
  return {
    ...source,
    async *versions() {
      for await (const one of source.versions()) {
        const written = new Set(one.writes.map(([key]) => bytesToHexDigits(key)))
        const isOther = ([key]: Write): boolean => !written.has(bytesToHexDigits(key))
        yield one.version === 0n ? { ...one, writes: [...one.writes, ...more.filter(isOther)] } : one
      }
    },
  }
}

type TableSizes = Record<string, { readonly rows: number; readonly bytes: number }>

/** Rows and bytes of each table, by the manifest of an export. */
function readSizes(folder: string): TableSizes {
  const { ranges } = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'))
  const sizes: Record<string, { rows: number; bytes: number }> = {}
  for (const { files } of ranges as { readonly files: TableSizes }[]) {
    for (const [table, { rows, bytes }] of Object.entries(files)) {
      if (rows === 0) continue
      const sum = sizes[table] ?? { rows: 0, bytes: 0 }
      sizes[table] = { rows: sum.rows + rows, bytes: sum.bytes + bytes }
    }
  }
  return sizes
}
