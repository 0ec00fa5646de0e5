import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SOURCE_OPTIONS } from '@ledger-state/testing/source-process'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { lockFile } from './file-lock.js'

const NOBODY = 65_534
const toError = (cause: unknown) => new Error('held', { cause })

let folder: string
let path: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lock-'))
  path = join(folder, 'a.lock')
})
afterEach(() => rmSync(folder, { recursive: true }))

it('is held once until it is released, and writes nothing', () => {
  const release = lockFile(path, toError)!
  expect(() => lockFile(path, toError)).toThrow('held')
  release()
  lockFile(path, toError)!()
  expect(statSync(path).size).toBe(0)
})

it('is held even if nobody keeps the function that releases it', async () => {
  const take = `
    import { lockFile } from ${JSON.stringify(new URL('file-lock.ts', import.meta.url).href)}
    lockFile(${JSON.stringify(path)}, () => new Error('held'))
    // Finalizers run in turns of their own.
    for (let turn = 0; turn < 10; turn++) {
      gc()
      await new Promise((resolve) => setImmediate(resolve))
    }
    try {
      lockFile(${JSON.stringify(path)}, () => new Error('held'))
      console.log('taken')
    } catch (error) {
      console.log(error.message)
    }`
  const { stdout } = spawnSync(
    process.execPath,
    ['--expose-gc', ...SOURCE_OPTIONS, '--input-type=module', '-e', take],
    { encoding: 'utf8' },
  )
  expect(stdout).toBe('held\n')
})

it('a file that cannot be opened is an error of the system, as callers expect them', () => {
  mkdirSync(path)
  const message = expect.stringMatching(/a\.lock cannot be locked: unable to open database file/)
  expect(() => lockFile(path, toError)).toThrow(expect.objectContaining({ syscall: 'open', path, message }))
})

it.runIf(process.platform === 'linux' && process.getuid?.() === 0)(
  'is not given for a file that may only be read, because others that read it would get it, too',
  () => {
    writeFileSync(path, '')
    chmodSync(folder, 0o755)
    const take = `
      import { lockFile } from ${JSON.stringify(new URL('file-lock.ts', import.meta.url).href)}
      process.setuid(${NOBODY})
      try {
        lockFile(${JSON.stringify(path)}, () => new Error('held'))
        console.log('taken')
      } catch (error) {
        console.log(error.code ?? error.message)
      }`
    const { stdout } = spawnSync(process.execPath, [...SOURCE_OPTIONS, '--input-type=module', '-e', take], {
      encoding: 'utf8',
    })
    expect(stdout).toBe('EACCES\n')
  },
)
