import { spawnSync } from 'node:child_process'
import { existsSync, lstatSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../../testing/temporary-folder.ts'
import { openAssembly } from './assembly.js'

const folder = temporaryFolder()
const at = (name: string) => join(folder.path, name)

it.each([
  ['nothing', () => {}],
  ['an empty folder', () => mkdirSync(at('disk/store'))],
])('what a link to %s names gets its place where the link leads to', async (_, prepare) => {
  mkdirSync(at('disk'))
  prepare()
  symlinkSync('disk/store', at('link'))
  symlinkSync(at('link'), at('other'))
  const assembly = openAssembly(`${at('other')}/`)
  writeFileSync(join(assembly.folder, 'file'), 'content')
  expect(readdirSync(at('disk'))).toContain('store.unfinished')
  await assembly.publish()
  expect(lstatSync(at('other')).isSymbolicLink()).toBe(true)
  expect(readdirSync(at('other'))).toContain('file')
  expect(readdirSync(at('disk'))).toEqual(['store'])
})

it('links that lead in a circle are refused', () => {
  symlinkSync('link', at('link'))
  expect(() => openAssembly(at('link'))).toThrow(/ELOOP/)
})

it('a mount point is refused before anything is put together', ({ skip }) => {
  const path = at('disk')
  mkdirSync(path)
  skip(spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', path]).status !== 0, 'nothing can be mounted here')
  try {
    expect(() => openAssembly(path)).toThrow(/mount point: name a folder in it/)
    expect(existsSync(`${path}.unfinished`)).toBe(false)
    openAssembly(join(path, 'store')).close()
  } finally {
    spawnSync('umount', ['-l', path])
  }
})
