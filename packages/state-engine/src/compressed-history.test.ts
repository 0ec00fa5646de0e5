import { isSlowRun } from '@ledger-state/testing/slow-run'
import type { RootDatabase } from 'lmdb'
import { expect, it } from 'vitest'
import { bytes, CHAIN, record } from '../testing/small-records.ts'
import { temporaryFolder } from '../testing/temporary-folder.ts'
import { COUNTER_KEY_ENCODER } from './bytes/counter-key.js'
import { openLmdbStore } from './lmdb/lmdb-store.js'
import type { Table } from './lmdb/table.js'
import { runTransaction } from './lmdb/write-transaction.js'
import { openStateEngine, openStateEngineReader } from './open-state-engine.js'

const folder = temporaryFolder()
const KEY = bytes('resource')

function value(version: number): Uint8Array {
  return bytes(`{"sequence": "${version}", "guid": {"account": "0x1", "creation": "4"}, "counter": "${version * 3}"}`)
}

async function ingest(path: string, first: number, count: number, compressHistory = true): Promise<number> {
  const engine = openStateEngine({ path, durability: 'none', memoryTableBytes: 0, compressHistory })
  const versions = Array.from({ length: count }, (_, at) => record(first + at, [[KEY, value(first + at)]], first + at))
  await engine.commit(versions, CHAIN)
  const { run } = engine.stats.databases
  await engine.close()
  return run!.bytes
}

it('compressed history takes less than half of the space, and both kinds of records are read', async () => {
  const plain = await ingest(`${folder.path}/plain`, 0, 3_000, false)
  expect(await ingest(`${folder.path}/small`, 0, 3_000)).toBeLessThan(plain / 2)
  await ingest(`${folder.path}/plain`, 3_000, 3_000)
  await ingest(`${folder.path}/plain`, 6_000, 10, false)
  const reader = openStateEngineReader({ path: `${folder.path}/plain`, verifyReads: true })
  for (let version = 0; version < 6_010; version += 7) {
    expect(reader.at(BigInt(version)).get(KEY)).toEqual(Buffer.from(value(version)))
  }
  expect((await reader.check()).problems).toEqual([])
  await reader.close()
})

it('compressed history is cut off by a truncation, and goes on', async () => {
  await ingest(folder.path, 0, 2_000)
  const engine = openStateEngine({ path: folder.path, durability: 'none', memoryTableBytes: 0, compressHistory: true })
  for (const last of [1_777, 1_500, 1_133]) {
    await engine.truncateTo(BigInt(last))
    await engine.commit([record(last + 1, [[KEY, value(last + 1)]], last + 1)], CHAIN)
    expect((await engine.check()).problems).toEqual([])
    const revisions = [...engine.history(KEY)].reverse()
    expect(revisions).toEqual(
      Array.from({ length: last + 2 }, (_, at) => ({ version: BigInt(at), value: Buffer.from(value(at)) })),
    )
  }
  await engine.close()
})

it.runIf(isSlowRun)('the check reports damage in compressed history', async () => {
  await ingest(folder.path, 0, 200)
  const store = openLmdbStore({ path: folder.path, readOnly: false, durability: 'none' })
  const root = store.root as unknown as RootDatabase
  const raw = root.openDB({ name: 'run', encoding: 'binary', keyEncoder: COUNTER_KEY_ENCODER } as never)
  const run = raw as unknown as Table<number>
  const whole = run.getBinary(0)!
  expect(whole[0]).toBe(254)
  for (const at of [0, 1, 3, 40, whole.length - 1]) {
    const damaged = Buffer.from(whole)
    damaged[at]! ^= 1
    runTransaction(store.root, 'none', () => run.putSync(0, damaged))
    const reader = openStateEngineReader({ path: folder.path, verifyReads: true })
    expect(() => reader.at(0n).get(KEY)).toThrow(expect.objectContaining({ code: 'store_corrupt' }))
    await reader.close()
  }
  await store.root.close()
})
