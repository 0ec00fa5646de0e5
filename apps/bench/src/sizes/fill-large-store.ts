// Fills a store of many keys, far more than its memory holds, and reads it cold: docs/lab/measurements.md, "A
// hundred million keys". Arguments: a folder that keeps the store, the number of keys, the number of updates after them, and `read`
// to read a store that an earlier call filled with the same numbers. Limit the memory from outside, with a control group.
import { readFileSync } from 'node:fs'
import type { VersionWrites } from '@ledger-state/core'
import { openStateEngine, openStateEngineReader } from '@ledger-state/state-engine'
import { createRandom } from '@ledger-state/testing/random'

const WRITES_OF_VERSION = 5
const VERSIONS_OF_COMMIT = 1_000
const WRITES_OF_COMMIT = WRITES_OF_VERSION * VERSIONS_OF_COMMIT
const KEY_LENGTH = 40
const VALUE_LENGTH = 100
/** Bytes of a value that no compressor saves; the rest is the same in all values. */
const RANDOM_LENGTH = 24
const LOOK_UPS = 5_000
/** Number of times that the fill reports. */
const STAGES = 20
/** Odd, so that a product modulo 2^32 is another number for each number. */
const SPREAD = 0x9e37_79b1

const [path, keyCount, updateCount, mode = 'fill'] = process.argv.slice(2)
if (path === undefined || !(Number(keyCount) > 0) || !(Number(updateCount) >= 0)) {
  throw new Error('usage: fill-large-store.ts FOLDER KEYS UPDATES [read]')
}
const keys = Number(keyCount)
const writes = keys + Number(updateCount)
if (mode === 'read') await readStore(path)
else await fillStore(path)

async function fillStore(folder: string): Promise<void> {
  const engine = openStateEngine({ path: folder })
  const began = performance.now()
  const stage = createStage()
  for (let first = 0; first < writes; first += WRITES_OF_COMMIT) {
    const versions = makeVersions(first)
    const start = performance.now()
    await engine.commit(versions, { chainId: 1 })
    stage.committed(performance.now() - start)
    const done = first + WRITES_OF_COMMIT
    if (done % (writes / STAGES) < WRITES_OF_COMMIT) console.log(`${done} writes: ${stage.end()}`)
  }
  const filled = performance.now()
  await engine.merge()
  const { levels } = engine.stats
  await engine.close()
  const closed = performance.now()
  console.log(
    `${writes} writes in ${seconds(filled - began)}, all merged and closed in ${seconds(closed - began)}: ` +
      `${Math.round((writes * 1_000) / (closed - began))} a second, ${(cpuOf(process.cpuUsage()) / writes).toFixed(2)} µs of CPU each`,
  )
  for (const { level, files, fileBytes, writes: of } of levels) {
    console.log(`level ${level}: ${files} files, ${of} writes, ${(fileBytes / 1e9).toFixed(2)} GB`)
  }
}

/** Measures a part of the commits. */
function createStage() {
  const take = () => ({
    now: performance.now(),
    all: cpuOf(process.cpuUsage()),
    main: cpuOf(process.threadCpuUsage()),
    loop: loopTime(),
  })
  let before = take()
  let times: number[] = []
  return {
    /** Takes the milliseconds of a commit. */
    committed: (milliseconds: number) => void times.push(milliseconds),
    /** Ends the stage, and begins the next one. Returns the figures. */
    end(): string {
      const after = take()
      const count = times.length * WRITES_OF_COMMIT
      const rate = Math.round((count * 1_000) / (after.now - before.now))
      const perWrite = (microseconds: number) => `${(microseconds / count).toFixed(2)} µs`
      const sorted = times.sort((a, b) => a - b)
      const text =
        `${rate} a second; a write takes ${perWrite(after.all - before.all)} of CPU, ` +
        `${perWrite(after.main - before.main)} of it on the main thread, and ${perWrite(1_000 * (after.loop - before.loop))} of the ` +
        `event loop; commits p50 ${quantile(sorted, 0.5)}, p99 ${quantile(sorted, 0.99)}, longest ${quantile(sorted, 1)}`
      before = after
      times = []
      return text
    },
  }
}

