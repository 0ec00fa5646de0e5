import fs, { mkdtempSync, readdirSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSharedFiles } from '@ledger-state/feed'
import { openAssembly, openStateEngine } from '@ledger-state/state-engine'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { pushSegments } from './push-segments.js'
import { verifySegments } from './verify-segments.js'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'push-'))
})
afterEach(() => fs.rmSync(folder, { recursive: true, force: true }))

it('a signal ends a verification before the next piece', async () => {
  const [store, shared] = [join(folder, 'store'), join(folder, 'shared')]
  const engine = openStateEngine({ path: store, durability: 'none' })
  const block = { height: 0n, epoch: 0n, timestampUsec: 0n }
  await engine.commit([{ version: 0n, block, writes: [] }], { chainId: 4 })
  await pushSegments(store, shared)
  const end = new AbortController()
  const onProgress = () => end.abort()
  const verified = verifySegments(openSharedFiles(shared), { signal: end.signal, onProgress })
  await expect(verified).rejects.toMatchObject({ name: 'AbortError' })
  await engine.close()
})

it('nobody else can work in the folder of a push before it is removed', async () => {
  const [store, shared] = [join(folder, 'store'), join(folder, 'shared')]
  const engine = openStateEngine({ path: store, durability: 'none' })
  const block = { height: 0n, epoch: 0n, timestampUsec: 0n }
  await engine.commit([{ version: 0n, block, writes: [] }], { chainId: 4 })
  const refused: unknown[] = []
  const { rmSync } = fs
  vi.spyOn(fs, 'rmSync').mockImplementation((path, options) => {
    if (path === join(shared, 'push.unfinished')) {
      try {
        openAssembly(join(shared, 'push')).close()
      } catch (error) {
        refused.push(error)
      }
    }
    rmSync(path, options)
  })
  syncBuiltinESMExports()
  try {
    await pushSegments(store, shared)
  } finally {
    vi.restoreAllMocks()
    syncBuiltinESMExports()
  }
  expect(refused).toEqual([expect.objectContaining({ code: 'store_locked' })])
  expect(readdirSync(shared).toSorted()).toEqual([expect.stringMatching(/^segment-/), 'segments.json'])
  await engine.close()
})
