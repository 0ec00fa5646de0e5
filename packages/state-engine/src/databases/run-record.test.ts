import { Buffer } from 'node:buffer'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../../testing/temporary-folder.ts'
import { RecordBuilder } from '../bytes/record.js'
import { type LmdbStore, openLmdbStore } from '../lmdb/lmdb-store.js'
import { SharedRecord } from '../lmdb/shared-record.js'
import { runTransaction } from '../lmdb/write-transaction.js'
import { FenceList } from '../merge/fence-list.js'
import { GenerationWriter } from '../merge/generation-writer.js'
import { PairList } from '../merge/pair-list.js'
import type { Fence } from './fences.js'
import type { LedgerRecord } from './ledger-record.js'
import {
  countPairsAtMost,
  decodeChunk,
  decodeNode,
  isPacked,
  type Pair,
  pairPayload,
  runLevel,
  runSeed,
} from './run-record.js'

const folder = temporaryFolder()
const BLOCK = { height: 0n, epoch: 0n, timestampUsec: 0n }
const EMPTY: LedgerRecord = {
  ledger: { chainId: 1n, latestVersion: 0n, latestBlock: BLOCK, oldestVersion: 0n, oldestBlock: BLOCK },
  base: { version: 0n, complete: true },
  walFile: 1,
  nextCommit: 1,
  nextRun: 0,
  nextLargeId: 0,
  nextGeneration: 0,
  blocks: 0,
  retired: 0,
  supersededEntries: 0,
  payloadBytes: 0,
}

function withStore(nextRun: number, work: (store: LmdbStore, output: GenerationWriter) => void): void {
  const store = openLmdbStore({ path: folder.path, readOnly: false, durability: 'none' })
  try {
    runTransaction(store.root, 'none', () => {
      store.run.clearSync()
      work(store, new GenerationWriter(store, new RecordBuilder(), { ...EMPTY, nextRun }, undefined))
    })
  } finally {
    void store.root.close()
  }
}

function pairList(pairs: readonly Pair[]): PairList {
  const list = new PairList()
  for (const { version, value } of pairs) {
    const [high, low] = [Number(version >> 32n), Number(version & 0xffff_ffffn)]
    if (value === null) list.pushDeletion(high, low)
    else if (value instanceof Uint8Array) list.pushValue(high, low, value, 0, value.length)
    else if (isPacked(value)) list.pushPacked(high, low, value)
    else list.pushLarge(high, low, value)
  }
  return list
}

function load(store: LmdbStore, number: number): SharedRecord {
  const record = new SharedRecord()
  expect(record.load(store.run, number, {})).toBe(true)
  record.verify(runSeed(number))
  return record
}

function fencesOf(list: FenceList): Fence[] {
  const view = new DataView(list.bytes.buffer, list.bytes.byteOffset)
  return Array.from({ length: list.count }, (_, place) => ({
    firstVersion: view.getBigUint64(15 * place),
    level: view.getUint8(15 * place + 8),
    run: view.getUint16(15 * place + 9) * 2 ** 32 + view.getUint32(15 * place + 11),
  }))
}

it('lays a chunk and a node out to the byte', () => {
  withStore(0x0102_0304_0506, (store, output) => {
    const fences = new FenceList()
    const pairs: Pair[] = [
      { version: 0xffff_ffffn, value: Buffer.from('one') },
      { version: 0x1_0000_0001n, value: null },
      { version: 0x1_0000_0002n, value: { id: 7, length: 5_000 } },
      { version: 0x1_0000_0003n, value: { id: 8, length: 1_500, offset: 70_000 } },
    ]
    output.appendChunks(pairList(pairs), fences)
    const chunk = load(store, 0x0102_0304_0506)
    expect(chunk.copy(0, chunk.length).subarray(0, -4).toString('hex')).toBe(
      '00 04 00000000ffffffff 00000000 000c 00000002 000d 00000003 0036 00000004 006f 6f6e65 00000000000700001388 000000000008000005dc00011170'.replaceAll(
        ' ',
        '',
      ),
    )
    output.appendNode(1, fences, 0, 1)
    const node = load(store, 0x0102_0304_0507)
    expect(node.copy(0, node.length).subarray(0, -4).toString('hex')).toBe(
      '01 01 00000000ffffffff 00 010203040506'.replaceAll(' ', ''),
    )
    expect(decodeNode(node, 1)).toEqual(fencesOf(fences))
  })
})

const VALUE: fc.Arbitrary<Pair['value']> = fc.oneof(
  fc.constant(null),
  fc.uint8Array({ maxLength: 60 }).map((value) => Buffer.from(value)),
  fc.nat({ max: 1_400 }).map((length) => Buffer.alloc(length, length)),
  fc.record({ id: fc.nat({ max: 2 ** 40 }), length: fc.integer({ min: 1_401, max: 2 ** 24 }) }),
  fc.record({ id: fc.nat(), length: fc.integer({ min: 1_401, max: 2 ** 24 }), offset: fc.nat({ max: 2 ** 25 }) }),
)
const GAP = fc.oneof(fc.constant(1n), fc.bigInt(1n, 1_000n), fc.constantFrom(2n ** 32n - 1n, 2n ** 32n, 2n ** 45n))

it('reads chunks as they were written, each within its length', () => {
  const input = fc.array(fc.tuple(GAP, VALUE), { minLength: 1, maxLength: 600 })
  withStore(5, (store, output) => {
    fc.assert(
      fc.property(input, fc.constantFrom(0n, 2n ** 32n - 5n, 2n ** 53n), (drawn, first) => {
        let version = first
        const pairs: Pair[] = []
        for (const [gap, value] of drawn) {
          version += gap
          pairs.push({ version, value })
        }
        const fences = new FenceList()
        output.appendChunks(pairList(pairs), fences)
        const read = fencesOf(fences).flatMap(({ firstVersion, run }) => {
          const record = load(store, run)
          const chunk = decodeChunk(record)
          expect(runLevel(record)).toBe(0)
          expect(record.length).toBeLessThanOrEqual(1_900)
          expect(chunk[0]!.version).toBe(firstVersion)
          for (const [at, { version, value }] of chunk.entries()) {
            for (const delta of [-1n, 0n, 1n]) {
              const asked = version + delta
              if (asked < firstVersion) continue
              const expected = chunk.filter((other) => other.version <= asked).length
              expect(countPairsAtMost(record, Number(asked >> 32n), Number(asked & 0xffff_ffffn))).toBe(expected)
            }
            expect(pairPayload(record, at)).toBe(value?.length ?? 0)
          }
          return chunk
        })
        expect(read).toEqual(pairs)
      }),
      { numRuns: 60 },
    )
  })
})
