import { existsSync } from 'node:fs'
import { expect, it } from 'vitest'
import { openSegmentFiles } from '../../testing/open-files.ts'
import { bytes, CHAIN, record } from '../../testing/small-records.ts'
import { temporaryFolder } from '../../testing/temporary-folder.ts'
import { openStateEngine, type StateEngine } from '../open-state-engine.js'

const folder = temporaryFolder()

/** Begins an import, and adds parts: each opens the files of those before. */
async function beginImport(engine: StateEngine, version: bigint) {
  const state = await engine.beginImport(version)
  for (let part = 0; part < 3; part++) {
    await state.add([{ key: bytes(`key ${part}`), version, value: bytes('value') }])
  }
  expect(openSegmentFiles(folder.path).length).toBeGreaterThan(0)
  return state
}

it.runIf(existsSync('/proc/self/fd'))(
  'an import has no file open once another one, a commit or the end has replaced it',
  async () => {
    const engine = openStateEngine({ path: folder.path, durability: 'none' })
    const first = await beginImport(engine, 9n)
    const second = await engine.beginImport(10n)
    expect(openSegmentFiles(folder.path)).toEqual([])
    await expect(first.add([])).rejects.toMatchObject({ code: 'invalid_argument', fields: { version: 9n } })
    await second.add([{ key: bytes('key'), version: 10n, value: bytes('value') }])
    await beginImport(engine, 11n)
    await engine.close()
    expect(openSegmentFiles(folder.path)).toEqual([])
    const again = openStateEngine({ path: folder.path, durability: 'none' })
    await beginImport(again, 12n)
    await again.commit([record(0, [], 0)], CHAIN)
    expect(openSegmentFiles(folder.path)).toEqual([])
    await again.close()
    expect(openSegmentFiles(folder.path)).toEqual([])
  },
)
