import { Buffer } from 'node:buffer'
import { U64_MAX } from '@ledger-state/core'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { temporaryFolder } from '../../testing/temporary-folder.ts'
import { numberedKey, numberedKeySeed } from '../bytes/numbered-key.js'
import { openRecord, RecordBuilder } from '../bytes/record.js'
import { type LmdbStore, openLmdbStore } from '../lmdb/lmdb-store.js'
import { runTransaction } from '../lmdb/write-transaction.js'
import { decodeGarbage, type GarbageEntry, GarbageWriter } from './garbage-list.js'
import { decodeGeneration, getMerging, listGenerations, putGeneration, putMerging } from './generations.js'

const folder = temporaryFolder()
const builder = new RecordBuilder()
const U48 = fc.oneof(fc.nat(), fc.integer({ min: 0, max: 2 ** 48 - 1 }))
let store: LmdbStore

beforeEach(() => {
  store = openLmdbStore({ path: folder.path, readOnly: false, durability: 'none' })
})
afterEach(() => store.root.close())

it('the store reads generations as they were written, in order, and not under another number', () => {
  const generation = fc.record({
    upTo: fc.bigInt(0n, U64_MAX),
    firstNumber: U48,
    endNumber: U48,
    garbageRecords: U48,
    pairs: U48,
    payloadBytes: U48,
  })
  const generations = fc.dictionary(fc.nat({ max: 2 ** 31 }).map(String), generation, { minKeys: 1, maxKeys: 9 })
  fc.assert(
    fc.property(generations, (drawn) => {
      const written = Object.entries(drawn).map(([number, generation]) => ({ number: Number(number), generation }))
      runTransaction(store.root, 'none', () => {
        store.generations.clearSync()
        for (const { number, generation } of written) putGeneration(store, builder, number, generation)
        putMerging(store, builder, written[0]!.generation)
      })
      expect([...listGenerations(store)]).toEqual(written.toSorted((a, b) => a.number - b.number))
      expect(getMerging(store)).toEqual(written[0]!.generation)
      const { number } = written[0]!
      const record = store.generations.getBinary(number)!
      expect(() => decodeGeneration(number + 1, record)).toThrow(/generation \d+ does not match its checksum/)
    }),
    { numRuns: 30 },
  )
  runTransaction(store.root, 'none', () => putMerging(store, builder, undefined))
  expect(getMerging(store)).toBeUndefined()
})

it('the store reads entries of a garbage list as they were written, from as many records as they need', () => {
  const deletion = fc.record({
    kind: fc.constant('deletion' as const),
    version: fc.bigInt(0n, U64_MAX),
    storedKey: fc.uint8Array({ minLength: 1, maxLength: 1_933 }).map((key) => Buffer.from(key)),
  })
  const large = fc.record({
    kind: fc.constant('large' as const),
    large: fc.record({ id: U48, length: fc.nat({ max: 2 ** 24 }) }),
  })
  fc.assert(
    fc.property(fc.array(fc.oneof(deletion, large), { maxLength: 60 }), U48, (entries, generation) => {
      const read = runTransaction(store.root, 'none', () => {
        store.garbage.clearSync()
        const writer = new GarbageWriter(store, generation, 0)
        for (const entry of entries) {
          if (entry.kind === 'deletion') writer.addDeletion(entry.version, entry.storedKey)
          else writer.addLarge(entry.large)
        }
        writer.flush()
        expect(store.garbage.getStats().entryCount).toBe(writer.count)
        return Array.from({ length: writer.count }, (_, place): GarbageEntry[] => {
          const key = numberedKey(generation, place)
          return [...decodeGarbage(openRecord(store.garbage.getBinary(key)!, numberedKeySeed(key), () => 'it'))]
        }).flat()
      })
      expect(read.map(({ end, ...entry }) => entry)).toEqual(entries)
    }),
    { numRuns: 40 },
  )
  expect(() => [...decodeGarbage(Buffer.from('03', 'hex'))]).toThrow(/does not parse/)
  expect(() => [...decodeGarbage(Buffer.from('010000000000000000ffff6b', 'hex'))]).toThrow(/does not parse/)
})
