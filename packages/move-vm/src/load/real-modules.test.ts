import { globSync } from 'node:fs'
import { bytesToHexDigits } from '@ledger-state/core/bytes'
import { openSource } from '@ledger-state/feed'
import { readModuleCode } from '@ledger-state/move-module'
import { hasSharedData, sharedPath } from '@ledger-state/testing/shared-data'
import { decodeStateKey } from '@ledger-state/type-tag'
import { expect, it } from 'vitest'
import { loadModule } from '../../testing/load-module.js'
import { UNMETERED } from '../budget/compile-meter.js'

// Every module that a write of the shared data sets, of versions 5, 6, 7 and 10 of the binary format: those of several chains,
// and those of the kits, which a real VM has run.

async function* modulesOf(path: string): AsyncIterable<Uint8Array> {
  const source = await openSource(path, { verify: false, ...(path.endsWith('backup') && { hashSalt: 'DIEM::' }) })
  try {
    for await (const { writes } of source.versions()) {
      for (const [key, value] of writes) if (value && key[0] === 0 && decodeStateKey(key).kind === 'module') yield value
    }
  } finally {
    await source.close()
  }
}

it.skipIf(!hasSharedData)(
  'every real module is verified as a whole, at no instructions of a run, and all its functions compile',
  { timeout: 60_000 },
  async () => {
    const sources = ['data/genesis/*.blob', 'data/*.ndjson.gz', 'data/backup', 'conformance/views-*.ndjson.gz'].flatMap(
      (glob) => globSync(sharedPath(glob)),
    )
    const seen = new Set<string>()
    const refused: string[] = []
    const versions = new Set<number>()
    let functions = 0
    for (const path of sources) {
      for await (const bytes of modulesOf(path)) {
        const content = bytesToHexDigits(bytes)
        if (seen.has(content)) continue
        seen.add(content)
        const { name, version } = readModuleCode(bytes)
        versions.add(version)
        const module = loadModule(bytes)
        if (typeof module === 'string') {
          refused.push(`${path}: ${name}: ${module}`)
          continue
        }
        expect(module.cost.instructions, name).toBe(0)
        for (const loaded of module.functions.values()) {
          if (loaded.definition.isNative) continue
          functions++
          module.beginToCompile(loaded, UNMETERED).finish()
        }
      }
    }
    expect(refused).toEqual([])
    expect([...versions].sort((a, b) => a - b)).toEqual([5, 6, 7, 10])
    expect(functions).toBeGreaterThan(5_000)
  },
)
