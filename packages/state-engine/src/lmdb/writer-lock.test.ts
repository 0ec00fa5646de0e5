import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { SOURCE_OPTIONS } from '@ledger-state/testing/source-process'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../testing/temporary-folder.ts'

const folder = temporaryFolder()

test('taking the lock warns of nothing, and leaves other warnings as they are', () => {
  // Node.js 22 warns when its SQLite is loaded.
  const program = `
    const { acquireWriterLock } = await import(${JSON.stringify(new URL('./writer-lock.ts', import.meta.url).href)})
    const { emitWarning, getBuiltinModule } = process
    process.getBuiltinModule = (name) => {
      process.emitWarning('SQLite is an experimental feature and might change at any time', 'ExperimentalWarning')
      process.emitWarning('something else', 'Warning')
      return getBuiltinModule(name)
    }
    const warnings = []
    process.on('warning', ({ message }) => warnings.push(message))
    acquireWriterLock(${JSON.stringify(join(folder.path, 'lock'))})()
    setImmediate(() => console.log(JSON.stringify([warnings, process.emitWarning === emitWarning])))`
  const words = [...SOURCE_OPTIONS, '--input-type=module', '--eval', program]
  const output = execFileSync(process.execPath, words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  expect(JSON.parse(output)).toEqual([['something else'], true])
})
