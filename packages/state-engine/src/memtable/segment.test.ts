import { Buffer } from 'node:buffer'
import { hash } from 'node:crypto'
import { atOnce, isLedgerStateError, type VersionWrites, type Write } from '@ledger-state/core'
import { valueToStored } from '@ledger-state/engine/authoring'
import { isSlowRun } from '@ledger-state/testing/slow-run'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { highHalf, lowHalf } from '../bytes/version-halves.js'
import { indexCommit } from '../wal/index-payload.js'
import {
  applyTruncation,
  payloadLength,
  putCommitInSteps,
  putTruncation,
  truncationLength,
} from '../wal/put-payload.js'
import { fingerprintOf } from './fingerprint.js'
import { Memtable } from './memtable.js'
import { NONE, Segment } from './segment.js'
import { allocateSegment } from './segment-memory.js'

const RUNS = isSlowRun ? 300 : 25

/** Keys with common beginnings, keys that are parts of each other, and the empty key. */
const KEY = fc.oneof(
  fc.uint8Array({ maxLength: 3 }),
  fc
    .constantFrom('', '\0', '\0\0', 'abcd', 'abcd\0', 'abcdabcd', 'x'.repeat(70), `${'x'.repeat(70)}y`)
    .map(Buffer.from),
  fc.integer({ min: 0, max: 400 }).map((at) => Buffer.from(`a key of some length ${at}`)),
)
const VALUE = fc.option(fc.uint8Array({ maxLength: 40 }), { freq: 3 })
const WRITES = fc.array(fc.tuple(KEY, VALUE), { maxLength: 12 })
const COMMITS = fc.array(fc.array(WRITES, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 20 })
/** Numbers of versions that are cut off after each commit; none if negative. */
const CUTS = fc.array(fc.integer({ min: -3, max: 12 }), { minLength: 1, maxLength: 5 })
const FIRST = fc.constantFrom(0n, 7n, 2n ** 32n - 3n, 2n ** 53n, 2n ** 64n - 200n)

const text = (key: Uint8Array) => Buffer.from(key).toString('latin1')

/** Writes of each key, the oldest first. */
type Oracle = Map<string, { version: bigint; value: Uint8Array | null }[]>

/** Applies versions to the oracle as a commit would: nothing if one of them writes a key twice. */
function applyToOracle(oracle: Oracle, versions: readonly VersionWrites[]): boolean {
  const before = new Map([...oracle].map(([key, writes]) => [key, [...writes]]))
  for (const { version, writes } of versions) {
    const seen = new Set<string>()
    for (const [key, value] of writes) {
      if (seen.has(text(key))) {
        oracle.clear()
        for (const [key, writes] of before) oracle.set(key, writes)
        return false
      }
      seen.add(text(key))
      const older = oracle.get(text(key)) ?? []
      if (value === null && (older.at(-1)?.value ?? null) === null) continue
      oracle.set(text(key), [...older, { version, value }])
    }
  }
  return true
}

function toVersions(first: bigint, writesOfVersions: readonly (readonly Write[])[]) {
  return writesOfVersions.map((writes, at): VersionWrites => {
    const version = first + BigInt(at)
    const block =
      version % 3n === 0n || at === 0 ? { height: version, epoch: 1n, timestampUsec: version & 0xffn } : undefined
    return { version, block, writes }
  })
}

function commit(memtable: Memtable, segment: Segment, number: number, versions: readonly VersionWrites[]): boolean {
  const checkpoint = segment.checkpoint()
  const content = { number, chainId: 7n, versions, mark: Buffer.from([number]), blockBefore: segment.head?.latestBlock }
  segment.reserve(payloadLength(content))
  try {
    segment.head = atOnce(putCommitInSteps(segment, memtable.hash, content, () => false))
    return true
  } catch (error) {
    expect(isLedgerStateError(error, 'duplicate_key')).toBe(true)
    segment.rollBack(checkpoint)
    expect(segment.checkpoint()).toEqual(checkpoint)
    return false
  }
}

