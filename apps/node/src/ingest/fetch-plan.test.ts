import { Buffer } from 'node:buffer'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { LedgerSource } from '@ledger-state/feed'
import { openStateEngine } from '@ledger-state/state-engine'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { planIngest } from './fetch-plan.js'

const MIB = 2 ** 20

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fetch-plan-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

/** Bytes that a window needs on the disk of a store: a state of a million entries, and one version. */
async function neededBytes(dataDir: string): Promise<number> {
  const plan = {
    base: { version: 9n, entries: 1_000_000 },
    firstVersion: 10n,
    lastVersion: 10n,
    objects: 1,
    bytes: 0,
    endings: 0,
    bytesPerSecond: undefined,
  }
  const source: Partial<LedgerSource> = { plan: async () => plan }
  const planned = await planIngest(source as LedgerSource, { dataDir, held: undefined, retain: undefined }, false)
  return planned!.neededBytes
}

it('an ingest that resumes the import of a state needs so much less as the import has written', async () => {
  const whole = await neededBytes(join(folder, 'absent'))
  const engine = openStateEngine({ path: folder, durability: 'none' })
  expect(whole - (await neededBytes(folder))).toBeLessThan(MIB)
  const state = await engine.beginImport(9n)
  for (let part = 0; part < 5; part++) {
    await state.add([{ key: Buffer.from([part]), version: 9n, value: randomBytes(MIB) }])
  }
  await engine.close()
  const present = whole - (await neededBytes(folder))
  expect(present).toBeGreaterThan(5 * MIB)
  expect(present).toBeLessThan(6.5 * MIB)
})
