import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStateEngine } from '@ledger-state/state-engine'
import { expect, it } from 'vitest'
import { storeParts } from './store-parts.ts'

it('the parts of a store are the bytes that were written, and add up to its pages', async () => {
  const path = mkdtempSync(join(tmpdir(), 'store-parts-'))
  try {
    const engine = openStateEngine({ path, durability: 'none', compressHistory: true })
    const keys = Array.from({ length: 300 }, (_, at) => Buffer.from(`key ${at}`))
    for (let version = 0n; version < 5n; version++) {
      const block = { height: version, epoch: 0n, timestampUsec: version }
      // Each of the later versions writes a part of the keys.
      const written = keys.filter((_, at) => version === 0n || BigInt(at) % version === 0n)
      const writes = written.map((key) => [key, Buffer.alloc(100, Number(version))] as const)
      await engine.commit([{ version, block, writes }], { chainId: 1 })
    }
    await engine.merge()
    const { databases } = engine.stats
    await engine.close()
    const { latest, historyLog, chunks } = await storeParts(path)
    const sum = (parts: Readonly<Record<string, number>>) => Object.values(parts).reduce((all, one) => all + one, 0)
    expect(sum(latest)).toBe(databases.latest!.bytes)
    expect(sum(historyLog)).toBe(databases.historyLog!.bytes)
    // Keys are stored with a byte before them.
    expect(latest.keys).toBe(keys.reduce((all, { length }) => all + length + 1, 0))
    expect(latest['values and annotations']).toBe(300 * 100)
    for (const bytes of [...Object.values(latest), ...Object.values(historyLog)])
      expect(bytes).toBeGreaterThanOrEqual(0)
    expect(chunks.reduce((all, { records }) => all + records, 0)).toBe(databases.historyLog!.records)
    expect(chunks.map(({ title }) => title)).toEqual([
      'plain chunks, up to   1 pairs',
      'transposed chunks, up to   3 pairs',
      'transposed chunks, up to   7 pairs',
    ])
  } finally {
    rmSync(path, { recursive: true })
  }
})
