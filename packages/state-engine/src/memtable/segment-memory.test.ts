import { setImmediate as nextTurn } from 'node:timers/promises'
import { createMemoryEngine } from '@ledger-state/engine'
import { createRandom, testSeed } from '@ledger-state/testing/random'
import { isSlowRun } from '@ledger-state/testing/slow-run'
import { scaledRounds } from '@ledger-state/testing/test-scale'
import { describe, expect, it } from 'vitest'
import { bytes, CHAIN, record } from '../../testing/small-records.ts'
import { temporaryFolder } from '../../testing/temporary-folder.ts'
import { openStateEngine, openStateEngineReader } from '../open-state-engine.js'
import { KeyHash } from './key-hash.js'
import { NONE, Segment } from './segment.js'
import { allocateSegment } from './segment-memory.js'

const SEED = testSeed()
const folder = temporaryFolder()
const KEYS = 40
const VERSIONS_PER_COMMIT = 20n
/** Size of the memtable: a commit fills about a third of a segment, so a few commits reuse the memory of each segment. */
const TABLE_BYTES = 20_000
const ROUNDS = isSlowRun ? scaledRounds(100) : 15

describe(`memory that segments hand over (TEST_SEED=${SEED})`, () => {
  it('is never read by iterators and views that began before, whatever is committed between two steps of them', async () => {
    const random = createRandom(SEED)
    const engine = openStateEngine({ path: folder.path, memtableBytes: TABLE_BYTES })
    const oracle = createMemoryEngine()
    let next = 0n
    const key = () => bytes(`key ${random.below(KEYS)}`)
    const commit = async () => {
      const versions = Array.from({ length: Number(VERSIONS_PER_COMMIT) }, () => {
        const writes = new Map(Array.from({ length: 4 }, () => [`key ${random.below(KEYS)}`, random.below(10)]))
        const values = [...writes].map(([name, kind]) => {
          return [bytes(name), kind === 0 ? null : bytes(`${name} at ${next}`.padEnd(20 + kind))] as const
        })
        const version = next++
        return record(version, values, Number(version))
      })
      await Promise.all([engine.commit(versions, CHAIN), oracle.commit(versions, CHAIN)])
    }
    for (let count = 0; count < 10; count++) await commit()
    const reader = openStateEngineReader({ path: folder.path })
    for (let round = 0; round < ROUNDS; round++) {
      const reads = [engine, reader].map((from) => {
        const last = from.ledger!.latestVersion
        const version = last - BigInt(random.below(Number(last)))
        const name = key()
        const order = random.below(2) === 0 ? 'desc' : 'asc'
        const begin = (state: typeof reader | typeof oracle) => [
          state.history(name, { order, last })[Symbol.iterator](),
          state.at(version).scan(new Uint8Array(0))[Symbol.iterator](),
          state.versions(version, last)[Symbol.iterator](),
        ]
        return { view: from.at(version), version, found: begin(from), expected: begin(oracle) }
      })
      let isCommitting = true
      const committed = Promise.all([commit(), commit()]).finally(() => {
        isCommitting = false
      })
      while (isCommitting) {
        for (const { view, version, found, expected } of reads) {
          for (const [at, iterator] of found.entries()) {
            // The clone has plain arrays instead of buffers.
            expect(structuredClone(iterator.next())).toEqual(structuredClone(expected[at]!.next()))
          }
          const read = key()
          expect(structuredClone(view.get(read))).toEqual(oracle.at(version).get(read))
        }
        await nextTurn()
      }
      await committed
    }
    await reader.close()
    await engine.close()
  })

  it('is empty in the next segment, and not in the one before any more', () => {
    const hash = new KeyHash()
    const memory = allocateSegment(2 ** 12)
    const before = new Segment(1, hash, memory)
    const name = bytes('key')
    before.bytes.writeUInt32BE(name.length, 0)
    before.bytes.writeUInt32BE(0, 4)
    before.bytes.set(name, 8)
    before.beginVersion(0n, undefined)
    const hashed = hash.of(name, 0, name.length)
    expect(before.add(0, hashed)).toBe(true)
    expect(before.newest(name, hashed)).toBe(0)
    const next = new Segment(2, hash, before.takeMemory())
    expect(next.bytes).toBe(memory.bytes)
    for (const segment of [before, next]) {
      expect(segment.newest(name, hashed)).toBe(NONE)
      expect([segment.entryCount, segment.keyCount, [...segment.sortedRuns()]]).toEqual([0, 0, []])
    }
  })
})
