// A process that makes one commit after the other, and measures how long its event loop is blocked during the commits.
// Arguments: the folder of a store that it creates, how many milliseconds it commits, and how many writes a second at most:
// 0 for no commits. Sends `LoopStops`.
import { fdatasync, openSync, write } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { openStateEngine } from '@ledger-state/state-engine'
import { createRandom } from '@ledger-state/testing/random'

export interface LoopStops {
  /** Milliseconds between ticks of a timer of 1 ms, including that millisecond. */
  readonly p99: number
  readonly p999: number
  readonly longest: number
  /** Stops in CPU time of the thread, which other programs on the machine and waiting for a disk do not increase. */
  readonly cpu: { readonly p99: number; readonly p999: number; readonly longest: number }
  /** Writes in a second; 0 if nothing is committed. */
  readonly writesPerSecond: number
  /** Milliseconds of a commit. Commits at a rate count from the time at which they were due. */
  readonly commit: Quantiles
  /** Milliseconds of a bare write of as many bytes and its sync, to another file of the disk, after every tenth commit. */
  readonly bareSync: Quantiles
}

interface Quantiles {
  readonly p50: number
  readonly p99: number
}

const WRITES = 1_000
const KEYS = 300_000
const KEY_LENGTH = 40
const VALUE_LENGTH = 100
/** Number of batches, made before the clock runs and committed again and again. */
const BATCHES = 100
/** Bytes of the memtable, so small that merges are under way nearly all the time. */
const TABLE_BYTES = 2 ** 24
const CHAIN = { chainId: 1 }

const [path, milliseconds, mostText] = process.argv.slice(2) as [string, string, string]
const most = Number(mostText)
const random = createRandom(5)

function makeWrites(): (readonly [Buffer, Buffer])[] {
  const written = new Set<number>()
  while (written.size < WRITES) written.add(random.below(KEYS))
  return [...written].map((number) => {
    const key = Buffer.alloc(KEY_LENGTH, number & 0xff)
    key.writeUInt32LE(Math.imul(number, 0x9e37_79b1) >>> 0)
    const value = Buffer.alloc(VALUE_LENGTH)
    for (let at = 0; at < VALUE_LENGTH; at += 4) value.writeUInt32LE(random.below(2 ** 32), at)
    return [key, value] as const
  })
}

const batches = Array.from({ length: BATCHES }, makeWrites)
const engine = openStateEngine({ path, memtableBytes: TABLE_BYTES })
let version = 0n

async function commit(): Promise<void> {
  const block = { height: version, epoch: 0n, timestampUsec: version }
  const writes = batches[Number(version % BigInt(BATCHES))]!
  await engine.commit([{ version: version++, block, writes }], CHAIN)
}

// The first merges make the records that later merges read.
for (let count = 0; count < BATCHES; count++) await commit()

const writeAsync = promisify(write)
const syncAsync = promisify(fdatasync)
const bareFile = openSync(join(path, '..', `bare-${process.pid}`), 'w')
const bareBytes = Buffer.alloc(WRITES * (KEY_LENGTH + VALUE_LENGTH))
const bareTimes: number[] = []

async function syncBare(): Promise<void> {
  const start = performance.now()
  await writeAsync(bareFile, bareBytes, 0, bareBytes.length, bareTimes.length * bareBytes.length)
  await syncAsync(bareFile)
  bareTimes.push(performance.now() - start)
}

const commitTimes: number[] = []

/** Commits until the time is over. */
async function commitAll(): Promise<void> {
  for (let count = 0; elapsed() < Number(milliseconds); count++) {
    const due = most === Number.POSITIVE_INFINITY ? performance.now() : began + (count * WRITES * 1_000) / most
    const early = due - performance.now()
    if (early > 0) await delay(early)
    await commit()
    commitTimes.push(performance.now() - due)
    if (count % 10 === 0) await syncBare()
  }
}

const stops: number[] = []
const cpuOfStops: number[] = []
let last = performance.now()
let lastCpu = cpuMs()
let isOver = false

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

function tick(): void {
  const [now, cpu] = [performance.now(), cpuMs()]
  stops.push(now - last)
  cpuOfStops.push(cpu - lastCpu)
  last = now
  lastCpu = cpu
  if (!isOver) setTimeout(tick, 1)
}

function longestOf(times: number[]) {
  times.sort((a, b) => a - b)
  const quantile = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))]!
  return { p99: quantile(0.99), p999: quantile(0.999), longest: times.at(-1)! }
}

function quantilesOf(times: number[]): Quantiles {
  times.sort((a, b) => a - b)
  const quantile = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0
  return { p50: quantile(0.5), p99: quantile(0.99) }
}

const began = performance.now()
const first = version
setTimeout(tick, 1)
const elapsed = () => performance.now() - began
if (most > 0) await commitAll()
else await new Promise((resolve) => setTimeout(resolve, Number(milliseconds)))
isOver = true
const writesPerSecond = (Number(version - first) * WRITES * 1_000) / elapsed()
const result: LoopStops = {
  ...longestOf(stops),
  cpu: longestOf(cpuOfStops),
  writesPerSecond,
  commit: quantilesOf(commitTimes),
  bareSync: quantilesOf(bareTimes),
}
process.send!(result)
await engine.close()
process.disconnect()