/** Reads keys at random versions and at the newest one, and compares the values with those that were written. */
async function readStore(folder: string): Promise<void> {
  const began = performance.now()
  const reader = openStateEngineReader({ path: folder })
  const latest = Number(reader.ledger!.latestVersion)
  reader.at().get(keyOf(0))
  console.log(`first answer after ${seconds(performance.now() - began)}`)
  const random = createRandom(3)
  for (const kind of ['past', 'newest'] as const) {
    // Each key is asked at a version at or above its first write, so each answer has a value.
    const questions = Array.from({ length: LOOK_UPS }, () => {
      const number = random.below(keys)
      const first = Math.floor(number / WRITES_OF_VERSION)
      return { number, version: kind === 'past' ? first + random.below(latest - first + 1) : latest }
    })
    const written = versionsOf(new Set(questions.map(({ number }) => number)))
    const before = readCounts()
    const start = performance.now()
    for (const { number, version } of questions) {
      const found = reader.at(BigInt(version)).get(keyOf(number))
      const expected = valueOfWrite(number, lastWrite(written.get(number)!, version))
      if (found === undefined || !expected.equals(found)) throw new Error(`wrong value of key ${number}`)
    }
    const time = ((performance.now() - start) * 1_000) / LOOK_UPS
    const after = readCounts()
    console.log(
      `${kind}: ${time.toFixed(0)} µs a look-up, ${((after.calls - before.calls) / LOOK_UPS).toFixed(2)} reads, ` +
        `${((after.bytes - before.bytes) / 4_096 / LOOK_UPS).toFixed(2)} pages`,
    )
  }
  console.log(`memory without mapped files: ${anonymousMegabytes()} MB`)
  await reader.close()
}

/** The versions that wrote each of some keys, oldest first. */
function versionsOf(some: ReadonlySet<number>): ReadonlyMap<number, readonly number[]> {
  const found = new Map([...some].map((number) => [number, [Math.floor(number / WRITES_OF_VERSION)]]))
  for (let write = keys; write < writes; write++) {
    found.get(keyOfWrite(write))?.push(Math.floor(write / WRITES_OF_VERSION))
  }
  return found
}

function lastWrite(versions: readonly number[], version: number): number {
  return versions.findLast((one) => one <= version)!
}

function makeVersions(first: number): VersionWrites[] {
  return Array.from({ length: VERSIONS_OF_COMMIT }, (_, at) => {
    const number = first / WRITES_OF_VERSION + at
    const block =
      at === 0 ? { height: BigInt(first / WRITES_OF_COMMIT), epoch: 0n, timestampUsec: BigInt(number) } : undefined
    const changed = new Set<number>()
    for (let of = 0; of < WRITES_OF_VERSION; of++) changed.add(keyOfWrite(number * WRITES_OF_VERSION + of))
    return {
      version: BigInt(number),
      block,
      writes: [...changed].map((key) => [keyOf(key), valueOfWrite(key, number)] as const),
    }
  })
}

/** The number of the key that a write has: first every key once, then keys at random places. */
function keyOfWrite(write: number): number {
  return write < keys ? write : (Math.imul(write, SPREAD) >>> 0) % keys
}

function keyOf(number: number): Buffer {
  const key = Buffer.allocUnsafe(KEY_LENGTH)
  key.fill(0x2a, 0, 4)
  for (let at = 4; at < KEY_LENGTH; at += 4) key.writeUInt32LE(Math.imul(number + at * 4 - 16, SPREAD) >>> 0, at)
  return key
}

function valueOfWrite(number: number, version: number): Buffer {
  const value = Buffer.alloc(VALUE_LENGTH, 'a value of a chain ')
  for (let at = 0; at < RANDOM_LENGTH; at += 4) {
    const mixed = Math.imul(Math.imul(number + at, SPREAD) ^ version, 0x85eb_ca6b)
    value.writeUInt32LE((mixed ^ (mixed >>> 13)) >>> 0, at)
  }
  return value
}

/** Microseconds of CPU time. */
function cpuOf({ user, system }: NodeJS.CpuUsage): number {
  return user + system
}

/** Milliseconds in which the event loop was busy, with the time in which calls blocked it. */
function loopTime(): number {
  return performance.eventLoopUtilization().active
}

function readCounts(): { readonly calls: number; readonly bytes: number } {
  const io = readFileSync('/proc/self/io', 'utf8')
  const faults = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]!.split(' ')[9]!
  return {
    calls: Number(/^syscr: (\d+)/m.exec(io)![1]) + Number(faults),
    bytes: Number(/^read_bytes: (\d+)/m.exec(io)![1]),
  }
}

function anonymousMegabytes(): number {
  return Math.round(Number(/^RssAnon:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))![1]) / 1_000)
}

function quantile(sorted: readonly number[], share: number): string {
  return `${sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!.toFixed(1)} ms`
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1_000).toFixed(2)} s`
}
