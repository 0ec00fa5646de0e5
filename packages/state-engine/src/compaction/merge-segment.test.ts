import { Buffer } from 'node:buffer'
import type { VersionWrites, Write } from '@ledger-state/core'
import { isSlowRun } from '@ledger-state/testing/slow-run'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { segmentOf } from '../../testing/segments.ts'
import { bytes, record } from '../../testing/small-records.ts'
import { temporaryFolder } from '../../testing/temporary-folder.ts'
import { highHalf, lowHalf } from '../bytes/numbered-key.js'
import { RecordBuilder } from '../bytes/record.js'
import { keySeed } from '../bytes/stored-key.js'
import { LEDGER_KEY, type LmdbStore, openLmdbStore } from '../lmdb/lmdb-store.js'
import { SharedRecord } from '../lmdb/shared-record.js'
import { runTransaction } from '../lmdb/write-transaction.js'
import { Memtable } from '../memtable/memtable.js'
import type { Segment } from '../memtable/segment.js'
import { Lookup } from '../read/lookup.js'
import { ListedBlocks } from '../records/block-lists.js'
import type { Fence } from '../records/fences.js'
import { getMerging, listGenerations } from '../records/generations.js'
import { countPairsAtMost, decodeChunk, decodeNode, partCount, recordLevel } from '../records/history-log-record.js'
import { decodeLatest, MAX_FENCES } from '../records/latest-record.js'
import { decodeLedgerRecord, type LedgerRecord } from '../records/ledger-record.js'
import { PRESENT } from '../segments/found.js'
import { SegmentMerge } from './merge-segment.js'
import { pruneStep, raiseOldest } from './prune-store.js'

const RUNS = isSlowRun ? 60 : 6

const folder = temporaryFolder()
const builder = new RecordBuilder()
let store: LmdbStore

beforeEach(() => {
  store = openLmdbStore({ path: folder.path, readOnly: false, durability: 'none', verifyReads: true })
})
afterEach(() => store.root.close())

function transact<T>(work: () => T): T {
  return runTransaction(store.root, 'none', work)
}

function ledgerRecord(): LedgerRecord {
  return decodeLedgerRecord(store.meta.getBinary(LEDGER_KEY)!)
}

function mergeWhole(versions: readonly VersionWrites[], number = 1): void {
  const merge = new SegmentMerge(store, builder, segmentOf(versions, number), number + 1)
  transact(() => merge.mergeWhole())
}

function raise(oldestVersion: bigint, first: bigint): void {
  const block = { height: oldestVersion - first, epoch: 0n, timestampUsec: 0n }
  transact(() => raiseOldest(store, builder, { firstVersion: oldestVersion, block }))
}

function pruneWhole(): void {
  while (!transact(() => pruneStep(store, builder)).done);
}

function get(lookup: Lookup, key: Uint8Array, version: bigint): string | undefined {
  const { ledger, ...rest } = ledgerRecord()
  const snapshot = { options: {}, record: { ledger, ...rest }, ledger, memtable: new Memtable() }
  const found = lookup.find(key, highHalf(version), lowHalf(version), snapshot as never)
  return found === PRESENT ? Buffer.from(lookup.copy()).toString('latin1') : undefined
}

/** First versions of the merged blocks. */
function listedVersions(): bigint[] {
  const lists = [...store.blockLists.getRange({ start: undefined, end: undefined })]
  return lists.flatMap(({ key, value }) => [...new ListedBlocks(key, value)].map(({ firstVersion }) => firstVersion))
}

/** Counts that `check` compares, computed from all records. */
function countAll() {
  const shared = new SharedRecord()
  let pairs = 0
  for (const key of store.historyLog.getKeys({ start: undefined, end: undefined })) {
    shared.load(store.historyLog, key, {})
    if (recordLevel(shared) === 0) pairs += partCount(shared)
  }
  return { pairs, garbageRecords: store.garbage.getStats().entryCount, blocks: listedVersions().length }
}

