import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createMemoryEngine } from '@ledger-state/engine'
import { neverFail } from '../../src/failpoints/failpoints.ts'
import { openStateEngineReader, openWithFailpoints } from '../../src/open-state-engine.ts'
import { runHistories } from './run-histories.ts'

/** Folder for stores, in memory if possible, because the tests are not about the disk. */
const ROOT = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()

export interface BesideModelOptions {
  readonly count: number
  readonly seed: number
  readonly values?: readonly Uint8Array[]
}

/** Runs random histories on the engine on LMDB and on the engine in memory, and compares them. */
export async function runBesideModel({ count, seed, values = [] }: BesideModelOptions): Promise<void> {
  const paths: string[] = []
  const newPath = () => {
    const path = mkdtempSync(join(ROOT, 'engine-history-'))
    paths.push(path)
    return path
  }
  await runHistories({
    parts(memtableBytes) {
      let path = newPath()
      let atFailpoint = neverFail
      let isCompressing = false
      return {
        createModel: createMemoryEngine,
        open() {
          // Alternates, so that stores have files of both kinds.
          isCompressing = !isCompressing
          const compress = isCompressing ? 'always' : 'never'
          const options = { path, durability: 'none', memtableBytes, compress } as const
          return openWithFailpoints(options, (point) => atFailpoint(point))
        },
        openReader: () => openStateEngineReader({ path }),
        copyStore() {
          path = copyLiveFolder(path, newPath)
        },
        setFailpointHandler(next) {
          atFailpoint = next
        },
        values,
      }
    },
    close() {
      for (const path of paths.splice(0)) rmSync(path, { recursive: true })
    },
    count,
    seed,
  })
}

/** Copies a folder in which threads still work. It begins again if one of them has removed a file meanwhile. */
function copyLiveFolder(path: string, newPath: () => string): string {
  for (;;) {
    const copy = newPath()
    try {
      cpSync(path, copy, { recursive: true })
      return copy
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
  }
}
