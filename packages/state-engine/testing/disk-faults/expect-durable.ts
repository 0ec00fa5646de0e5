import { expect } from 'vitest'
import { openStateEngine, openStateEngineReader } from '../../src/open-state-engine.ts'
import type { FaultyRun } from './disk-faults.ts'

/** Checks that the disk has everything that a run acknowledged as durable, and that a reader and a writer find it sound. */
export async function expectDurable({ lines, disk }: FaultyRun, isLast = true): Promise<void> {
  const durable = lines.findLast((line) => line.startsWith('durable'))?.slice('durable '.length)
  for (const open of [openStateEngineReader, openStateEngine]) {
    const engine = open({ path: disk })
    try {
      expect((await engine.check()).problems).toEqual([])
      const latest = engine.ledger?.latestVersion ?? -1n
      if (isLast) expect(latest).toBe(BigInt(durable ?? -1))
      else expect(latest).toBeGreaterThanOrEqual(BigInt(durable ?? -1))
    } finally {
      await engine.close()
    }
  }
}
