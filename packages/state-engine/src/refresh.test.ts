import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { CHAIN, record } from '../testing/small-records.ts'
import { openStateEngine, openStateEngineReader } from './open-state-engine.js'

let path: string
beforeEach(() => {
  path = mkdtempSync(join(tmpdir(), 'refresh-'))
})
afterEach(() => {
  rmSync(path, { recursive: true })
})

it('a reader sees every commit of another process once it is refreshed, in whichever file', async () => {
  const writer = openStateEngine({ path })
  await writer.commit([record(0, [], 0)], CHAIN)
  const reader = openStateEngineReader({ path })
  for (let version = 1n; version <= 50n; version++) {
    // A read begins a snapshot that further ones share.
    expect(reader.ledger).toBeDefined()
    await writer.commit([record(version, [])], CHAIN)
    if (version % 20n === 0n) await writer.merge()
    reader.refresh()
    expect(reader.ledger?.latestVersion).toBe(version)
    expect(reader.at().version).toBe(version)
  }
  await reader.close()
  expect(() => reader.refresh()).toThrow(expect.objectContaining({ code: 'store_closed' }))
  await writer.close()
})
