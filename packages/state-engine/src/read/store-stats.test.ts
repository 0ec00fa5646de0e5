import { expect, it } from 'vitest'
import { bytes, CHAIN, record } from '../../testing/small-records.ts'
import { temporaryFolder } from '../../testing/temporary-folder.ts'
import { openStateEngine } from '../open-state-engine.js'

const folder = temporaryFolder()

it('storeStats counts what it keeps', async () => {
  const engine = openStateEngine({ path: folder.path, memtableBytes: 0 })
  await engine.commit([record(0, [[bytes('key'), bytes('value')]], 0)], CHAIN)
  await engine.commit([record(1, [[bytes('key'), new Uint8Array(10_000)]], 1)], CHAIN)
  expect(engine.stats).toMatchObject({ keys: 1, historyEntries: 1, blocks: 2, payloadBytes: 3 + 5 + 10_000 })
  expect(engine.stats.fileBytes).toBeGreaterThan(engine.stats.freeBytes)
  await engine.prune(1n)
  expect(engine.stats).toMatchObject({ keys: 1, historyEntries: 0, blocks: 1, payloadBytes: 3 + 10_000 })
  await engine.close()
})

it('storeStats counts what is not merged apart', async () => {
  const engine = openStateEngine({ path: folder.path })
  await engine.commit([record(0, [[bytes('key'), bytes('value')]], 0)], CHAIN)
  expect(engine.stats).toMatchObject({ keys: 1, memtableEntries: 0 })
  await engine.commit([record(1, [[bytes('key'), new Uint8Array(10_000)]], 1)], CHAIN)
  const { memtableBytes, walBytes } = engine.stats
  expect(engine.stats).toMatchObject({ keys: 1, historyEntries: 0, blocks: 2, payloadBytes: 3 + 5, memtableEntries: 1 })
  await engine.prune(1n)
  expect(engine.stats).toMatchObject({ blocks: 1 })
  expect(walBytes).toBeGreaterThan(10_000)
  expect(memtableBytes).toBeGreaterThan(walBytes)
  await engine.close()
})
