import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { STATE_ENGINE_CONTRACT } from '@ledger-state/engine/contract'
import { isSlowRun } from '@ledger-state/testing/slow-run'
import { describe, expect, it } from 'vitest'
import { openStateEngine } from './open-state-engine.js'

/** Bytes of commits that the engine keeps in memory before it merges them. The slow run has all three. */
const TABLES = [
  ['that merges every commit', 0],
  ['that merges after some commits', 4_096],
  ['with its usual memtable', undefined],
] as const

describe.each(TABLES.filter(([, bytes]) => isSlowRun || bytes === 4_096))(
  'the engine on LMDB %s',
  (_, memtableBytes) => {
    for (const { name, run } of STATE_ENGINE_CONTRACT) {
      it(name, async () => {
        const path = mkdtempSync(join(tmpdir(), 'state-engine-'))
        const open = () => openStateEngine({ path, durability: 'none', memtableBytes })
        try {
          await run(open, { countsEveryDrop: memtableBytes === 0 })
          const engine = open()
          expect((await engine.check()).problems).toEqual([])
          await engine.close()
        } finally {
          rmSync(path, { recursive: true })
        }
      })
    }
  },
)
