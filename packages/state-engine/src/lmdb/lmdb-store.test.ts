import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../../testing/temporary-folder.ts'
import { openStateEngine, openStateEngineReader } from '../open-state-engine.js'
import { STORE_FILE } from './lmdb-store.js'

const folder = temporaryFolder()

it('the opening refuses a store of another layout, which may have other databases', () => {
  const pathOf = (layout: string) => join(folder.path, layout)
  const layouts = ['9', '10', '12']
  const files = layouts.map((layout) => [layout, join(pathOf(layout), STORE_FILE)])
  for (const layout of layouts) mkdirSync(pathOf(layout))
  const write = `
    import { open } from 'lmdb'
    for (const [layout, path] of ${JSON.stringify(files)}) {
      const root = open({ path, noSubdir: true, encoding: 'binary', keyEncoding: 'binary' })
      root.openDB({ name: 'meta', encoding: 'binary', keyEncoding: 'binary' }).putSync(Buffer.from('layout'), Buffer.from(layout))
      await root.close()
    }`
  // In another process, because this one would remember its earlier reads of the files.
  const cwd = fileURLToPath(new URL('../..', import.meta.url))
  expect(spawnSync(process.execPath, ['--input-type=module', '-e', write], { cwd }).status).toBe(0)
  for (const open of [openStateEngineReader, openStateEngine]) {
    for (const layout of layouts) {
      const refusal = {
        code: 'store_format',
        fields: { version: Number(layout) },
        message: `${join(pathOf(layout), STORE_FILE)} has layout ${layout}, but this program reads layout 11: ingest again into an empty folder`,
      }
      expect(() => open({ path: pathOf(layout) })).toThrow(expect.objectContaining(refusal))
    }
  }
})

it('the opening refuses a store that lacks one of its databases', async () => {
  await openStateEngine({ path: folder.path, durability: 'none' }).close()
  const file = JSON.stringify(join(folder.path, STORE_FILE))
  const write = `
    import { open } from 'lmdb'
    const root = open({ path: ${file}, noSubdir: true, encoding: 'binary', keyEncoding: 'binary' })
    root.openDB({ name: 'segments' }).dropSync()
    await root.close()`
  const cwd = fileURLToPath(new URL('../..', import.meta.url))
  expect(spawnSync(process.execPath, ['--input-type=module', '-e', write], { cwd }).status).toBe(0)
  for (const open of [openStateEngineReader, openStateEngine]) {
    expect(() => open({ path: folder.path })).toThrow(
      expect.objectContaining({
        code: 'store_format',
        message: expect.stringContaining('it has no database segments'),
      }),
    )
  }
})

it('the opening refuses a file that is not a store', () => {
  writeFileSync(join(folder.path, STORE_FILE), Buffer.alloc(20_000, 1))
  for (const open of [openStateEngine, openStateEngineReader]) {
    expect(() => open({ path: folder.path })).toThrow(expect.objectContaining({ code: 'store_format' }))
  }
})
