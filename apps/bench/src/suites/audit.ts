import { hash } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { KeyedEntry } from '@ledger-state/core'
import { readEach } from '@ledger-state/engine'
import {
  type BlockPathFiles,
  type BlockPaths,
  type BlockState,
  computeStateRoot,
  createBlockPaths,
} from '@ledger-state/feed'
import { auditRoots } from '@ledger-state/ingest'
import { LedgerHasher, rootOfStatePath } from '@ledger-state/proof'
import { STATE_ROOT_KEY } from '@ledger-state/records'
import { openStateEngine, type StateEngine } from '@ledger-state/state-engine'
import { createRandom, type Random } from '@ledger-state/testing/random'
import { runToEnd } from '@ledger-state/testing/run-to-end'
import type { ColdPathsTask } from '../audit/cold-paths.ts'
import { dropFromPageCache } from '../lookup/reader-process.ts'
import type { BenchRun } from '../run/bench-run.ts'
import { cpuMicroseconds } from '../run/cpu-time.ts'
import type { Suite } from '../run/suite.ts'
import { keyBytes } from '../workload/workload.ts'

const BLOCK_WRITES = 1_000
const BLOCK_VERSIONS = 5
const BLOCKS_AT_ONCE = 10
const NODES = 8_192
const ROUNDS = 3
const HASH_SALT = 'APTOS::'
/** Paths of random keys at random ends of blocks: no two of one subtree, and too many to be kept. */
const PATHS = 60
const COLD_PATHS = 31
const COLD_PATHS_FILE = fileURLToPath(new URL('../audit/cold-paths.ts', import.meta.url))

export const auditSuite: Suite = {
  name: 'audit',
  summary:
    'the root of the state at the end of each block, computed from segment files; hashes of tree nodes; proofs at ends of blocks',
  estimate: (scale) =>
    ({
      tiny: { minutes: 1, memoryBytes: 0.3e9, diskBytes: 0.1e9 },
      small: { minutes: 2, memoryBytes: 1e9, diskBytes: 0.5e9 },
      medium: { minutes: 10, memoryBytes: 2.5e9, diskBytes: 3e9 },
      large: { minutes: 60, memoryBytes: 4e9, diskBytes: 15e9 },
    })[scale],
  async run(run) {
    await measureHashes(run)
    const sizes = run.byScale({
      tiny: [[5_000, 20_000]],
      small: [[100_000, 500_000]],
      medium: [[1_000_000, 5_000_000]],
      large: [
        [1_000_000, 10_000_000],
        [10_000_000, 20_000_000],
      ],
    } as const)
    for (const [keys, writes] of sizes) await measureAudit(run, keys, writes)
  },
}

async function measureHashes(run: BenchRun): Promise<void> {
  run.step('hashing nodes')
  const title = 'SHA3-256 of tree nodes (96 bytes)'
  const arena = new LedgerHasher().createArena(16 * NODES + 64 * NODES)
  const jobs = arena.start
  const nodes = jobs + 12 * NODES
  for (let node = 0; node < NODES; node++) {
    arena.words.set([nodes, nodes + 32, nodes + 64 + 32 * node], jobs / 4 + 3 * node)
  }
  const node = new Uint8Array(96).fill(7)
  const contenders = {
    [`an arena (${arena.kind})`]: () => arena.hashPairs(jobs, NODES, nodes),
    'crypto.hash': () => {
      for (let count = 0; count < NODES; count++) hash('sha3-256', node, 'buffer')
    },
  }
  const rounds = Object.entries(contenders).map(([subject, work]) => ({ subject, work, costs: [] as number[] }))
  const times = run.byScale({ tiny: 2, small: 10, medium: 30, large: 30 })
  for (let round = 0; round <= ROUNDS; round++) {
    for (const { work, costs } of rounds) {
      const cost = await cpuMicroseconds(() => {
        for (let time = 0; time < times; time++) work()
      })
      if (round > 0) costs.push(cost / (times * NODES))
    }
  }
  for (const { subject, costs } of rounds) {
    const role = subject === 'crypto.hash' ? 'peer' : 'ours'
    run.record({ title, subject, role, metric: 'CPU time of a hash', unit: 'µs', rounds: costs })
  }
}