/** Cuts a segment as a commit log does. */
function truncate(segment: Segment, number: number, version: bigint): void {
  const truncation = { number: (segment.truncations.at(-1)?.number ?? 0) + 1, version }
  const latestBlock = { height: version, epoch: 1n, timestampUsec: 2n }
  const content = { number, chainId: 7n, mark: Buffer.from('cut'), truncation, latestBlock }
  segment.reserve(truncationLength(content))
  segment.head = putTruncation(segment, content)
  applyTruncation(segment, truncation)
}

function truncateOracle(oracle: Oracle, version: bigint): void {
  for (const [key, writes] of oracle) {
    const left = writes.filter((write) => write.version <= version)
    if (left.length > 0) oracle.set(key, left)
    else oracle.delete(key)
  }
}

/** Updates another segment with the bytes that were appended to the arena of the first. */
function readAgain(memtable: Memtable, segment: Segment, again: Segment, number: number, start: number): void {
  again.reserve(segment.length - start)
  segment.bytes.copy(again.bytes, start, start, segment.length)
  again.length = segment.length
  again.head = indexCommit(again, memtable.hash, number, start, segment.length, again.head?.latestBlock)
  expect(again.head).toEqual(segment.head)
}

function expectSame(memtable: Memtable, segment: Segment, oracle: Oracle, versions: readonly bigint[]): void {
  expect(segment.keyCount).toBe(oracle.size)
  for (const [key, writes] of oracle) {
    const bytes = Buffer.from(key, 'latin1')
    const hash = memtable.hashOf(bytes)
    expect(segment.mayHave(fingerprintOf(bytes, 0, bytes.length))).toBe(true)
    const found: { version: bigint; value: Uint8Array | null }[] = []
    for (let entry = segment.newest(bytes, hash); entry !== NONE; entry = segment.older(entry)) {
      expect(segment.version(entry)).toBe(
        (BigInt(segment.versionHigh(entry)) << 32n) | BigInt(segment.versionLow(entry)),
      )
      found.unshift(contentOf(segment, entry))
    }
    expect(found).toEqual(
      writes.map(({ version, value }) => ({ version, value: value && Buffer.from(valueToStored(value)) })),
    )
    for (const version of versions) {
      const entry = segment.find(bytes, hash, highHalf(version), lowHalf(version))
      const expected = writes.findLast((write) => write.version <= version)
      expect(entry === NONE ? undefined : segment.version(entry)).toBe(expected?.version)
      const later = segment.oldestAtLeast(bytes, hash, highHalf(version), lowHalf(version))
      const expectedLater = writes.find((write) => write.version >= version)
      expect(later === NONE ? undefined : segment.version(later)).toBe(expectedLater?.version)
    }
  }
  const order = [...segment.sortedHeads()].map((entry) =>
    segment.bytes.subarray(segment.keyStart(entry), segment.keyEnd(entry)),
  )
  expect(order.map(text)).toEqual([...oracle.keys()].sort())
  for (const entry of segment.sortedHeads()) {
    const key = segment.bytes.subarray(segment.keyStart(entry), segment.keyEnd(entry))
    expect(segment.newest(key, memtable.hashOf(key))).toBe(entry)
  }
}

function contentOf(segment: Segment, entry: number) {
  const value = segment.isDeletion(entry)
    ? null
    : Buffer.from(segment.bytes.subarray(segment.valueStart(entry), segment.valueEnd(entry)))
  return { version: segment.version(entry), value }
}

