import { Buffer } from 'node:buffer'
import { isSlowRun } from '@ledger-state/testing/slow-run'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../../testing/temporary-folder.ts'
import { RecordBuilder } from '../bytes/record.js'
import { type LmdbStore, openLmdbStore } from '../lmdb/lmdb-store.js'
import { runTransaction } from '../lmdb/write-transaction.js'
import { BundleWriter } from './bundle-writer.js'
import { dropLarge, type LargeBytes, type PackedBytes, putLarge, readLarge, readPacked } from './large-values.js'

const folder = temporaryFolder()
const PAGE = 4_068

/** Length of a value. One in several is a large value of its own, put while a bundle is being filled. */
const LENGTH = fc.oneof(
  fc.integer({ min: 1, max: 5_000 }),
  fc.constantFrom(990, 991, PAGE - 1, PAGE, PAGE + 1, 2 * PAGE),
  fc.constant(600_000),
)
const STEP = fc.record({ length: LENGTH, isOwn: fc.nat(5).map((drawn) => drawn === 0), ends: fc.boolean() })

it('a BundleWriter packs values of any lengths so that each is read as it was, and drops them with their bundles', () => {
  const opened = openLmdbStore({ path: folder.path, readOnly: false, durability: 'none', verifyReads: true })
  const content = (fill: number, length: number) => Buffer.alloc(length, `${fill} and so on, `)
  const check = (store: LmdbStore, steps: readonly { length: number; isOwn: boolean; ends: boolean }[]) => {
    let nextId = 0
    const bundles: LargeBytes[] = []
    const own: LargeBytes[] = []
    const put: { packed: PackedBytes; value: Buffer }[] = []
    const writer = new BundleWriter(
      store,
      () => nextId++,
      (bundle) => bundles.push(bundle),
    )
    for (const [at, { length, isOwn, ends }] of steps.entries()) {
      const value = content(at, length)
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
    for (const { packed, value } of put) expect(value.equals(readPacked(store, packed, {}))).toBe(true)
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
})

it('the reader of a bundle refuses what is missing or cut short', () => {
  const store = openLmdbStore({ path: folder.path, readOnly: false, durability: 'none' })
  runTransaction(store.root, 'none', () => {
    const writer = new BundleWriter(
      store,
      () => 7,
      () => {},
    )
    const packed = writer.add(Buffer.alloc(6_000, 1), 0, 6_000)
    expect(() => readPacked(store, packed, {})).toThrow(/piece 1 of the bundle 7 is missing or too short/)
    writer.end()
    expect(readPacked(store, packed, {})).toHaveLength(6_000)
    expect(() => readPacked(store, { ...packed, offset: 3_000 }, {})).toThrow(/piece 2 of the bundle 7/)
  })
  void store.root.close()
})