async function measureAudit(run: BenchRun, keys: number, writes: number): Promise<void> {
  run.step(`filling a store with ${writes} writes of ${keys} keys`)
  const path = run.folder(`audit-${keys}`)
  const engine = openStateEngine({ path, durability: 'none', memtableBytes: 2 ** 26 })
  await fill(run, engine, keys, writes)
  const { latestVersion: target } = engine.ledger!
  const folder = join(path, 'audit')
  const [cpu, wall, reading]: [number[], number[], number[]] = [[], [], []]
  for (let round = 0; round < ROUNDS; round++) {
    run.step(`auditing, round ${round + 1} of ${ROUNDS}`)
    reading.push((await cpuMicroseconds(() => readAll(engine, target))) / writes)
    rmSync(folder, { recursive: true, force: true })
    const began = performance.now()
    const cost = await cpuMicroseconds(async () => {
      const { findingCount, compared } = await auditRoots(engine, { folder, hashSalt: HASH_SALT, target })
      if (findingCount > 0 || compared !== 1) throw new Error('the audit found another root than the state has')
    })
    cpu.push(cost / writes)
    wall.push((writes * 1_000) / (performance.now() - began))
  }
  const proofs = await measureProofs(run, engine, folder, { keys, writes })
  await engine.close()
  await measureColdProofs(run, path, proofs)
  run.removeFolder(`audit-${keys}`)
  const title = `the root of every block, ${BLOCK_WRITES} writes each`
  const at = { keys }
  const time = { title, metric: 'CPU time of a write', unit: 'µs', at } as const
  run.record({ ...time, subject: 'check --all-roots', rounds: cpu })
  run.record({ ...time, subject: 'reading the writes from the files', role: 'floor', rounds: reading })
  const metric = 'writes audited in a second'
  run.record({ title, subject: 'check --all-roots', metric, unit: '/s', at, better: 'higher', rounds: wall })
}

/** Files for proofs at every end of a block, and the time of a path whose subtree is computed. */
async function measureProofs(
  run: BenchRun,
  engine: StateEngine,
  folder: string,
  at: { readonly keys: number; readonly writes: number },
): Promise<BlockPathFiles> {
  run.step('keeping the data for proofs at ends of blocks')
  const { latestVersion: target } = engine.ledger!
  rmSync(folder, { recursive: true, force: true })
  const proofBytes = Number.MAX_SAFE_INTEGER
  const { proofs } = await auditRoots(engine, { folder, hashSalt: HASH_SALT, target, proofBytes })
  const cutBytes = proofs!.cuts.reduce((sum, { bytes }) => sum + bytes, 0)
  const paths = createBlockPaths(folder, HASH_SALT)
  paths.use(proofs!)
  const random = createRandom(run.seed)
  const questions = Array.from({ length: PATHS }, () => ({
    end: endNear(paths, BigInt(random.below(Number(target)))),
    key: keyBytes(random.below(at.keys)),
  }))
  const costs: number[][] = []
  // The first touch of a block compares it with its checksum: only the second round is warm.
  for (let round = 0; round < 2; round++) {
    const times: number[] = []
    for (const { end, key } of questions) times.push(await timeOfPath(engine, paths, end, key))
    costs.push(times.sort((a, b) => a - b))
  }
  paths.close()
  const title = `proofs at every end of a block, ${BLOCK_WRITES} writes each`
  const bytes = { title, metric: 'bytes of a write', unit: 'B', at: { keys: at.keys } } as const
  run.record({ ...bytes, subject: 'roots of subtrees', rounds: [cutBytes / at.writes] })
  run.record({ ...bytes, subject: 'keys', rounds: [proofs!.keysBytes / at.writes] })
  run.record({ ...bytes, subject: 'the store', role: 'floor', rounds: [engine.stats.fileBytes / at.writes] })
  for (const [round, metric] of ['CPU time of a path, first touch', 'CPU time of a path, warm'].entries()) {
    const time = { title, metric, unit: 'ms', at: { keys: at.keys } } as const
    const sorted = costs[round]!
    run.record({ ...time, subject: 'median', rounds: [sorted[sorted.length >> 1]!] })
    run.record({ ...time, subject: 'of ten, the slowest', rounds: [sorted[Math.floor(sorted.length * 0.9)]!] })
  }
  return proofs!
}

/** The newest end of a block up to a version, or the first of all. */
function endNear(paths: BlockPaths, version: bigint): bigint {
  return paths.endUpTo(version) ?? paths.endAfter(version)!
}

