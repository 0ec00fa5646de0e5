import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterEach, expect, test, vi } from 'vitest'
import { createCommitWatch } from './commit-watch.js'
import { createMemoryEngine } from './memory-engine.js'

const run = promisify(execFile)

afterEach(() => vi.restoreAllMocks())

/** Runs a program of its own that listens; resolves with what it printed once it has ended. */
async function listenInProcess(options: string): Promise<string> {
  const program = `
    const { createMemoryEngine } = await import(${JSON.stringify(new URL('./memory-engine.ts', import.meta.url).href)})
    const engine = createMemoryEngine()
    const remove = engine.onCommit(() => {}, ${options})
    setTimeout(() => { console.log('still there'); remove() }, 300).unref()`
  const args = ['--conditions', '@ledger-state/source', '--import', 'tsx', '--input-type=module', '--eval', program]
  return (await run(process.execPath, args)).stdout
}

test('a listener lets the process end, unless it is to keep it alive until it is removed', async () => {
  expect(await listenInProcess('{}')).toBe('')
  expect(await listenInProcess('{ keepAlive: true }')).toBe('still there\n')
})

test('the last listener that keeps the process alive releases it, as closing does', () => {
  const began = vi.spyOn(globalThis, 'setInterval')
  const ended = vi.spyOn(globalThis, 'clearInterval')
  const watch = createCommitWatch(() => undefined)
  const removeFirst = watch.add(() => {}, { keepAlive: true })
  const removeSecond = watch.add(() => {}, { keepAlive: true })
  watch.add(() => {})
  expect(began).toHaveBeenCalledTimes(1)
  const hold = began.mock.results[0]!.value
  removeFirst()
  expect(ended).not.toHaveBeenCalledWith(hold)
  removeSecond()
  expect(ended).toHaveBeenCalledWith(hold)
  watch.add(() => {}, { keepAlive: true })
  const next = began.mock.results[1]!.value
  watch.close()
  expect(ended).toHaveBeenCalledWith(next)
})

test('options that a listener does not have are refused', async () => {
  await using engine = createMemoryEngine()
  const misspelled = { keepalive: true } as object
  expect(() => engine.onCommit(() => {}, misspelled)).toThrow(
    expect.objectContaining({
      code: 'invalid_argument',
      message: 'the options of the listener have no member "keepalive"; did you mean "keepAlive"?',
    }),
  )
})
