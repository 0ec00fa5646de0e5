import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { SOURCE_OPTIONS } from '@ledger-state/testing/source-process'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../../testing/temporary-folder.ts'
import { openStateEngine, openStateEngineReader } from '../open-state-engine.js'
import { STORE_FILE } from './lmdb-store.js'

const folder = temporaryFolder()

it.each([
  ['2', /has layout version 2, this program reads version 4: an older program wrote it/],
  ['3', /reads version 4: copy it into this layout with ‘ledger-state store upgrade --data-dir \S+ --to NEW’/],
  ['5', /has layout version 5, this program reads version 4: a newer program wrote it/],
])('refuses a store of layout %s, which may have other databases', (layout, message) => {
  const write = `
    import { open } from 'lmdb'
    const root = open({ path: ${JSON.stringify(join(folder.path, STORE_FILE))}, noSubdir: true, encoding: 'binary', keyEncoding: 'binary' })
    root.openDB({ name: 'meta', encoding: 'binary', keyEncoding: 'binary' }).putSync(Buffer.from('layout'), Buffer.from('${layout}'))
    await root.close()`
  // In another process: this one would keep what it learnt of the file.
  const cwd = fileURLToPath(new URL('../..', import.meta.url))
  expect(spawnSync(process.execPath, [...SOURCE_OPTIONS, '--input-type=module', '-e', write], { cwd }).status).toBe(0)
  for (const open of [openStateEngineReader, openStateEngine]) {
    expect(() => open({ path: folder.path })).toThrow(message)
  }
})

it('refuses a file that is no store', () => {
  writeFileSync(join(folder.path, STORE_FILE), Buffer.alloc(20_000, 1))
  for (const open of [openStateEngine, openStateEngineReader]) {
    expect(() => open({ path: folder.path })).toThrow(expect.objectContaining({ code: 'store_format' }))
  }
})
