import { Buffer } from 'node:buffer'
import fs, { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { openStateEngine, type StateEngine } from '@ledger-state/state-engine'
import { afterEach, expect, it, vi } from 'vitest'
import { SnapshotShelf } from './snapshot-shelf.js'

afterEach(() => {
  vi.restoreAllMocks()
  syncBuiltinESMExports()
  vi.useRealTimers()
})

/** Runs a test on the snapshots of an empty store. */
async function withShelf(run: (shelf: SnapshotShelf, engine: StateEngine) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'shelf-'))
  const engine = openStateEngine({ path: join(folder, 'store'), durability: 'none' })
  const shelf = new SnapshotShelf(engine, join(folder, 'snapshots'))
  try {
    await run(shelf, engine)
  } finally {
    await shelf.close()
    await engine.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

it('a snapshot from before a truncation is not given any more', async () => {
  await withShelf(async (shelf, engine) => {
    const versions = Array.from({ length: 10 }, (_, at) => {
      const version = BigInt(at)
      const block = { height: version, epoch: 0n, timestampUsec: version }
      return { version, block, writes: [[Buffer.from('k'), Buffer.from(`${at}`)] as const] }
    })
    await engine.commit(versions, { chainId: 1 })
    const before = await shelf.take()
    expect((await shelf.take()).id).toBe(before.id)
    const file = shelf.fileOf(before.id, before.files[0]!.name)!
    await engine.truncateTo(4n)
    expect(shelf.find(before.id)).toBeUndefined()
    expect(shelf.fileOf(before.id, before.files[0]!.name)).toBeUndefined()
    const after = await shelf.take()
    expect(after.id).not.toBe(before.id)
    expect(existsSync(dirname(file))).toBe(false)
    expect((await shelf.take()).id).toBe(after.id)
  })
})

it('a snapshot stays while a replica fetches a file that takes long, and goes ten minutes later', async () => {
  vi.useFakeTimers({ toFake: ['performance', 'setInterval', 'clearInterval'] })
  await withShelf(async (shelf, engine) => {
    const block = { height: 0n, epoch: 0n, timestampUsec: 0n }
    const writes = [[Buffer.from('k'), Buffer.from('v')] as const]
    await engine.commit([{ version: 0n, block, writes }], { chainId: 1 })
    const { id, files } = await shelf.take()
    const file = shelf.fileOf(id, files[0]!.name)!
    for (let minutes = 0; minutes < 30; minutes += 5) {
      shelf.noteFetch(id)
      vi.advanceTimersByTime(5 * 60_000)
    }
    expect(existsSync(file)).toBe(true)
    vi.advanceTimersByTime(11 * 60_000)
    expect(existsSync(file)).toBe(false)
    expect(shelf.find(id)).toBeUndefined()
  })
})

it('a snapshot keeps its age when the clock of the machine is set forward by a year or back by a day', async () => {
  vi.useFakeTimers({ toFake: ['Date', 'performance', 'setInterval', 'clearInterval'] })
  await withShelf(async (shelf, engine) => {
    const block = { height: 0n, epoch: 0n, timestampUsec: 0n }
    await engine.commit([{ version: 0n, block, writes: [] }], { chainId: 1 })
    const { id } = await shelf.take()
    vi.setSystemTime(Date.now() + 365 * 86_400_000)
    vi.advanceTimersByTime(9 * 60_000)
    expect(shelf.find(id)).toBeDefined()
    vi.setSystemTime(Date.now() - 366 * 86_400_000)
    expect((await shelf.take()).id).not.toBe(id)
    vi.advanceTimersByTime(11 * 60_000)
    expect(shelf.find(id)).toBeUndefined()
  })
})

it('a snapshot that cannot be removed is given to nobody, fails nothing, and is removed later', async () => {
  vi.useFakeTimers({ toFake: ['performance', 'setInterval', 'clearInterval'] })
  await withShelf(async (shelf, engine) => {
    const block = { height: 0n, epoch: 0n, timestampUsec: 0n }
    await engine.commit([{ version: 0n, block, writes: [] }], { chainId: 1 })
    const { id, files } = await shelf.take()
    const file = shelf.fileOf(id, files[0]!.name)!
    vi.spyOn(fs, 'rmSync').mockImplementationOnce(() => {
      throw Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE' })
    })
    syncBuiltinESMExports()
    vi.advanceTimersByTime(10 * 60_000)
    expect([shelf.find(id), existsSync(file)]).toEqual([undefined, true])
    vi.advanceTimersByTime(2 * 60_000)
    expect(existsSync(file)).toBe(false)
  })
})
