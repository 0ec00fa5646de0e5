import { mkdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { formatNumber, type Role } from '../report/measure.ts'
import type { BenchRun } from '../run/bench-run.ts'
import { cpuMicroseconds } from '../run/cpu-time.ts'
import { openEngineStore } from '../stores/engine.ts'
import { openJsMap } from '../stores/js-map.ts'
import { PEER_NAMES, PEERS, type PeerName } from '../stores/peers.ts'
import { openPlainLmdb } from '../stores/plain-lmdb.ts'
import type { Store } from '../stores/store.ts'
import { VERSIONS_PER_BATCH, type Workload } from '../workload/workload.ts'

export interface Contestant {
  readonly store: Store
  readonly role: Role
}

/** All stores of a size, filled with the same writes: the engine, the floor, then the peers. */
export interface Contestants {
  readonly all: readonly Contestant[]
  readonly plain: ReturnType<typeof openPlainLmdb>
  /** Path of each store on disk. */
  readonly folders: ReadonlyMap<StoreFolder, string>
  close(): Promise<void>
}

export type StoreFolder = 'engine' | 'plain' | PeerName

/** Up to this number of keys the Map in memory is measured. The JavaScript heap cannot hold the next size. */
export const MOST_KEYS_OF_A_MAP = 200_000

/** Most bytes on disk for each byte of payload while a store is filled. */
const DISK_FACTOR = 2

/** Cost of filling a store. It is written next to the store, for later runs. */
interface Filling {
  readonly workload: string
  readonly date: string
  readonly payloadBytes: number
  readonly usedBytes: number
  /** Microseconds for each write, by batch. */
  readonly costs: readonly number[]
  /** Microseconds for each write, including closing the store, which may write data from memory. */
  readonly meanCost: number
  /** Microseconds of CPU time of all threads of this process for each write, including closing the store. */
  readonly meanCpu: number
}

interface Entry {
  store: Store
  readonly role: Role
  /** Path of the store; undefined for a store in memory. */
  readonly path: string | undefined
  readonly open: (path: string) => Store | Promise<Store>
  filling: Filling | undefined
}

/** Opens the stores of a size, and fills those that no earlier run has filled with the same workload. */
export async function openContestants(run: BenchRun, workload: Workload, isMain: boolean): Promise<Contestants> {
  const { keys } = workload
  const folder = (name: StoreFolder) => run.storeFolder(join(`keys-${keys}-seed-${workload.seed}`, name))
  const entries: Entry[] = []
  const folders = new Map<StoreFolder, string>()
  const close = async (): Promise<void> => {
    for (const { store } of entries.splice(0)) await store.close()
  }
  const add = async (role: Role, name: StoreFolder, open: Entry['open']): Promise<Entry> => {
    const path = folder(name)
    const kept = readFilling(path, workload)
    if (!kept) emptyFolder(path)
    const opened = await openKept(open, path, kept !== undefined)
    const entry = { store: opened.store, role, path, open, filling: opened.isKept ? kept : undefined }
    entries.push(entry)
    folders.set(name, path)
    return entry
  }
  try {
    await add('ours', 'engine', openEngineStore)
    const plain = await add('floor', 'plain', openPlainLmdb)
    const neededBytes = estimatePayload(workload) * DISK_FACTOR
    let freeBytes = freeBytesOf(folder('engine'))
    const hasRoomFor = (name: StoreFolder): boolean => {
      if (!readFilling(folder(name), workload)) freeBytes -= neededBytes
      return freeBytes >= 0
    }
    for (const name of folders.keys()) hasRoomFor(name)
    for (const name of run.peers ?? PEER_NAMES) {
      const { title, open } = PEERS[name]
      if (!hasRoomFor(name)) {
        run.note(`${title} is left out at ${keys} keys: it may need ${formatNumber(neededBytes / 1e9, 'GB')} on disk`)
        continue
      }
      try {
        await add('peer', name, open)
      } catch (error) {
        run.note(`${title} is left out: ${(error as Error).message ?? String(error)}`)
      }
    }
    if (keys <= MOST_KEYS_OF_A_MAP) {
      entries.push({ store: openJsMap(), role: 'limit', path: undefined, open: openJsMap, filling: undefined })
    }
    await fill(run, entries, workload)
    for (const entry of entries) recordFilling(run, workload, entry, isMain)
    return { all: entries, plain: plain.store as Contestants['plain'], folders, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** Opens a store. A kept one that does not open, because its layout is older, is emptied first. */
async function openKept(open: Entry['open'], path: string, isKept: boolean) {
  try {
    return { store: await open(path), isKept }
  } catch (error) {
    if (!isKept) throw error
    emptyFolder(path)
    return { store: await open(path), isKept: false }
  }
}

/** Fills stores one after the other, so that a store's background work falls into the time of its own writes. */
async function fill(run: BenchRun, entries: readonly Entry[], workload: Workload): Promise<void> {
  const kept = entries.find(({ filling }) => filling !== undefined)
  for (const entry of entries) if (!entry.filling) await fillOne(run, entry, workload)
  if (kept) run.note(`${workload.keys} keys: uses the stores that were filled ${kept.filling!.date}, and their times`)
}

async function fillOne(run: BenchRun, entry: Entry, workload: Workload): Promise<void> {
  const { path, store } = entry
  const what = `${workload.keys} keys: writing ${formatNumber(workload.writes)} writes into ${store.name}`
  run.step(what)
  const costs: number[] = []
  let payloadBytes = 0
  let spentMs = 0
  let spentCpu = 0
  for (const batch of workload.batches()) {
    run.throwIfInterrupted()
    // Lets the event loop turn, as signals are handled between two turns.
    await new Promise((resolve) => setImmediate(resolve))
    let writes = 0
    for (const one of batch) {
      writes += one.writes.length
      for (const [key, value] of one.writes) payloadBytes += key.length + (value?.length ?? 0)
    }
    const began = performance.now()
    spentCpu += await cpuMicroseconds(() => store.ingest(batch))
    const tookMs = performance.now() - began
    spentMs += tookMs
    costs.push((tookMs * 1_000) / writes)
    if (costs.length % 200 === 0) {
      run.step(`${what}: ${formatNumber((costs.length * VERSIONS_PER_BATCH * 100) / workload.versions, '%')}`)
    }
  }
  if (path !== undefined) {
    const began = performance.now()
    spentCpu += await cpuMicroseconds(async () => void (await store.close()))
    spentMs += performance.now() - began
    // The best way to open a store may depend on its size.
    entry.store = await entry.open(path)
  }
  const usedBytes = await entry.store.usedBytes()
  const meanCost = (spentMs * 1_000) / workload.writes
  const meanCpu = spentCpu / workload.writes
  const date = new Date().toISOString()
  entry.filling = { workload: workload.fingerprint, date, payloadBytes, usedBytes, costs, meanCost, meanCpu }
  if (path !== undefined) writeFileSync(join(path, FILLING_FILE), JSON.stringify(entry.filling))
}

function recordFilling(run: BenchRun, { keys, writes }: Workload, entry: Entry, isMain: boolean): void {
  const { store, role } = entry
  const { costs, meanCost, meanCpu, usedBytes, payloadBytes } = entry.filling!
  const at = { keys, ...(isMain && { main: 'yes' }) }
  const common = { title: `${keys} keys: filling`, subject: store.name, role, at }
  run.record({ ...common, metric: 'time of a write', unit: 'µs', rounds: costs })
  run.record({ ...common, metric: 'mean time of a write, with closing the store', unit: 'µs', rounds: meanCost })
  run.record({ ...common, metric: 'CPU time of a write, with closing the store', unit: 'µs', rounds: meanCpu })
  const entries = role === 'floor' ? keys : writes
  run.record({ ...common, metric: 'bytes per entry', unit: 'B', better: 'lower', rounds: usedBytes / entries })
  if (role === 'floor' || role === 'limit') return
  run.record({
    ...common,
    metric: 'bytes per payload byte',
    unit: '×',
    better: 'lower',
    rounds: usedBytes / payloadBytes,
  })
}

const FILLING_FILE = 'filled.json'

function readFilling(path: string, { fingerprint }: Workload): Filling | undefined {
  try {
    const filling = JSON.parse(readFileSync(join(path, FILLING_FILE), 'utf8')) as Filling
    return filling.workload === fingerprint ? filling : undefined
  } catch {
    // The store was never filled, or filling was interrupted.
    return undefined
  }
}

function emptyFolder(path: string): void {
  rmSync(path, { recursive: true, force: true })
  mkdirSync(path, { recursive: true })
}

function freeBytesOf(path: string): number {
  const { bavail, bsize } = statfsSync(path)
  return bavail * bsize
}

/** Bytes of keys and values, estimated from the first batch. */
function estimatePayload(workload: Workload): number {
  for (const batch of workload.batches()) {
    const writes = batch.flatMap((one) => one.writes)
    const bytes = writes.reduce((sum, [key, value]) => sum + key.length + (value?.length ?? 0), 0)
    return (bytes / writes.length) * workload.writes
  }
  return 0
}
