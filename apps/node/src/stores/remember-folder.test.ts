import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStateEngine } from '@ledger-state/state-engine'
import { afterAll, expect, it } from 'vitest'
import { rememberFolder } from './remember-folder.js'

const OWN = 'sources'
const folder = mkdtempSync(join(tmpdir(), 'remember-folder-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A store as a failed ingest leaves it. */
async function makeStore(path: string): Promise<void> {
  const engine = openStateEngine({ path, create: true })
  const block = { height: 0n, epoch: 0n, timestampUsec: 0n }
  await engine.commit([{ version: 0n, block, writes: [[Uint8Array.of(1), Uint8Array.of(2)]] }], { chainId: 4 })
  await engine.close()
  mkdirSync(join(path, OWN))
}

it('a failed ingest leaves a folder as it was, and the files of others that came meanwhile', async () => {
  const path = join(folder, 'shared')
  mkdirSync(path)
  writeFileSync(join(path, 'before.txt'), '')
  const restore = rememberFolder(path, OWN)
  await makeStore(path)
  writeFileSync(join(path, 'notes.txt'), '')
  writeFileSync(join(path, 'segment-notes.txt'), '')
  await makeStore(join(path, 'mainnet'))
  restore()
  expect(readdirSync(path).sort()).toEqual(['before.txt', 'mainnet', 'notes.txt', 'segment-notes.txt'])
  expect(existsSync(join(path, 'mainnet', 'state.mdb'))).toBe(true)
})

it('a failed ingest leaves no folder that it made, unless others use it', async () => {
  const [own, used] = [join(folder, 'own'), join(folder, 'used')]
  const restores = [own, used].map((path) => rememberFolder(path, OWN))
  for (const path of [own, used]) await makeStore(path)
  writeFileSync(join(used, 'notes.txt'), '')
  for (const restore of restores) restore()
  expect(existsSync(own)).toBe(false)
  expect(readdirSync(used)).toEqual(['notes.txt'])
})
