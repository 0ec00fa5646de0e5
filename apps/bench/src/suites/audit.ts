import { hash } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { KeyedEntry } from '@ledger-state/core'
import { type BlockPaths, computeStateRoot, createBlockPaths } from '@ledger-state/feed'
import { auditRoots } from '@ledger-state/ingest'
import { LedgerHasher, rootOfStatePath } from '@ledger-state/proof'
import { STATE_ROOT_KEY } from '@ledger-state/records'
import { openStateEngine, type StateEngine } from '@ledger-state/state-engine'
import { createRandom, type Random } from '@ledger-state/testing/random'
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
/** Paths of random keys at random ends of blocks: no two of one subtree. */
const PATHS = 60

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
  await measureProofs(run, engine, folder, { keys, writes })
  await engine.close()
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
): Promise<void> {
  run.step('keeping the data for proofs at ends of blocks')
  const { latestVersion: target } = engine.ledger!
  rmSync(folder, { recursive: true, force: true })
  const proofBytes = Number.MAX_SAFE_INTEGER
  const { proofs } = await auditRoots(engine, { folder, hashSalt: HASH_SALT, target, proofBytes })
  const cutBytes = proofs!.cuts.reduce((sum, { bytes }) => sum + bytes, 0)
  const paths = createBlockPaths(folder, HASH_SALT)
  paths.use(proofs!)
  const random = createRandom(run.seed)
  const times: number[] = []
  // The first ones warm up.
  for (let count = -10; count < PATHS; count++) {
    const end = paths.endUpTo(BigInt(random.below(Number(target))))
    if (end === undefined) continue
    const cost = await timeOfPath(engine, paths, end, keyBytes(random.below(at.keys)))
    if (count >= 0) times.push(cost)
  }
  paths.close()
  const title = `proofs at every end of a block, ${BLOCK_WRITES} writes each`
  const bytes = { title, metric: 'bytes of a write', unit: 'B', at: { keys: at.keys } } as const
  run.record({ ...bytes, subject: 'roots of subtrees', rounds: [cutBytes / at.writes] })
  run.record({ ...bytes, subject: 'keys', rounds: [proofs!.keysBytes / at.writes] })
  run.record({ ...bytes, subject: 'the store', role: 'floor', rounds: [engine.stats.fileBytes / at.writes] })
  const time = { title, metric: 'CPU time of a path, warm', unit: 'ms', at: { keys: at.keys } } as const
  const sorted = times.sort((a, b) => a - b)
  run.record({ ...time, subject: 'median', rounds: [sorted[sorted.length >> 1]!] })
  run.record({ ...time, subject: 'of ten, the slowest', rounds: [sorted[Math.floor(sorted.length * 0.9)]!] })
}

/** CPU time of a path, in milliseconds. */
async function timeOfPath(engine: StateEngine, paths: BlockPaths, version: bigint, key: Uint8Array): Promise<number> {
  const view = engine.at(version)
  const state = { version, read: (one: Uint8Array) => view.getEntry(one) }
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
