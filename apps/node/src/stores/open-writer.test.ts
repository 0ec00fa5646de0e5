import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { openWriter } from './open-writer.js'

const folder = mkdtempSync(join(tmpdir(), 'open-writer-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

it('a file in the place of the folder of a store is named', async () => {
  const file = join(folder, 'file')
  writeFileSync(file, 'x')
  for (const dataDir of [file, join(file, 'store')]) {
    const error = await openWriter({ kind: 'folder', dataDir }).catch((reason: unknown) => reason)
    expect(error).toMatchObject({
      code: 'usage',
      message: `the folder ${dataDir} cannot be created: ${file} is not a folder`,
    })
  }
})

it('a store that may not be created leaves no folder', async () => {
  const dataDir = join(folder, 'nowhere')
  await expect(openWriter({ kind: 'folder', dataDir }, { create: false })).rejects.toMatchObject({
    code: 'store_missing',
  })
  expect(existsSync(dataDir)).toBe(false)
})
