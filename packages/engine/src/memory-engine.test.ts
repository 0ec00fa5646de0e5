import type { VersionWrites, Write } from '@ledger-state/core'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createMemoryEngine, createMemoryStore } from './memory-engine.js'

const CHAIN = { chainId: 1 }
const KEY = Uint8Array.of(1)
const EMPTY = new Uint8Array(0)

afterEach(() => vi.useRealTimers())

function versionOf(number: bigint, writes: readonly Write[]): VersionWrites {
  return { version: number, block: { height: number, epoch: 0n, timestampUsec: number }, writes: [...writes] }
}

/** Makes versions that begin with `first` and write the key. */
function versionsOf(first: number, count: number, keys: readonly Uint8Array[] = [KEY]): VersionWrites[] {
  return Array.from({ length: count }, (_, at) =>
    versionOf(
      BigInt(first + at),
      keys.map((key): Write => [key, Uint8Array.of(at)]),
    ),
  )
}

describe('the engine in memory', () => {
  it('lists the writes of a version in ascending order of their keys', async () => {
    await using engine = createMemoryEngine()
    const keys = [[3], [1, 0], [2], [1], []].map((bytes) => Uint8Array.from(bytes))
    await engine.commit(versionsOf(0, 2, keys), CHAIN)
    const [listed] = engine.versions(1n, 1n)
    expect(listed!.writes.map(([key]) => [...key])).toEqual([[], [1], [1, 0], [2], [3]])
  })

  it('ends a history at the version that was the latest when it was asked for', async () => {
    await using engine = createMemoryEngine()
    await engine.commit(versionsOf(0, 3), CHAIN)
    const histories = [undefined, 100n, 2n].map((last) => engine.history(KEY, { last }))
    await engine.commit(versionsOf(3, 3), CHAIN)
    await engine.truncateTo(4n)
    for (const history of histories) expect([...history].map(({ version }) => version)).toEqual([2n, 1n, 0n])
  })

  it('refuses a history that goes below the version to which a prune has moved the window, and takes one above', async () => {
    await using engine = createMemoryEngine()
    await engine.commit(versionsOf(0, 6), CHAIN)
    const [below, at, above] = [2n, 3n, 4n].map((first) => engine.history(KEY, { first }))
    const oldestFirst = engine.history(KEY, { first: 3n, order: 'asc' })
    await engine.prune(3n)
    for (const one of [below!, oldestFirst])
      expect(() => [...one]).toThrow(expect.objectContaining({ code: 'version_pruned' }))
    expect([...at!].map(({ version }) => version)).toEqual([5n, 4n, 3n])
    expect([...above!].map(({ version }) => version)).toEqual([5n, 4n])
  })

  it('refuses a scan of a version that was pruned at once, even where no key is', async () => {
    await using engine = createMemoryEngine()
    await engine.commit(versionsOf(0, 6), CHAIN)
    const view = engine.at(0n)
    await engine.prune(1n)
    expect(() => view.scan(Uint8Array.of(9))).toThrow(expect.objectContaining({ code: 'version_pruned' }))
  })

  it('drops no more in a prune than it was asked for, and the rest in the next', async () => {
    await using engine = createMemoryEngine()
    const keys = [1, 2, 3].map((byte) => Uint8Array.of(byte))
    await engine.commit(versionsOf(0, 1_500, keys), CHAIN)
    // The oldest version, 1,499, sees the last of 1,500 revisions of each key.
    for (const [droppedEntries, done] of [
      [2_000, false],
      [2_000, false],
      [497, true],
      [0, true],
    ]) {
      expect(await engine.prune(1n, { maxEntries: 1_500 })).toEqual({ oldestVersion: 1_499n, droppedEntries, done })
    }
    expect([...engine.at().scan(EMPTY)]).toHaveLength(3)
  })

  it('drops a deletion that a prune in parts has left as the first revision', async () => {
    await using engine = createMemoryEngine()
    await engine.commit([...versionsOf(0, 2_000), versionOf(2_000n, [[KEY, null]])], CHAIN)
    expect(await engine.prune(1n, { maxEntries: 1 })).toMatchObject({ droppedEntries: 2_000, done: false })
    expect(await engine.prune(1n, { maxEntries: 1 })).toMatchObject({ droppedEntries: 1, done: true })
  })

  it('resumes an import that nobody began', async () => {
    await using engine = createMemoryEngine()
    expect((await engine.beginImport(5n, { resume: true })).entryCount).toBe(0)
  })
})

describe('a closed engine in memory', () => {
  it('takes no listeners, and releases the process that one kept alive', async () => {
    vi.useFakeTimers()
    const engine = createMemoryEngine()
    engine.onCommit(() => {}, { keepAlive: true })
    expect(vi.getTimerCount()).toBe(1)
    await engine.close()
    expect(vi.getTimerCount()).toBe(0)
    for (const listener of [() => {}, 7 as never]) {
      expect(() => engine.onCommit(listener)).toThrow(expect.objectContaining({ code: 'store_closed' }))
    }
  })

  it('leaves its store to the next engine, even when it is closed again', async () => {
    const store = createMemoryStore()
    expect(store.kind).toBe('memory')
    const first = createMemoryEngine(store)
    const locked = expect.objectContaining({
      code: 'store_locked',
      message: expect.stringContaining('holds the memory store'),
    })
    expect(() => createMemoryEngine(store)).toThrow(locked)
    await first.close()
    await using _second = createMemoryEngine(store)
    await first.close()
    expect(() => createMemoryEngine(store)).toThrow(locked)
  })
})