function expectCounts(): void {
  const { supersededEntries, garbageRecords, blocks } = ledgerRecord()
  expect({ pairs: supersededEntries, garbageRecords, blocks }).toEqual(countAll())
  const generations = [...listGenerations(store)].map(({ generation }) => generation)
  const merging = getMerging(store)
  const pairs = generations.reduce((sum, { pairs }) => sum + pairs, merging?.pairs ?? 0)
  expect(pairs).toBe(supersededEntries)
}

/** Versions of all pairs that the fences of a key lead to. */
function supersededVersions(key: Uint8Array): bigint[] {
  const latest = new SharedRecord()
  if (!latest.load(store.latest, key, {})) return []
  const below = ({ level, number }: Fence): bigint[] => {
    const shared = new SharedRecord()
    if (!shared.load(store.historyLog, number, {})) return []
    const record = shared.detach()
    return level > 0 ? decodeNode(record, level).flatMap(below) : decodeChunk(record).map(({ version }) => version)
  }
  return decodeLatest(latest.detach()).fences.flatMap(below)
}

function expectHistory(key: string, revisions: readonly ModelWrite[], oldest: bigint): void {
  const found = supersededVersions(bytes(key))
  for (const [at, version] of found.slice(1).entries()) expect(version).toBeGreaterThan(found[at]!)
  // If the window begins with a deletion, the deletion may be forgotten.
  const seen = revisions
    .slice(0, -1)
    .filter(([version, value], at) => revisions[at + 1]![0] > oldest && (value !== null || version > oldest))
  expect(found.slice(found.length - seen.length)).toEqual(seen.map(([version]) => version))
}

function pieceCount(value: string, mostInline: number): number {
  if (value.length <= mostInline) return 0
  return Math.floor(value.length / 4_068) + Math.ceil((value.length % 4_068) / 990)
}

const LONG = 'long '.repeat(500)
const KEYS = ['', 'a', 'ab', 'b', 'c\0', `${LONG}1`, `${LONG}2`]
const SIZES = [0, 1, 30, 900, 1_400, 1_401, 3_680, 3_681, 9_000]

type ModelWrite = readonly [version: bigint, value: string | null]

interface DrawnWrite {
  readonly key: number
  /** Size of the value; null for a deletion. */
  readonly size: number | null
}

type Fate = 'committed' | 'aborted' | 'killed'

/** The store of the test, with a simple model that it is compared with. */
class ModelledStore {
  readonly #model = new Map(KEYS.map((key) => [key, [] as ModelWrite[]]))
  readonly #first: bigint
  #next: bigint
  #oldest: bigint
  #segments = 0

  constructor(first: bigint) {
    this.#first = first
    this.#next = first
    this.#oldest = first
    const { latest, historyLog, generations, garbage, large, blockLists, meta } = store
    transact(() => {
      for (const table of [latest, historyLog, generations, garbage, large, blockLists]) table.clearSync()
      for (const key of [LEDGER_KEY, Buffer.from('merging')]) meta.removeSync(key)
    })
  }

