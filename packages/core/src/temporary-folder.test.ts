import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SOURCE_OPTIONS } from '@ledger-state/testing/source-process'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { makeTemporaryFolder, removeAbandonedFolders } from './temporary-folder.js'

let parent: string
let holder: ChildProcess | undefined
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'temporary-folders-'))
})
afterEach(() => {
  holder?.kill('SIGKILL')
  rmSync(parent, { recursive: true })
})

/** Starts a process that makes a folder, and holds it until it is killed. */
async function startHolder() {
  const make = `
    import { makeTemporaryFolder } from ${JSON.stringify(new URL('temporary-folder.ts', import.meta.url).href)}
    process.stdout.write(makeTemporaryFolder(${JSON.stringify(parent)}, 'made-').path)
    setInterval(() => {}, 1e9)`
  const child = spawn(process.execPath, [...SOURCE_OPTIONS, '--input-type=module', '-e', make], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  holder = child
  const [path] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string]
  return {
    path,
    async kill() {
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
}

it('is removed with its files', async () => {
  const folder = makeTemporaryFolder(parent, 'made-')
  writeFileSync(join(folder.path, 'lock'), 'a file with the name of the lock')
  await folder.remove()
  expect(readdirSync(parent)).toEqual([])
})

it('is left alone while its process runs, however old it seems, and removed once that was killed', async () => {
  const killed = await startHolder()
  const own = makeTemporaryFolder(parent, 'made-')
  for (const name of readdirSync(parent)) utimesSync(join(parent, name), 0, 0)
  const other = makeTemporaryFolder(parent, 'made-')
  expect([killed.path, own.path, other.path].map((path) => existsSync(path))).toEqual([true, true, true])
  await killed.kill()
  removeAbandonedFolders(parent, 'made-')
  expect([killed.path, own.path, other.path].map((path) => existsSync(path))).toEqual([false, true, true])
  await own.remove()
  await other.remove()
  expect(readdirSync(parent)).toEqual([])
})

it('leaves folders of others alone: those with another prefix, and those without a lock', () => {
  mkdirSync(join(parent, 'made-by-somebody-else'))
  mkdirSync(join(parent, 'another'))
  writeFileSync(join(parent, 'another', 'lock'), '')
  writeFileSync(join(parent, 'made-file'), '')
  removeAbandonedFolders(parent, 'made-')
  expect(readdirSync(parent).toSorted()).toEqual(['another', 'made-by-somebody-else', 'made-file'])
})

it('says which folder cannot be made', () => {
  expect(() => makeTemporaryFolder(join(parent, 'missing'), 'made-')).toThrow(join(parent, 'missing'))
})
