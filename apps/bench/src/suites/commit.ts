import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStateEngine } from '@ledger-state/state-engine'
import { open } from 'lmdb'
import { printTable, toFigure } from './figures.js'
import { openEngineStore } from './stores/engine.js'
import { openPlainLmdb } from './stores/plain-lmdb.js'
import { createWorkload, VERSIONS_PER_BLOCK, type WorkloadVersion } from './workload.js'

export interface CommitOptions {
  readonly keys: number
}

const DURABLE_BLOCKS = 200

/** What it costs to take versions in: in batches without fsync, and one durable block at a time; and what they take. */
export async function runCommitSuite({ keys }: CommitOptions): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-commit-'))
  try {
    await runIngest(folder, keys)
    await runDurable(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function runIngest(folder: string, keys: number): Promise<void> {
  const workload = createWorkload(keys)
  const engine = openEngineStore(mkdtempSync(join(folder, 'engine-')))
  const plain = openPlainLmdb(mkdtempSync(join(folder, 'plain-')))
  process.stderr.write(`writing ${workload.writes} writes …\n`)
  const cpu = { engine: 0, plain: 0 }
  for (const batch of workload.batches()) {
    cpu.engine += await cpuSeconds(() => engine.ingest(batch))
    cpu.plain += await cpuSeconds(() => plain.ingest(batch))
  }
  const perWrite = (seconds: number) => ((seconds * 1e6) / workload.writes).toFixed(2)
  printTable(
    ['ingest, batches of 1,000 versions × 5 writes, no fsync', 'CPU µs a write', '× lmdb puts'],
    [
      ['lmdb puts of the newest values', perWrite(cpu.plain), '1.00'],
      ['engine', perWrite(cpu.engine), (cpu.plain / cpu.engine).toFixed(2)],
    ],
  )
  const { stats } = engine.engine
  const used = engine.usedBytes()
  process.stdout.write(
    `\nlive pages ÷ payload: ${(used / stats.payloadBytes).toFixed(2)} (${used} ÷ ${stats.payloadBytes} bytes, ${stats.keys} keys, ${stats.historyEntries} superseded values)\n`,
  )
  for (const [name, { bytes, records }] of Object.entries(stats.databases)) {
    process.stdout.write(`  ${name.padEnd(8)} ${String(bytes).padStart(12)} bytes, ${records} records\n`)
  }
  await engine.close()
  await plain.close()
}

async function runDurable(folder: string): Promise<void> {
  const engine = openStateEngine({ path: mkdtempSync(join(folder, 'durable-')) })
  const bare = open<Buffer, Uint8Array>({
    path: join(mkdtempSync(join(folder, 'bare-')), 'bare.mdb'),
    encoding: 'binary',
    keyEncoding: 'binary',
    noSubdir: true,
    overlappingSync: false,
  })
  const blocks = blocksOf(20_000)
  const samples = { engine: [] as number[], bare: [] as number[] }
  for (let count = 0; count < DURABLE_BLOCKS; count++) {
    const block = blocks[count]!
    const [key, value] = block[0]!.writes[0]!
    let began = performance.now()
    await engine.commit(block, { chainId: 1 })
    samples.engine.push((performance.now() - began) * 1_000)
    began = performance.now()
    bare.transactionSync(() => bare.putSync(key, Buffer.from(value ?? [])))
    samples.bare.push((performance.now() - began) * 1_000)
  }
  const [ours, floor] = [toFigure(samples.engine), toFigure(samples.bare)]
  process.stdout.write('\n')
  printTable(
    ['one durable commit', 'median µs', 'spread', '× bare'],
    [
      ['lmdb, one put', floor.median.toFixed(0), `${floor.least.toFixed(0)}–${floor.most.toFixed(0)}`, '1.00'],
      [
        `engine, a block of ${VERSIONS_PER_BLOCK} versions`,
        ours.median.toFixed(0),
        `${ours.least.toFixed(0)}–${ours.most.toFixed(0)}`,
        (ours.median / floor.median).toFixed(2),
      ],
    ],
  )
  await engine.close()
  await bare.close()
}

function blocksOf(keys: number): WorkloadVersion[][] {
  const blocks: WorkloadVersion[][] = []
  for (const batch of createWorkload(keys).batches()) {
    for (let at = 0; at < batch.length; at += VERSIONS_PER_BLOCK) blocks.push(batch.slice(at, at + VERSIONS_PER_BLOCK))
  }
  return blocks
}

async function cpuSeconds(work: () => void | Promise<void>): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1e6
}