  /** Commits versions with these writes to the model, and returns them as a segment. */
  write(versions: readonly (readonly DrawnWrite[])[]): Segment {
    const made = versions.map((writes) => {
      const version = this.#next++
      const pairs = writes.map((drawn) => this.#write(version, drawn))
      return record(version, pairs, Number(version - this.#first))
    })
    return segmentOf(made, ++this.#segments)
  }

  #write(version: bigint, { key, size }: DrawnWrite): Write {
    const value = size === null ? null : `${version} `.padEnd(SIZES[size]!, 'x').slice(0, SIZES[size]!)
    const revisions = this.#model.get(KEYS[key]!)!
    if (value !== null || (revisions.at(-1)?.[1] ?? null) !== null) revisions.push([version, value])
    return [bytes(KEYS[key]!), value === null ? null : bytes(value)]
  }

  /** Raises the oldest version by a share of the window. */
  raise(share: number): void {
    this.#oldest += BigInt(Math.floor(Number(this.#next - 1n - this.#oldest) * share))
    raise(this.#oldest, this.#first)
  }

  /**
   * Merges in slices of one key each. Some of them are aborted, or forgotten as if the process was killed. Then merges
   * the rest.
   */
  merge(segment: Segment, slices: readonly Fate[]): void {
    const isMerged = () => ledgerRecord().nextCommit > this.#segments
    let merge = new SegmentMerge(store, builder, segment, this.#segments + 1)
    for (const fate of this.#segments > 1 ? slices : []) {
      if (isMerged()) break
      if (fate === 'aborted') expect(() => transact(() => abort(() => merge.slice(0)))).toThrow('aborted')
      if (fate === 'killed') merge = new SegmentMerge(store, builder, segment, this.#segments + 1)
      if (fate === 'aborted') continue
      transact(() => merge.slice(0))
      merge.sliceCommitted()
      expectCounts()
    }
    if (this.#segments === 1 || !isMerged()) transact(() => merge.mergeWhole())
  }

  expectSame(): void {
    const lookup = new Lookup(store)
    expect(ledgerRecord().ledger).toMatchObject({ oldestVersion: this.#oldest, latestVersion: this.#next - 1n })
    expectCounts()
    for (const [key, revisions] of this.#model) {
      for (let version = this.#oldest; version < this.#next; version++) {
        const expected = revisions.findLast(([written]) => written <= version)?.[1] ?? undefined
        expect(get(lookup, bytes(key), version)).toBe(expected)
      }
      expectHistory(key, revisions, this.#oldest)
    }
  }

  /** Checks the store after all versions but the newest were pruned. */
  expectNewestValuesOnly(): void {
    expect(ledgerRecord()).toMatchObject({ supersededEntries: 0, garbageRecords: 0 })
    expect(store.historyLog.getStats().entryCount).toBe(0)
    const left = [...this.#model].flatMap(([key, revisions]) => {
      const value = revisions.at(-1)?.[1] ?? null
      return value === null ? [] : [{ key, value }]
    })
    expect(store.latest.getStats().entryCount).toBe(left.length)
    expect(ledgerRecord().payloadBytes).toBe(left.reduce((sum, { key, value }) => sum + key.length + value.length, 0))
    const pieces = left.map(({ key, value }) => pieceCount(key, 1_900) + pieceCount(value, 3_680))
    expect(store.large.getStats().entryCount).toBe(pieces.reduce((sum, count) => sum + count, 0))
  }
}

function abort(work: () => void): never {
  work()
  throw new Error('aborted')
}

describe('compared with a plain model', () => {
  const write = fc.record({
    key: fc.nat({ max: KEYS.length - 1 }),
    size: fc.option(fc.nat({ max: SIZES.length - 1 }), { freq: 4 }),
  })
  const version = fc.uniqueArray(write, { maxLength: 4, size: 'max', selector: ({ key }) => key })
  const segment = fc.record({
    versions: fc.array(version, { minLength: 1, maxLength: 8, size: 'max' }),
    slices: fc.array(fc.constantFrom<Fate>('committed', 'aborted', 'killed'), { maxLength: 6, size: 'max' }),
    prune: fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { freq: 2 }),
  })
  const segments = fc.array(segment, { minLength: 1, maxLength: 25, size: 'max' })

  it('reads every kept version right after any merges and prunes', () => {
    fc.assert(
      fc.property(segments, fc.constantFrom(0n, 2n ** 32n - 9n, 2n ** 53n), (drawn, first) => {
        const modelled = new ModelledStore(first)
        for (const [at, { versions, slices, prune }] of drawn.entries()) {
          const written = modelled.write(versions)
          // Before the merge, so that the merge does not write values that are superseded below the oldest version.
          if (prune !== null && at > 0) modelled.raise(prune)
          modelled.merge(written, slices)
          if (prune !== null) pruneWhole()
        }
        modelled.expectSame()
        modelled.raise(1)
        pruneWhole()
        modelled.expectNewestValuesOnly()
      }),
      { numRuns: RUNS },
    )
  })
})

it('a merge keeps records and reads of one hot key small over thousands of merges', () => {
  const MERGES = isSlowRun ? 4_000 : 1_500
  const key = bytes('hot')
  const lookup = new Lookup(store)
  const reads: number[] = []
  const most = { latest: 0, depth: 0 }
  for (let version = 0; version < MERGES; version++) {
    mergeWhole([record(version, [[key, bytes(`value ${version}`)]], version)], version + 1)
  }
  const shared = new SharedRecord()
  shared.load(store.latest, key, {})
  shared.verify(keySeed(key))
  const { fences } = decodeLatest(shared)
  most.latest = shared.length
  most.depth = Math.max(...fences.map(({ level }) => level))
  expect(fences.length).toBeLessThanOrEqual(MAX_FENCES)
  expect(most.latest).toBeLessThan(400)
  expect(most.depth).toBeLessThanOrEqual(4)
  // There are few nodes compared with chunks.
  expect(store.historyLog.getStats().entryCount).toBeLessThan(MERGES * 1.1)
  const countReads = store.historyLog.getBinaryFast
  store.historyLog.getBinaryFast = function counted(this: typeof store.historyLog, ...given) {
    reads[reads.length - 1]!++
    return countReads.apply(this, given)
  }
  for (let version = 0n; version < BigInt(MERGES); version += 13n) {
    reads.push(0)
    expect(get(lookup, key, version)).toBe(`value ${version}`)
  }
  expect(Math.max(...reads)).toBeLessThanOrEqual(most.depth + 1)
})

it('a merge takes many writes of one key in parts, which hold several of them side by side', () => {
  const key = bytes('busy')
  const versions = Array.from({ length: 5_000 }, (_, at) => record(at, [[key, bytes(`v${at}`)]], at))
  mergeWhole(versions.slice(0, 1))
  const merge = new SegmentMerge(store, builder, segmentOf(versions.slice(1), 2), 3)
  let slices = 1
  while (!transact(() => merge.slice(0))) {
    merge.sliceCommitted()
    slices++
  }
  expect(slices).toBe(5)
  const lookup = new Lookup(store)
  for (let version = 0n; version < 5_000n; version += 7n) expect(get(lookup, key, version)).toBe(`v${version}`)
  expect(store.historyLog.getStats().entryCount).toBeLessThan(5_000 / 100)
  expectCounts()
})

it('a merge does nothing with a segment that was merged before, whose file could not be removed', () => {
  mergeWhole([record(0, [[bytes('k'), bytes('0')]], 0)])
  const versions = [record(1, [[bytes('k'), bytes('1')]], 1), record(2, [[bytes('k'), null]], 2)]
  mergeWhole(versions, 2)
  const before = ledgerRecord()
  mergeWhole(versions, 2)
  expect(ledgerRecord()).toEqual(before)
  expectCounts()
})

it('a merge does not write what no version of the window sees', () => {
  const value = (version: number) => new Uint8Array(2_000).fill(version)
  mergeWhole([record(0, [[bytes('k'), value(0)]], 0)])
  raise(8n, 0n)
  const versions = Array.from({ length: 10 }, (_, at) => {
    const writes: Write[] = [[bytes('k'), value(at + 1)]]
    if (at === 3) writes.push([bytes('gone'), bytes('soon')])
    if (at === 5) writes.push([bytes('gone'), null])
    return record(at + 1, writes, at + 1)
  })
  mergeWhole(versions, 2)
  expect(ledgerRecord()).toMatchObject({ supersededEntries: 2, garbageRecords: 1, blocks: 1 + 3 })
  expect(store.latest.getStats().entryCount).toBe(1)
  expect(listedVersions()).toEqual([0n, 8n, 9n, 10n])
  const shared = new SharedRecord()
  shared.load(store.historyLog, 0, {})
  expect(countPairsAtMost(shared, 0, 8)).toBe(1)
})
