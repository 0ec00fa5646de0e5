import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { open } from 'lmdb'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../../testing/temporary-folder.ts'
import { emptyDataFile } from './empty-file.js'

const folder = temporaryFolder()

it('is the file that LMDB makes', async () => {
  const path = join(folder.path, 'empty.mdb')
  const root = open({ path, noSubdir: true, pageSize: 4_096, mapSize: 2 ** 30, overlappingSync: false, maxDbs: 8 })
  await root.close()
  expect(emptyDataFile(2 ** 30).equals(readFileSync(path))).toBe(true)
})
