import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { openStateEngine, openStateEngineReader } from './open-state-engine.js'
import { isStoreFile } from './store-files.js'

const folder = mkdtempSync(join(tmpdir(), 'store-files-'))
afterAll(() => rmSync(folder, { recursive: true }))

it('every file in the folder of a store is one of its files, and others are not', async () => {
  const engine = openStateEngine({ path: folder, create: true })
  const block = { height: 0n, epoch: 0n, timestampUsec: 0n }
  await engine.commit([{ version: 0n, block, writes: [[Uint8Array.of(1), Uint8Array.of(2)]] }], { chainId: 4 })
  await engine.compact()
  const reader = openStateEngineReader({ path: folder })
  mkdirSync(join(folder, 'copy'))
  const names = readdirSync(folder)
  expect(names.length).toBeGreaterThanOrEqual(5)
  expect(names.filter((name) => !isStoreFile(name))).toEqual(['copy'])
  for (const other of ['segment-notes.txt', 'write-ahead-log.md', 'sources', 'snapshots', 'writer.lock.txt'])
    expect(isStoreFile(other)).toBe(false)
  await reader.close()
  await engine.close()
})
