import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { SOURCE_OPTIONS } from '@ledger-state/testing/source-process'
import { afterEach, expect, test, vi } from 'vitest'
import { createCommitWatch } from './commit-watch.js'
import { createMemoryEngine } from './memory-engine.js'
import type { LedgerSummary } from './ports/state-port.js'

const run = promisify(execFile)

afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
})

const BLOCK = { height: 0n, epoch: 0n, timestampUsec: 0n }

function ledgerAt(latestVersion: bigint): LedgerSummary {
  return { chainId: 1n, latestVersion, latestBlock: BLOCK, oldestVersion: 0n, oldestBlock: BLOCK }
}

/** Runs a separate program that listens, and then runs the code `next`. Resolves with its output once it has ended. */
async function listenInProcess(options: string, next: string): Promise<string> {
  const program = `
    const { createMemoryEngine } = await import(${JSON.stringify(new URL('./memory-engine.ts', import.meta.url).href)})
    const engine = createMemoryEngine()
    const remove = engine.onCommit(() => {}, ${options})
    ${next}`
  const args = [...SOURCE_OPTIONS, '--input-type=module', '--eval', program]
  return (await run(process.execPath, args)).stdout
}

test('a listener lets the process end', async () => {
  expect(await listenInProcess('{}', '')).toBe('')
})

test('a listener that is to keep the process alive does so until it is removed', async () => {
  const removeLater = "setTimeout(() => { console.log('still there'); remove() }, 50).unref()"
  expect(await listenInProcess('{ keepAlive: true }', removeLater)).toBe('still there\n')
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

test('listeners hear of a change once, and of none that they began with', () => {
  let ledger: LedgerSummary | undefined
  const heard: [string, bigint][] = []
  const listener = (name: string) => (now: LedgerSummary) => heard.push([name, now.latestVersion])
  const watch = createCommitWatch(() => ledger)
  const remove = watch.add(listener('first'))
  watch.notice()
  ledger = ledgerAt(1n)
  // The first listener has not been called with version 1 yet when the second one is added.
  const removeSecond = watch.add(listener('second'))
  watch.notice()
  watch.notice()
  expect(heard.splice(0)).toEqual([
    ['first', 1n],
    ['second', 1n],
  ])
  remove()
  removeSecond()
  ledger = ledgerAt(2n)
  watch.add(listener('third'))
  watch.notice()
  expect(heard).toEqual([])
  ledger = ledgerAt(3n)
  watch.notice()
  expect(heard).toEqual([['third', 3n]])
})

test('the ledger is not asked for while nobody listens', () => {
  const current = vi.fn(() => ledgerAt(1n))
  const watch = createCommitWatch(current)
  watch.notice()
  expect(current).not.toHaveBeenCalled()
})

test('changes of other processes are looked for while somebody listens', () => {
  vi.useFakeTimers()
  let ledger = ledgerAt(0n)
  const heard: bigint[] = []
  const watch = createCommitWatch(() => ledger, 10)
  expect(vi.getTimerCount()).toBe(0)
  const removals = [1, 2].map(() => watch.add(({ latestVersion }) => heard.push(latestVersion)))
  expect(vi.getTimerCount()).toBe(1)
  ledger = ledgerAt(1n)
  vi.advanceTimersToNextTimer()
  expect(heard).toEqual([1n, 1n])
  removals[0]!()
  expect(vi.getTimerCount()).toBe(1)
  removals[1]!()
  expect(vi.getTimerCount()).toBe(0)
  watch.add(() => {})
  expect(vi.getTimerCount()).toBe(1)
  watch.close()
  expect(vi.getTimerCount()).toBe(0)
})

test('nothing is looked for without an interval', () => {
  vi.useFakeTimers()
  createCommitWatch(() => undefined).add(() => {})
  expect(vi.getTimerCount()).toBe(0)
})
