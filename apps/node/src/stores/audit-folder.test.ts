import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { watchAudit } from './audit-folder.js'

const block = { height: 1n, epoch: 0n, timestampUsec: 1n }
const ledger = { chainId: 4n, oldestVersion: 0n, oldestBlock: block, latestVersion: 9n, latestBlock: block }

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'audit-folder-'))
})
afterEach(() => {
  vi.restoreAllMocks()
  rmSync(folder, { recursive: true, force: true })
})

it('findings stay known while the system does not read the record, and are gone with it', () => {
  const path = join(folder, 'audit.json')
  const body = JSON.stringify({ storeId: 'a', branch: 0, from: '0', version: '7', findingCount: 2, findings: [] })
  writeFileSync(path, `${body}\n${createHash('sha256').update(body).digest('hex')}\n`)
  let now = 0
  vi.spyOn(performance, 'now').mockImplementation(() => now)
  const audited = watchAudit({ storeId: 'a', ledger }, folder)
  const found = { from: 0n, version: 7n, findings: 2 }
  expect(audited()).toEqual(found)
  renameSync(path, join(folder, 'aside'))
  mkdirSync(path)
  now += 2_000
  expect(audited()).toEqual(found)
  rmdirSync(path)
  now += 2_000
  expect(audited()).toBeUndefined()
  renameSync(join(folder, 'aside'), path)
  now += 2_000
  expect(audited()).toEqual(found)
})
