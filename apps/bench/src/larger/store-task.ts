// A process of `bench larger`: does one task with a store, and prints what it cost.
import { readFileSync } from 'node:fs'
import { openStateEngine, openStateEngineReader } from '@ledger-state/state-engine'
import { createRandom } from '@ledger-state/testing/random'
import { drawnKeys, evenKey, evenValue } from './even-keys.ts'

export type StoreTask = { readonly path: string; readonly keys: number } & (
  | { readonly kind: 'fill' }
  | { readonly kind: 'update'; readonly writes: number; readonly seed: number }
  | {
      readonly kind: 'read'
      /** `past`: as they were before the updates of a seed. */
      readonly at: 'newest' | 'past'
      readonly count: number
      readonly seed: number
      readonly writes: number
    }
  | { readonly kind: 'prune' }
)

/** What a task cost, for each write, look-up or value. */
export interface TaskCost {
  readonly count: number
  readonly microseconds: number
  readonly cpuMicroseconds: number
  /** Pages of 4 KiB. */
  readonly pagesRead: number
  readonly bytesWritten: number
  /** How long commits took, of a task that commits. */
  readonly commitMilliseconds?: { readonly p99: number; readonly p999: number; readonly longest: number }
}

const IMPORT_ENTRIES = 10_000
const WRITES_OF_VERSION = 100
const CHAIN = { chainId: 1 }
const PAGE_BYTES = 4_096

const task: StoreTask = JSON.parse(process.argv[2]!)
process.stdout.write(JSON.stringify(await work(task)))

async function work(task: StoreTask): Promise<TaskCost[]> {
  if (task.kind === 'fill') return [await fill(task.path, task.keys)]
  if (task.kind === 'update') return [await update(task.path, task.keys, task.writes, task.seed)]
  if (task.kind === 'prune') return [await prune(task.path)]
  return read(task)
}

async function fill(path: string, keys: number): Promise<TaskCost> {
  const engine = openStateEngine({ path, durability: 'none' })
  const cost = await costOf(async () => {
    const imported = await engine.beginImport(0n)
    for (let from = 0; from < keys; from += IMPORT_ENTRIES) {
      const count = Math.min(IMPORT_ENTRIES, keys - from)
      await imported.add(
        Array.from({ length: count }, (_, at) => ({
          key: evenKey(from + at, keys),
          value: evenValue(from + at),
          version: 0n,
        })),
      )
    }
    await imported.finish({ ...CHAIN, block: { height: 0n, epoch: 0n, timestampUsec: 0n } })
    await engine.flush()
    return keys
  })
  await engine.close()
  return cost
}

async function update(path: string, keys: number, writes: number, seed: number): Promise<TaskCost> {
  const engine = openStateEngine({ path, durability: 'ordered', compressHistory: true })
  const drawn = drawnKeys(keys, writes, seed)
  const times: number[] = []
  const cost = await costOf(async () => {
    let version = engine.ledger!.latestVersion
    for (let from = 0; from < writes; from += WRITES_OF_VERSION) {
      version++
      const ofVersion = new Set(drawn.subarray(from, from + WRITES_OF_VERSION))
      const block = { height: version, epoch: 0n, timestampUsec: version }
      const put = [...ofVersion].map((number) => [evenKey(number, keys), evenValue(number + seed)] as const)
      const began = performance.now()
      await engine.commit([{ version, block, writes: put }], CHAIN)
      times.push(performance.now() - began)
    }
    await engine.merge()
    return writes
  })
  await engine.close()
  times.sort((a, b) => a - b)
  const share = (of: number) => times[Math.ceil(of * times.length) - 1]!
  return { ...cost, commitMilliseconds: { p99: share(0.99), p999: share(0.999), longest: share(1) } }
}

async function prune(path: string): Promise<TaskCost> {
  const engine = openStateEngine({ path, durability: 'ordered' })
  const cost = await costOf(async () => (await engine.prune(1n)).droppedEntries)
  await engine.close()
  return cost
}

/** First with nothing in memory, then the same again. */
async function read({
  path,
  keys,
  at,
  count,
  seed,
  writes,
}: Extract<StoreTask, { kind: 'read' }>): Promise<TaskCost[]> {
  const reader = openStateEngineReader({ path, readAhead: false })
  const random = createRandom(seed)
  const updated = at === 'past' ? drawnKeys(keys, writes, seed) : undefined
  const asked = Array.from({ length: count }, () =>
    evenKey(updated ? updated[random.below(writes)]! : random.below(keys), keys),
  )
  const view = reader.at(at === 'past' ? 0n : undefined)
  const ask = async () => {
    for (const key of asked) if (!view.peek(key)) throw new Error('a key that was written is missing')
    return count
  }
  const costs = [await costOf(ask), await costOf(ask)]
  await reader.close()
  return costs
}

async function costOf(work: () => Promise<number>): Promise<TaskCost> {
  const ioBefore = readIo()
  const cpuBefore = process.cpuUsage()
  const began = performance.now()
  const count = await work()
  const milliseconds = performance.now() - began
  const { user, system } = process.cpuUsage(cpuBefore)
  const io = readIo()
  return {
    count,
    microseconds: (1_000 * milliseconds) / count,
    cpuMicroseconds: (user + system) / count,
    pagesRead: (io.read - ioBefore.read) / PAGE_BYTES / count,
    bytesWritten: (io.written - ioBefore.written) / count,
  }
}

/** Bytes that this process had the disk read and write. */
function readIo(): { readonly read: number; readonly written: number } {
  const text = readFileSync('/proc/self/io', 'utf8')
  const of = (name: string) => Number(new RegExp(`^${name}: (\\d+)$`, 'm').exec(text)![1])
  return { read: of('read_bytes'), written: of('write_bytes') }
}
