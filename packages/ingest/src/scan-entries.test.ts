import { Buffer } from 'node:buffer'
import type { Write } from '@ledger-state/core'
import { createMemoryEngine, engineToAsync } from '@ledger-state/engine'
import { expect, it } from 'vitest'
import { withShortPages } from '../testing/short-pages.ts'
import { scanEntries } from './scan-entries.js'

it('reads the entries of a scan up to a limit, however short its pages are', async () => {
  const engine = createMemoryEngine()
  const keys = ['a', 'k0', 'k1', 'k2', 'z']
  const writes = keys.map((key): Write => [Buffer.from(key), Buffer.from('value')])
  await engine.commit([{ version: 0n, block: { height: 0n, epoch: 0n, timestampUsec: 0n }, writes }], { chainId: 4 })
  const snapshot = await engineToAsync(engine).snapshot()
  for (const view of [snapshot.at(), withShortPages(snapshot).at()]) {
    const scanned = async (limit: number, start?: string) => {
      const entries = await scanEntries(view, Buffer.from('k'), {
        limit,
        start: start ? Buffer.from(start) : undefined,
      })
      return entries.map(({ key }) => Buffer.from(key).toString())
    }
    expect(await scanned(4)).toEqual(['k0', 'k1', 'k2'])
    expect(await scanned(3)).toEqual(['k0', 'k1', 'k2'])
    expect(await scanned(2)).toEqual(['k0', 'k1'])
    expect(await scanned(2, 'k1')).toEqual(['k1', 'k2'])
    expect(await scanned(1, 'k3')).toEqual([])
  }
})
