import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStateEngine } from '../../src/open-state-engine.ts'
import { createMemoryEngine } from '../../src/port/memory-engine.ts'
import { setFailurePointHandler } from '../../src/write/failure-points.ts'
import { runHistories } from './run-histories.ts'

/** In memory where there is such a file system: what is tested is not the disk. */
const ROOT = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()

export interface BesideModelOptions {
  readonly count: number
  readonly seed: number
  readonly values?: readonly Uint8Array[]
}

/** Runs random histories of the engine on LMDB beside the engine in memory. */
export async function runBesideModel({ count, seed, values = [] }: BesideModelOptions): Promise<void> {
  let path = ''
  await runHistories({
    parts() {
      path = mkdtempSync(join(ROOT, 'engine-history-'))
      const open = () => openStateEngine({ path, durability: 'none' })
      return { createModel: createMemoryEngine, open, setFailurePointHandler, values }
    },
    close: () => rmSync(path, { recursive: true }),
    count,
    seed,
  })
}
