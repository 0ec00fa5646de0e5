import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { openSource, type SourceOptions } from '@ledger-state/feed'
import { ingestSource } from '@ledger-state/node/ingest-source'
import { openStateEngine, type VersionWrites } from '@ledger-state/state-engine'
import { open } from 'lmdb'
import { type Figure, megabytes, printTable, toFigure } from './figures.js'
import { openPlainLmdb } from './stores/plain-lmdb.js'

const ROUNDS = 7
const DELETED = Buffer.alloc(0)
const BATCH_VERSIONS = 1_000

/** A backup of a real chain, where the project's shared folder stands beside the checkout. */
const SHARED_BACKUP = fileURLToPath(new URL('../../../../shared/data/backup', import.meta.url))

export interface IngestSuiteOptions {
  readonly source: string | undefined
  readonly hashSalt: string | undefined
}

interface Contender {
  readonly name: string
  run(folder: string): Promise<void>
}

interface Cost {
  readonly wall: number
  readonly cpu: number
}

/** What it costs to take a source in, proven and not, beside reading its files and beside bare puts of what it writes. */
export async function runIngestSuite({ source, hashSalt }: IngestSuiteOptions): Promise<void> {
  const location = source ?? SHARED_BACKUP
  const options = { hashSalt: source === undefined ? 'DIEM::' : hashSalt }
  if (!existsSync(location)) {
    process.stderr.write(`ingest: ${location} is not there; name a backup with --source DIR [--hash-salt SALT]\n`)
    return
  }
  const files = filesOf(location)
  const bytes = files.reduce((sum, file) => sum + statSync(file).size, 0)
  const { batches, writes } = await readBatches(location, options)
  process.stderr.write(`${location}: ${megabytes(bytes)} in ${files.length} files, ${writes} writes\n`)
  const contenders: Contender[] = [
    { name: 'read and unzip the files', run: () => readFiles(files) },
    { name: 'bare lmdb, puts of all entries (key ++ version)', run: (folder) => putEntries(folder, batches) },
    { name: 'bare lmdb, puts of the newest values only', run: (folder) => putPlain(folder, batches) },
    { name: 'ingest, not verified', run: (folder) => ingest(folder, location, { ...options, verify: false }) },
    { name: 'ingest, verified', run: (folder) => ingest(folder, location, options) },
  ]
  const costs = await measureInRounds(contenders)
  const floor = costs[1]!
  printTable(
    ['', 'writes/s', 'spread', '× bare puts', 'CPU s', '× bare puts in CPU time'],
    contenders.map(({ name }, at) => {
      const { wall, cpu } = costs[at]!
      const rate = (seconds: number) => (writes / seconds).toFixed(0)
      return [
        name,
        rate(wall.median),
        `${rate(wall.most)}–${rate(wall.least)}`,
        (floor.wall.median / wall.median).toFixed(2),
        cpu.median.toFixed(2),
        (floor.cpu.median / cpu.median).toFixed(2),
      ]
    }),
  )
}

async function measureInRounds(contenders: readonly Contender[]): Promise<{ wall: Figure; cpu: Figure }[]> {
  const rounds = contenders.map((): Cost[] => [])
  for (let round = -1; round < ROUNDS; round++) {
    for (const [at, contender] of contenders.entries()) {
      const folder = mkdtempSync(join(tmpdir(), 'bench-ingest-'))
      try {
        const cpuBefore = process.cpuUsage()
        const began = performance.now()
        await contender.run(folder)
        const wall = (performance.now() - began) / 1_000
        const { user, system } = process.cpuUsage(cpuBefore)
        // The first round warms up.
        if (round >= 0) rounds[at]!.push({ wall, cpu: (user + system) / 1e6 })
      } finally {
        rmSync(folder, { recursive: true, force: true })
      }
    }
  }
  return rounds.map((costs) => ({
    wall: toFigure(costs.map(({ wall }) => wall)),
    cpu: toFigure(costs.map(({ cpu }) => cpu)),
  }))
}

function filesOf(location: string): string[] {
  if (!statSync(location).isDirectory()) return [location]
  return readdirSync(location, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
}

async function readFiles(files: readonly string[]): Promise<void> {
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

/** Every entry that the engine keeps, under a key of its own. */
async function putEntries(folder: string, batches: readonly VersionWrites[][]): Promise<void> {
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

async function putPlain(folder: string, batches: readonly VersionWrites[][]): Promise<void> {
  const plain = openPlainLmdb(folder)
  for (const batch of batches) plain.ingest(batch)
  await plain.close()
}

async function ingest(folder: string, location: string, options: SourceOptions): Promise<void> {
  const engine = openStateEngine({ path: folder, durability: 'none' })
  const source = await openSource(location, options)
  await ingestSource(engine, source, { assumeEmptyBase: true })
  await source.close()
  await engine.close()
}
