import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../../testing/temporary-folder.ts'
import { HeldFiles } from './held-files.js'

const folder = temporaryFolder()

it('HeldFiles copies the present content of files, even removed ones, and the last of several with one name', () => {
  const path = (number: number) => join(folder.path, `write-ahead-${number}`)
  const held = new HeldFiles(folder.path)
  held.holdPresent()
  expect(held.has(1)).toBe(false)
  for (const number of [1, 2]) writeFileSync(path(number), `file ${number}`)
  held.holdPresent()
  writeFileSync(path(1), Buffer.alloc(3_000_000, 'longer'))
  rmSync(path(1))
  rmSync(path(2))
  writeFileSync(path(2), 'another file 2')
  held.holdPresent()
  rmSync(path(2))
  const copyOf = (number: number) => {
    const copy = join(folder.path, 'copy')
    held.copy(number, copy)
    return readFileSync(copy)
  }
  expect(copyOf(1).equals(Buffer.alloc(3_000_000, 'longer'))).toBe(true)
  expect(copyOf(2).toString()).toBe('another file 2')
  expect(held.has(3)).toBe(false)
  held.close()
})