describe('Segment', () => {
  it('finds the same entries as a map of all writes, after accepted and refused commits, truncations, and another read', () => {
    const property = fc.property(FIRST, COMMITS, fc.nat(), CUTS, (first, commits, sortAfter, cuts) => {
      const memtable = new Memtable()
      const segment = new Segment(1, memtable.hash)
      const again = new Segment(1, memtable.hash)
      const oracle: Oracle = new Map()
      let next = first
      for (const [at, writesOfVersions] of commits.entries()) {
        const versions = toVersions(next, writesOfVersions)
        const start = segment.length
        const isTaken = applyToOracle(oracle, versions)
        expect(commit(memtable, segment, at, versions)).toBe(isTaken)
        if (!isTaken) continue
        next += BigInt(versions.length)
        readAgain(memtable, segment, again, at, start)
        if (at === sortAfter % commits.length) segment.sortedHeads()
        const cut = cuts[at % cuts.length]!
        const version = next - 1n - BigInt(cut)
        if (cut < 0 || version < 0n || version < first - 1n) continue
        const end = segment.length
        truncate(segment, at, version)
        readAgain(memtable, segment, again, at, end)
        expect(again.truncations).toEqual(segment.truncations)
        truncateOracle(oracle, version)
        next = version + 1n
      }
      const asked = [first, next - 1n, next, first + 3n, first - 1n, 0n].filter((version) => version >= 0n)
      for (const found of [segment, again]) {
        expectSame(memtable, found, oracle, asked)
        expect(found.versionCount).toBe(Number(next - first))
        const blocks = Array.from({ length: found.blocks.count }, (_, at) => found.blocks.at(at))
        for (const { firstVersion, block } of blocks) expect(block.height).toBe(firstVersion)
        for (const version of asked) {
          expect(found.blocks.newestAtMost(version)).toEqual(
            blocks.findLast(({ firstVersion }) => firstVersion <= version),
          )
          expect(found.blocks.oldestAbove(version)).toEqual(blocks.find(({ firstVersion }) => firstVersion > version))
          const entries = Array.from({ length: found.entryCount }, (_, entry) => found.version(entry))
          const from = entries.findIndex((entry) => entry >= version)
          expect(found.firstEntryFrom(version)).toBe(from === -1 ? entries.length : from)
        }
      }
    })
    fc.assert(property, { numRuns: RUNS })
  })

  it('has the newest entries of keys in order, even after as many are cut off as are put again', () => {
    const memtable = new Memtable()
    const segment = new Segment(1, memtable.hash)
    const put = (version: bigint, key: string) =>
      commit(memtable, segment, 1, toVersions(version, [[[Buffer.from(key), Buffer.from('value')]]]))
    const keys = () =>
      [...segment.sortedHeads()].map((entry) =>
        text(segment.bytes.subarray(segment.keyStart(entry), segment.keyEnd(entry))),
      )
    put(0n, 'b')
    put(1n, 'c')
    expect(keys()).toEqual(['b', 'c'])
    truncate(segment, 2, 0n)
    put(1n, 'a')
    expect(keys()).toEqual(['a', 'b'])
  })

  it('finds any of many versions of a key in few steps, and sorts many keys as it grows', () => {
    const memtable = new Memtable()
    const segment = new Segment(1, memtable.hash)
    const hot = Buffer.from('hot')
    for (let version = 0n; version < 20_000n; version++) {
      const other = Buffer.from(`key ${(version * 7_919n) % 100_003n}`)
      const writes = [
        [hot, Buffer.from(String(version))],
        [other, other],
      ] as const
      commit(memtable, segment, Number(version), [
        { version, block: { height: version, epoch: 0n, timestampUsec: 0n }, writes },
      ])
      if (version % 5_000n === 0n) segment.sortedHeads()
    }
    const hash = memtable.hashOf(hot)
    for (let version = 0n; version < 20_000n; version += 7n) {
      const entry = segment.find(hot, hash, highHalf(version), lowHalf(version))
      expect(segment.version(entry)).toBe(version)
      expect(segment.oldestAtLeast(hot, hash, highHalf(version), lowHalf(version))).toBe(entry)
    }
    const keys = [...segment.sortedHeads()].map((entry) =>
      text(segment.bytes.subarray(segment.keyStart(entry), segment.keyEnd(entry))),
    )
    expect(keys).toHaveLength(20_001)
    expect(keys).toEqual([...keys].sort())
  })

  it.each([
    [
      'a resource of an account',
      (random: Buffer) => Buffer.concat([Buffer.of(0), random, Buffer.alloc(60, 'a type tag')]),
    ],
    [
      'an item of a table',
      (random: Buffer) => Buffer.concat([Buffer.alloc(40, 'a table'), random.subarray(0, 4), Buffer.alloc(4)]),
    ],
    ['a short key', (random: Buffer) => random.subarray(0, 8)],
  ] as const)('knows by most fingerprints that it does not have a key: %s', (_, toKey) => {
    const memtable = new Memtable()
    const segment = new Segment(1, memtable.hash)
    const keyOf = (at: number) => toKey(hash('sha256', String(at), 'buffer'))
    const writes = Array.from({ length: 20_000 }, (_, at): Write => [keyOf(at), Buffer.from('value')])
    expect(commit(memtable, segment, 1, toVersions(0n, [writes]))).toBe(true)
    let seeming = 0
    for (let at = 20_000; at < 30_000; at++) {
      const key = keyOf(at)
      if (segment.mayHave(fingerprintOf(key, 0, key.length))) seeming++
    }
    expect(seeming).toBeLessThan(0.08 * 10_000)
  })

  it('copies nothing as it is filled with as much as it made room for, and finds all of it', () => {
    const memtable = new Memtable()
    const segment = new Segment(3, memtable.hash, allocateSegment(2 ** 20))
    const arena = segment.bytes
    const empty = segment.byteSize
    const keyOf = (at: number) => Buffer.from(`key ${at}`)
    const writes = Array.from({ length: 5_000 }, (_, at) => [keyOf(at), Buffer.alloc(100, at)] as const)
    expect(commit(memtable, segment, 1, toVersions(0n, [writes]))).toBe(true)
    expect(segment.bytes).toBe(arena)
    for (const [key, value] of writes) {
      const entry = segment.find(key, memtable.hashOf(key), 0, 0)
      expect(arena.subarray(segment.valueStart(entry), segment.valueEnd(entry)).equals(valueToStored(value))).toBe(true)
    }
    expect(segment.find(Buffer.from('none'), memtable.hashOf(Buffer.from('none')), 0, 0)).toBe(NONE)
    expect(empty).toBeLessThan(100)
  })

  it('leaves out deletions of keys that have no value, and asks about those that it does not know', () => {
    const memtable = new Memtable()
    const segment = new Segment(3, memtable.hash)
    const asked: string[] = []
    const put = (version: bigint, writes: Write[]) => {
      const versions = [{ version, block: { height: version, epoch: 0n, timestampUsec: 0n }, writes }]
      const content = { number: 1, chainId: 1n, versions, mark: undefined, blockBefore: undefined }
      segment.reserve(payloadLength(content))
      const hasValue = (key: Uint8Array) => {
        asked.push(text(key))
        return text(key) === 'elsewhere'
      }
      atOnce(putCommitInSteps(segment, memtable.hash, content, hasValue))
    }
    put(
      0n,
      ['here', 'elsewhere', 'nowhere'].map((key) => [Buffer.from(key), key === 'here' ? Buffer.from('v') : null]),
    )
    expect(asked).toEqual(['elsewhere', 'nowhere'])
    expect(segment.entryCount).toBe(2)
    put(
      1n,
      ['here', 'elsewhere'].map((key) => [Buffer.from(key), null]),
    )
    expect(segment.entryCount).toBe(3)
    const twice = [Buffer.from('nowhere'), null] as const
    expect(() => put(2n, [twice, [twice[0], Buffer.from('v')]])).toThrow(
      expect.objectContaining({ code: 'duplicate_key' }),
    )
  })

  it('refuses a payload that does not parse', () => {
    const memtable = new Memtable()
    const segment = new Segment(3, memtable.hash)
    commit(memtable, segment, 1, toVersions(0n, [[[Buffer.from('k'), Buffer.from('v')]]]))
    for (let end = 0; end < segment.length; end++) {
      const cut = new Segment(3, memtable.hash)
      cut.reserve(end)
      segment.bytes.copy(cut.bytes, 0, 0, end)
      cut.length = end
      expect(() => indexCommit(cut, memtable.hash, 1, 0, end, undefined)).toThrow(
        expect.objectContaining({ code: 'store_corrupt', message: expect.stringContaining('write-ahead-3') }),
      )
    }
  })
})