/** Times of paths in processes of their own, while nothing of the store is in the page cache. */
async function measureColdProofs(run: BenchRun, path: string, { keysFile, keys, cuts }: BlockPathFiles): Promise<void> {
  if (!dropFromPageCache(path)) {
    run.note('cold proofs are left out: the page cache cannot be dropped here')
    return
  }
  run.step('cold proofs')
  const proofs = { keysFile, keys, cuts: cuts.map(({ name, bytes }) => ({ name, bytes })) }
  const title = `cold proofs at ends of blocks, ${BLOCK_WRITES} writes each`
  for (const [subject, isInTurn] of [
    ['values read at the same time', false],
    ['values read one after the other', true],
  ] as const) {
    const task: ColdPathsTask = { path, proofs, keys, count: COLD_PATHS, seed: run.seed, hashSalt: HASH_SALT, isInTurn }
    const { stdout, stderr } = await runToEnd(process.execPath, [
      ...process.execArgv,
      COLD_PATHS_FILE,
      JSON.stringify(task),
    ])
    if (stdout === '') throw new Error(`cold proofs failed: ${stderr}`)
    run.record({
      title,
      subject,
      metric: 'time of a path',
      unit: 'ms',
      at: { keys },
      rounds: JSON.parse(stdout) as number[],
    })
  }
}

/** CPU time of a path, in milliseconds. */
async function timeOfPath(engine: StateEngine, paths: BlockPaths, version: bigint, key: Uint8Array): Promise<number> {
  const view = engine.at(version)
  const state: BlockState = { version, readEach: (keys, visit) => readEach(view, keys, visit) }
  let path: Awaited<ReturnType<BlockPaths['pathOf']>>
  const cost = await cpuMicroseconds(async () => {
    path = await paths.pathOf(state, key, { turn: async () => {}, hold: () => {} })
  })
  const hasher = new LedgerHasher(HASH_SALT)
  if (!path || rootOfStatePath(hasher, path, hasher.hash('StateKey', key)).length !== 32) throw new Error('no path')
  return cost / 1_000
}

function readAll(engine: StateEngine, target: bigint): void {
  const merged = engine.openMergedWrites()
  try {
    for (const _ of merged.writes(0n, target));
  } finally {
    merged.close()
  }
}

/** Writes each key, and then random keys, in blocks; the last version has the root of the state. */
async function fill(run: BenchRun, engine: StateEngine, keys: number, writes: number): Promise<void> {
  const random = createRandom(run.seed)
  let written = 0
  let version = 0n
  const nextBlock = () => {
    const height = version / BigInt(BLOCK_VERSIONS)
    return Array.from({ length: BLOCK_VERSIONS }, (_, at) => {
      const names = new Set<number>()
      for (let count = BLOCK_WRITES / BLOCK_VERSIONS; count > 0; count--) {
        names.add(written < keys ? written : random.below(keys))
        written++
      }
      const block = at === 0 ? { height, epoch: 0n, timestampUsec: height } : undefined
      return {
        version: version++,
        block,
        writes: [...names].map((key) => [keyBytes(key), randomValue(random)] as const),
      }
    })
  }
  while (written < writes) {
    run.throwIfInterrupted()
    await engine.commit(Array.from({ length: BLOCKS_AT_ONCE }, nextBlock).flat(), { chainId: 1 })
  }
  await engine.merge()
  const { root } = await computeStateRoot(pagesOf(engine), { spillFolder: run.folder('audit-spill') })
  const height = version / BigInt(BLOCK_VERSIONS)
  const last = {
    version,
    block: { height, epoch: 0n, timestampUsec: height },
    writes: [[STATE_ROOT_KEY, root] as const],
  }
  await engine.commit([last], { chainId: 1 })
  await engine.merge()
}

function* pagesOf(engine: StateEngine): Generator<KeyedEntry[]> {
  let page: KeyedEntry[] = []
  for (const entry of engine.at().scan(new Uint8Array(0))) {
    if (page.push(entry) < 1_000) continue
    yield page
    page = []
  }
  yield page
}

function randomValue(random: Random): Uint8Array {
  const value = new Uint8Array(40 + random.below(180)).fill(random.below(256))
  value.set(random.bytes(8))
  return value
}
