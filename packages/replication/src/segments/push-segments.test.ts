import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type * as files from '@ledger-state/core/files'
import { openSharedFiles } from '@ledger-state/feed'
import { openAssembly, openStateEngine } from '@ledger-state/state-engine'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { pushSegments } from './push-segments.js'
import { verifySegments } from './verify-segments.js'

let folder: string
const { whenRemoved } = vi.hoisted(() => ({ whenRemoved: { at: (_: string): void => {} } }))
vi.mock('@ledger-state/core/files', async (original) => {
  const actual = await original<typeof files>()
  return {
    ...actual,
    removeIfPossible(path: string) {
      whenRemoved.at(path)
      actual.removeIfPossible(path)
    },
  }
})

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'push-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

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
  whenRemoved.at = (path) => {
    if (path !== join(shared, 'push.unfinished')) return
    try {
      openAssembly(join(shared, 'push')).close()
    } catch (error) {
      refused.push(error)
    }
  }
  await pushSegments(store, shared)
  expect(refused).toEqual([expect.objectContaining({ code: 'store_locked' })])
  expect(readdirSync(shared).toSorted()).toEqual([expect.stringMatching(/^segment-/), 'segments.json'])
  await engine.close()
})
