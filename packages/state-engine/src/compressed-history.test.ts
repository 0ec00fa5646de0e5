import { isSlowRun } from '@ledger-state/testing/slow-run'
import type { RootDatabase } from 'lmdb'
import { expect, it } from 'vitest'
import { bytes, CHAIN, record } from '../testing/small-records.ts'
import { temporaryFolder } from '../testing/temporary-folder.ts'
import { COUNTER_KEY_ENCODER } from './bytes/counter-key.js'
import { numberedKeySeed } from './bytes/numbered-key.js'
import { RecordBuilder } from './bytes/record.js'
import { openLmdbStore } from './lmdb/lmdb-store.js'
import type { Table } from './lmdb/table.js'
import { runTransaction } from './lmdb/write-transaction.js'
import { openStateEngine, openStateEngineReader } from './open-state-engine.js'
import { DEFLATED } from './records/bundle-reader.js'

const folder = temporaryFolder()
const KEY = bytes('resource')

function value(version: number, length = 100): Uint8Array {
  const text = `{"sequence": "${version}", "guid": {"account": "0x1", "creation": "4"}, "counter": "${version * 3}"}`
  return bytes(text.padEnd(length, text))
}

async function ingest(
  path: string,
  first: number,
  count: number,
  { compressHistory = true, length = 100 } = {},
): Promise<number> {
  const engine = openStateEngine({ path, durability: 'none', memtableBytes: 0, compressHistory })
  const versions = Array.from({ length: count }, (_, at) =>
    record(first + at, [[KEY, value(first + at, length)]], first + at),
  )
  await engine.commit(versions, CHAIN)
  const { historyLog, large } = engine.stats.databases
  await engine.close()
  return historyLog!.bytes + large!.bytes
}

it.each([
  [100, 2],
  [2_098, 10],
])(
  'compressed history of %i bytes each takes less than 1/%i of the space, and both kinds of records are read',
  async (length, least) => {
    const plain = await ingest(`${folder.path}/plain`, 0, 3_000, { compressHistory: false, length })
    expect(await ingest(`${folder.path}/small`, 0, 3_000, { length })).toBeLessThan(plain / least)
    await ingest(`${folder.path}/plain`, 3_000, 3_000, { length })
    await ingest(`${folder.path}/plain`, 6_000, 10, { compressHistory: false, length })
    const reader = openStateEngineReader({ path: `${folder.path}/plain`, verifyReads: true })
    for (let version = 0; version < 6_010; version += 7) {
      expect(Buffer.from(reader.at(BigInt(version)).get(KEY)!)).toEqual(Buffer.from(value(version, length)))
    }
    expect((await reader.check()).problems).toEqual([])
    await reader.close()
  },
)

it('the check reports frames of compressed bundles that do not parse, or are shorter than what is in use of them', async () => {
  await ingest(folder.path, 0, 200, { length: 2_098 })
  const store = openLmdbStore({ path: folder.path, readOnly: false, durability: 'none' })
  const [first] = store.large.getRange({ start: undefined, end: undefined, limit: 1 })
  const { key } = first!
  const content = Buffer.from(first!.value.subarray(0, -4))
  expect(content[0]).toBe(DEFLATED)
  // Offsets of the kind of the frame, the length of its values, the length of what is stored, and what is stored.
  for (const [at, xor] of [
    [0, 2],
    [3, 0x20],
    [4, 1],
    [7, 0x40],
    [60, 0xff],
  ] as const) {
    const damaged = Buffer.from(content)
    damaged[at]! ^= xor
    const sealed = new RecordBuilder().begin().bytes(damaged).seal(numberedKeySeed(key))
    runTransaction(store.root, 'none', () => store.large.putSync(key, sealed))
    const reader = openStateEngineReader({ path: folder.path })
    expect((await reader.check()).problems).toContainEqual(expect.stringMatching(/a frame of the bundle 0/))
    await reader.close()
  }
  await store.root.close()
})

it.each([100, 2_098])(
  'compressed history of %i bytes each is cut off by a truncation, and continues',
  async (length) => {
    await ingest(folder.path, 0, 2_000, { length })
    const engine = openStateEngine({
      path: folder.path,
      durability: 'none',
      memtableBytes: 0,
      compressHistory: true,
    })
    for (const last of [1_777, 1_500, 1_133]) {
      await engine.truncateTo(BigInt(last))
      await engine.commit([record(last + 1, [[KEY, value(last + 1, length)]], last + 1)], CHAIN)
      expect((await engine.check()).problems).toEqual([])
      const revisions = [...engine.history(KEY)].reverse()
      expect(revisions).toEqual(
        Array.from({ length: last + 2 }, (_, at) => ({ version: BigInt(at), value: Buffer.from(value(at, length)) })),
      )
    }
    await engine.close()
  },
)

it.runIf(isSlowRun)('the check reports damage in compressed history', async () => {
  await ingest(folder.path, 0, 200)
  const store = openLmdbStore({ path: folder.path, readOnly: false, durability: 'none' })
  const root = store.root as unknown as RootDatabase
  const raw = root.openDB({ name: 'history-log', encoding: 'binary', keyEncoder: COUNTER_KEY_ENCODER } as never)
  const historyLog = raw as unknown as Table<number>
  const whole = historyLog.getBinary(0)!
  expect(whole[0]).toBe(254)
  for (const at of [0, 1, 3, 40, whole.length - 1]) {
    const damaged = Buffer.from(whole)
    damaged[at]! ^= 1
    runTransaction(store.root, 'none', () => historyLog.putSync(0, damaged))
    const reader = openStateEngineReader({ path: folder.path, verifyReads: true })
    expect(() => reader.at(0n).get(KEY)).toThrow(expect.objectContaining({ code: 'store_corrupt' }))
    await reader.close()
  }
  await store.root.close()
})
