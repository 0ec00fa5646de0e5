import { Buffer } from 'node:buffer'
import { isLedgerStateError } from '@ledger-state/core'
import { createRandom, testSeed } from '@ledger-state/testing/random'
import { isSlowRun } from '@ledger-state/testing/slow-run'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../testing/temporary-folder.ts'
import { numberedKey } from '../bytes/numbered-key.js'
import { RecordBuilder } from '../bytes/record.js'
import { type LmdbStore, openLmdbStore } from '../lmdb/lmdb-store.js'
import { runTransaction } from '../lmdb/write-transaction.js'
import { checkFrame, MAX_FRAME_LENGTH, type PackedBytes, readPacked } from './bundle-reader.js'
import { BundleWriter } from './bundle-writer.js'
import { dropLarge, type LargeBytes, putLarge, readLarge } from './large-values.js'

const folder = temporaryFolder()
const SEED = testSeed()
const PAGE = 4_068

/** Length of a value. One in several is stored as a separate large value while a bundle is being filled. */
const LENGTH = fc.oneof(
  fc.integer({ min: 1, max: 5_000 }),
  fc.constantFrom(990, 991, PAGE - 1, PAGE, PAGE + 1, 2 * PAGE, MAX_FRAME_LENGTH, MAX_FRAME_LENGTH + 1),
  fc.constant(600_000),
)
const STEP = fc.record({
  length: LENGTH,
  isOwn: fc.nat(5).map((drawn) => drawn === 0),
  ends: fc.boolean(),
  isRandom: fc.boolean(),
})

it.each([true, false])(
  'a BundleWriter packs values of any lengths so that each is read as it was, and drops them with their bundles; compressed: %s',
  (compressHistory) => {
    const opened = openLmdbStore({
      path: folder.path,
      readOnly: false,
      durability: 'none',
      verifyReads: true,
      compressHistory,
    })
    const random = createRandom(SEED)
    const check = (
      store: LmdbStore,
      steps: readonly { length: number; isOwn: boolean; ends: boolean; isRandom: boolean }[],
    ) => {
      let nextId = 0
      const bundles: LargeBytes[] = []
      const own: LargeBytes[] = []
      const put: { packed: PackedBytes; value: Buffer }[] = []
      const writer = new BundleWriter(
        store,
        () => nextId++,
        (bundle) => bundles.push(bundle),
      )
      for (const [at, { length, isOwn, ends, isRandom }] of steps.entries()) {
        const value = isRandom ? Buffer.from(random.bytes(length)) : Buffer.alloc(length, `${at} and so on, `)
        if (isOwn) {
          own.push({ id: nextId, length })
          putLarge(store, new RecordBuilder(), nextId++, value)
        } else {
          const around = Buffer.concat([Buffer.alloc(3), value, Buffer.alloc(2)])
          put.push({ packed: writer.add(around, 3, 3 + length), value })
        }
        if (ends) writer.end()
      }
      writer.end()
      const lengths = new Map(bundles.map(({ id, length }) => [id, length]))
      for (const { packed, value } of put) {
        expect(value.equals(readPacked(store, packed, {}))).toBe(true)
        const { length, end } = checkFrame(store, packed.id, packed.frame, {})
        expect(packed.start + packed.length).toBeLessThanOrEqual(length)
        expect(end).toBeLessThanOrEqual(lengths.get(packed.id)!)
      }
      for (const { id, length } of own) expect(readLarge(store, { id, length }, {})).toHaveLength(length)
      for (const { length } of bundles) expect(length % PAGE).toBeLessThanOrEqual(990)
      expect(store.large.getStats().overflowPages * PAGE).toBeLessThanOrEqual(
        [...bundles, ...own].reduce((sum, { length }) => sum + length, 0),
      )
      for (const large of [...bundles, ...own]) dropLarge(store, large)
      expect(store.large.getStats().entryCount).toBe(0)
    }
    fc.assert(
      fc.property(fc.array(STEP, { minLength: 1, maxLength: 40 }), (steps) => {
        runTransaction(opened.root, 'none', () => check(opened, steps))
      }),
      { numRuns: isSlowRun ? 60 : 20 },
    )
    void opened.root.close()
  },
)

describe('a bundle', () => {
  /** Calls `work` in a transaction with a store, a writer of bundle 7, and values that differ little. */
  function withBundle(
    compressHistory: boolean,
    work: (store: LmdbStore, writer: BundleWriter, values: readonly Buffer[]) => void,
  ): void {
    const store = openLmdbStore({ path: folder.path, readOnly: false, durability: 'none', compressHistory })
    const values = Array.from({ length: 40 }, (_, at) => Buffer.from(createRandom(1).bytes(2_098)).fill(at, 700, 702))
    const takeId = () => 7
    runTransaction(store.root, 'none', () => work(store, new BundleWriter(store, takeId, () => {}), values))
    void store.root.close()
  }

  it('of values that differ little takes a quarter of their bytes at most where it is compressed', () => {
    withBundle(true, (store, writer, values) => {
      const packed = values.map((value) => writer.add(value, 0, value.length))
      writer.end()
      const { overflowPages, treeLeafPageCount, pageSize } = store.large.getStats()
      expect((overflowPages + treeLeafPageCount) * pageSize).toBeLessThan((40 * 2_098) / 4)
      for (const [at, one] of packed.entries()) expect(values[at]!.equals(readPacked(store, one, {}))).toBe(true)
    })
  })

  it('is refused where it is missing or cut short', () => {
    withBundle(false, (store, writer) => {
      const packed = writer.add(Buffer.alloc(6_000, 1), 0, 6_000)
      expect(() => readPacked(store, packed, {})).toThrow(/piece 0 of the bundle 7 is missing or too short/)
      writer.end()
      expect(readPacked(store, packed, {})).toHaveLength(6_000)
      expect(() => readPacked(store, { ...packed, start: 3_000 }, {})).toThrow(/a frame of the bundle 7 is too short/)
      store.large.removeSync(numberedKey(7, 1))
      expect(() => readPacked(store, packed, {})).toThrow(/piece 1 of the bundle 7 is missing or too short/)
    })
  })

  it.each([true, false])(
    'with a changed byte is refused, or answers with as many bytes; compressed: %s',
    (isCompressed) => {
      withBundle(isCompressed, (store, writer, values) => {
        const packed = values.map((value) => writer.add(value, 0, value.length))
        writer.end()
        const key = numberedKey(7, 0)
        const sound = Buffer.from(store.large.getBinary(key)!)
        const random = createRandom(SEED)
        for (let at = 0; at < sound.length; at += at < 20 ? 1 : 97) {
          const damaged = Buffer.from(sound)
          damaged[at]! ^= 1 + random.below(255)
          store.large.putSync(key, damaged)
          for (const one of [packed[0]!, packed[1]!]) {
            try {
              expect(readPacked(store, one, {})).toHaveLength(one.length)
            } catch (error) {
              if (!isLedgerStateError(error, 'store_corrupt')) throw error
            }
            const verifying = { large: store.large, verifyReads: true }
            const corrupt = expect.objectContaining({ code: 'store_corrupt' })
            expect(() => readPacked(verifying, one, {})).toThrow(corrupt)
          }
        }
      })
    },
  )
})
