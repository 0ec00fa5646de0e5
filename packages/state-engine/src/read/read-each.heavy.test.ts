import { Buffer } from 'node:buffer'
import type { Write } from '@ledger-state/core'
import { type EngineView, readEach } from '@ledger-state/engine'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { bytes, CHAIN, record } from '../../testing/small-records.ts'
import { temporaryFolder } from '../../testing/temporary-folder.ts'
import { openStateEngine, openStateEngineReader, type StateEngine } from '../open-state-engine.js'
import { SegmentBlocks } from '../segments/segment-blocks.js'
import { BlocksAhead } from './blocks-ahead.js'

const KEYS = Array.from({ length: 300 }, (_, at) => bytes(`key ${String(at).padStart(4, '0')}`))
const ASKED = [...KEYS, bytes('absent'), bytes('key 0000 and more')]
const VERSIONS = 60

const folder = temporaryFolder()
const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  vi.restoreAllMocks()
  vi.unstubAllEnvs()
  for (const store of open.splice(0)) await store.close()
})

/** Keys are written at their own versions, deleted at some, and have values of very different lengths. */
async function commitVersions(engine: StateEngine, first: number, last: number): Promise<void> {
  for (let version = first; version <= last; version++) {
    const writes = KEYS.flatMap((key, at): Write[] => {
      if (version > 0 && (at * 7 + version) % 20 !== 0) return []
      const length = at % 97 === 0 ? 200_000 : 30
      return [[key, (at + version) % 11 === 0 ? null : Buffer.alloc(length, `${version} ${at};`)]]
    })
    await engine.commit([record(version, writes, version)], CHAIN)
  }
}

async function createStore(memtableBytes: number): Promise<StateEngine> {
  const engine = openStateEngine({ path: folder.path, durability: 'none', memtableBytes })
  open.push(engine)
  await commitVersions(engine, 0, VERSIONS - 1)
  return engine
}

function openReader() {
  const reader = openStateEngineReader({ path: folder.path })
  open.push(reader)
  return reader
}

async function readAll(view: EngineView): Promise<string[]> {
  const found: string[] = []
  await readEach(view, ASKED, (key, entry) => {
    found.push(`${Buffer.from(key)} ${entry?.version} ${entry && Buffer.from(entry.value)}`)
  })
  return found.sort()
}

function lookUpAll(view: EngineView): string[] {
  return ASKED.map((key) => {
    const entry = view.getEntry(key)
    return `${Buffer.from(key)} ${entry?.version} ${entry && Buffer.from(entry.value)}`
  }).sort()
}

describe.each([
  ['mapped', false],
  ['read into the cache', true],
] as const)('many keys at once, in files that are %s', (_, isUnmapped) => {
  beforeEach(() => {
    if (isUnmapped) vi.stubEnv('LEDGER_STATE_UNMAPPED', '1')
  })

  it.each([0, 100_000, 2 ** 26])('have the same entries as look-ups (memtable of %i bytes)', async (memtableBytes) => {
    await createStore(memtableBytes)
    const reader = openReader()
    for (let version = 0n; version < VERSIONS; version += 7n) {
      const cold = await readAll(reader.at(version))
      expect(cold).toEqual(lookUpAll(reader.at(version)))
      expect(await readAll(reader.at(version))).toEqual(cold)
    }
  })

  it('are read ahead, once, unless they are in memory', async () => {
    await createStore(100_000)
    const reader = openReader()
    const isLoaded = SegmentBlocks.prototype.isLoaded
    const noted = vi.spyOn(BlocksAhead.prototype, 'add')
    const read = vi.spyOn(BlocksAhead.prototype, 'read')
    let unread = 0
    const load = SegmentBlocks.prototype.load
    vi.spyOn(SegmentBlocks.prototype, 'load').mockImplementation(function (this: SegmentBlocks, block) {
      const lastRead = read.mock.invocationCallOrder.at(-1) ?? 0
      const isAhead = noted.mock.calls.some(
        ([{ blocks }, one], at) => blocks === this && one === block && noted.mock.invocationCallOrder[at]! < lastRead,
      )
      if (!isAhead && !isLoaded.call(this, block)) unread++
      Reflect.apply(load, this, [block])
    })
    await readAll(reader.at(30n))
    expect(noted.mock.calls.length).toBeGreaterThan(KEYS.length / 2)
    // A key may be looked for in each file.
    expect(read.mock.calls.length).toBeLessThanOrEqual(reader.stats.levels.reduce((sum, { files }) => sum + files, 1))
    expect(unread).toBe(0)
    noted.mockClear()
    await readAll(reader.at(30n))
    expect(noted).not.toHaveBeenCalled()
  })

  it('are those of the version while merges replace the files', async () => {
    const engine = await createStore(100_000)
    const expected = lookUpAll(engine.at(20n))
    for (let first = VERSIONS; first < VERSIONS + 40; first += 10) {
      const readers = [openReader(), openReader()]
      const answers = [...readers, engine].map((one) => readAll(one.at(20n)))
      await commitVersions(engine, first, first + 9)
      await engine.merge()
      for (const answer of await Promise.all(answers)) expect(answer).toEqual(expected)
      for (const reader of readers) expect(await readAll(reader.at(20n))).toEqual(expected)
    }
  })

  it('end with the reason if the version is lost meanwhile', async () => {
    const engine = await createStore(100_000)
    await engine.merge()
    for (const [code, lose] of [
      ['version_truncated', () => engine.truncateTo(30n)],
      ['version_pruned', () => engine.prune(1n)],
    ] as const) {
      const reader = openReader()
      const version = code === 'version_pruned' ? 10n : 40n
      const view = reader.at(version)
      let release = () => {}
      const { read } = BlocksAhead.prototype
      const held = new Promise<void>((resolve) => {
        release = resolve
      })
      vi.spyOn(BlocksAhead.prototype, 'read').mockImplementation(async function (this: BlocksAhead) {
        await read.call(this)
        await held
      })
      const answer = readAll(view)
      const ended = expect(answer).rejects.toMatchObject({ code })
      await lose()
      reader.at()
      await vi.waitFor(() => expect(() => view.getEntry(KEYS[0]!)).toThrow())
      release()
      await ended
      vi.restoreAllMocks()
    }
  })
})
