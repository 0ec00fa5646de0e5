import { Buffer } from 'node:buffer'
import fs, { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { isLedgerStateError } from '@ledger-state/core'
import { readEach } from '@ledger-state/engine'
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest'
import { changeByte } from '../../testing/page-damage.ts'
import { openSegment } from '../../testing/segment-files.ts'
import { bytes, CHAIN, record } from '../../testing/small-records.ts'
import { folderForAll } from '../../testing/temporary-folder.ts'
import { type LmdbEngineReader, openStateEngine, openStateEngineReader } from '../open-state-engine.js'
import { ENVELOPE_LENGTH } from '../segments/lmdb-envelope.js'
import { listSegments, segmentPath } from '../segments/segment-names.js'

const folder = folderForAll()
const KEYS = 20
const VERSIONS = 12
let source: string

function valueAt(version: number, at: number): Uint8Array {
  return Buffer.alloc(400, `${version} ${at};`)
}

function keyAt(at: number): Uint8Array {
  return bytes(`key ${at}`)
}

const versionOf = (version: number) =>
  record(
    version,
    Array.from({ length: KEYS }, (_, at) => [keyAt(at), valueAt(version, at)] as const),
    version,
  )

beforeAll(async () => {
  source = join(folder.path, 'source')
  const engine = openStateEngine({ path: source, memtableBytes: 0, durability: 'none' })
  for (let version = 0; version < VERSIONS; version += 4) {
    await engine.commit(
      [0, 1, 2, 3].map((more) => versionOf(version + more)),
      CHAIN,
    )
  }
  await engine.close()
})
afterAll(() => vi.unstubAllEnvs())

function expectValue(version: number, key: Uint8Array, value: Uint8Array | null | undefined): void {
  const at = Number(Buffer.from(key).toString().slice(4))
  expect(value && Buffer.compare(value, valueAt(version, at))).toBe(0)
}

/** Everything that reads. Each gives the right answer, or throws. */
const READS: Readonly<Record<string, (reader: LmdbEngineReader) => void | Promise<void>>> = {
  'look-ups': (reader) => {
    for (let version = 0; version < VERSIONS; version++) {
      for (let at = 0; at < KEYS; at++) expectValue(version, keyAt(at), reader.at(BigInt(version)).get(keyAt(at)))
    }
  },
  'look-ups of many keys at once': async (reader) => {
    const keys = Array.from({ length: KEYS }, (_, at) => keyAt(at))
    for (let version = 0; version < VERSIONS; version++) {
      await readEach(reader.at(BigInt(version)), keys, (key, entry) => expectValue(version, key, entry?.value))
    }
  },
  'look-ups of absent keys': (reader) => {
    for (let at = 0; at < KEYS; at++) expect(reader.at().get(bytes(`absent ${at}`))).toBe(undefined)
  },
  scans: (reader) => {
    for (let version = 0; version < VERSIONS; version++) {
      const found = [...reader.at(BigInt(version)).scan(new Uint8Array(0))]
      expect(found.length).toBe(KEYS)
      for (const { key, value } of found) expectValue(version, key, value)
    }
  },
  histories: (reader) => {
    for (let at = 0; at < KEYS; at++) {
      const found = [...reader.history(keyAt(at))]
      expect(found.length).toBe(VERSIONS)
      for (const { version, value } of found) expectValue(Number(version), keyAt(at), value)
    }
  },
  'writes of versions': (reader) => {
    const found = [...reader.versions(1n, BigInt(VERSIONS - 1))]
    expect(found.length).toBe(VERSIONS - 1)
    for (const { version, writes } of found) {
      expect(writes.length).toBe(KEYS)
      for (const [key, value] of writes) expectValue(Number(version), key, value)
    }
  },
  blocks: (reader) => {
    for (let version = 0n; version < VERSIONS; version++) expect(reader.blockAt(version).block.height).toBe(version)
  },
}
/** Those that read all blocks of all files. */
const READ_ALL = ['look-ups', 'scans', 'histories', 'writes of versions']

/** Message of the damage that the work finds in the store, if it finds some. */
async function faultOf(work: () => void | Promise<void>): Promise<string | undefined> {
  try {
    await work()
    return undefined
  } catch (error) {
    if (!isLedgerStateError(error, 'store_corrupt')) throw error
    return error.message
  }
}

async function faultsOf(path: string): Promise<Map<string, string | undefined>> {
  const faults = new Map<string, string | undefined>()
  for (const [name, read] of Object.entries(READS)) {
    // Each has its own reader, because a reader does not verify a block again.
    const reader = openStateEngineReader({ path })
    faults.set(name, await faultOf(() => read(reader)))
    // The same again, warm.
    expect(await faultOf(() => read(reader))).toBe(faults.get(name))
    await reader.close()
  }
  return faults
}

/** A byte of each block of each file, with the file and the range of the block. */
function eachBlock() {
  return listSegments(source).flatMap((file) => {
    const path = segmentPath(source, file)
    const { index, close } = (() => {
      const reader = openSegment(path, false)
      return { index: reader.index, close: () => reader.close() }
    })()
    const blocks = Array.from({ length: index.count }, (_, block) => ({
      file,
      path,
      start: ENVELOPE_LENGTH + index.placeOf(block),
      end: ENVELOPE_LENGTH + index.placeOf(block + 1),
    }))
    close()
    return blocks
  })
}

it.each([
  ['mapped', undefined],
  ['with a cache', '1'],
])('a flip in any block is reported with its file and place by all that read it, %s', async (_way, unmapped) => {
  if (unmapped !== undefined) vi.stubEnv('LEDGER_STATE_UNMAPPED', unmapped)
  expect([...(await faultsOf(source)).values()].every((fault) => fault === undefined)).toBe(true)
  const blocks = eachBlock()
  expect(blocks.length).toBeGreaterThan(8)
  for (const [nth, { path, start, end }] of blocks.entries()) {
    const offset = start + ((nth * 977) % (end - start))
    changeByte(path, offset, 1 << (nth % 8))
    const faults = await faultsOf(source)
    for (const name of READ_ALL)
      expect(faults.get(name), `${name}, byte ${offset}`).toContain(`${path} at byte ${start}:`)
    for (const name of ['blocks', 'look-ups of absent keys']) {
      const fault = faults.get(name)
      if (fault !== undefined) expect(fault).toContain(`${path} at byte ${start}:`)
    }
    changeByte(path, offset, 1 << (nth % 8))
  }
  vi.stubEnv('LEDGER_STATE_UNMAPPED', undefined)
})

it('a flip in any block is in a snapshot, too, whose readers report it', async () => {
  for (const [nth, { file, path, start }] of eachBlock().entries()) {
    if (nth % 5 !== 0) continue
    changeByte(path, start + 20, 1)
    const copy = mkdtempSync(join(folder.path, 'copy-'))
    const reader = openStateEngineReader({ path: source })
    await reader.snapshot(copy)
    await reader.close()
    const faults = await faultsOf(copy)
    for (const name of READ_ALL) expect(faults.get(name)).toContain(`${segmentPath(copy, file)} at byte ${start}:`)
    const checked = openStateEngineReader({ path: copy })
    expect((await checked.check()).problems.join()).toContain(segmentPath(copy, file))
    await checked.close()
    rmSync(copy, { recursive: true })
    changeByte(path, start + 20, 1)
  }
})

it('a file with a damaged index is not opened again for each read, and is read again once it is whole', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const copy = join(folder.path, 'damaged-index')
  cpSync(source, copy, { recursive: true })
  const path = segmentPath(copy, listSegments(copy)[0]!)
  const segment = openSegment(path, false)
  const place = ENVELOPE_LENGTH + segment.summary.parts.index.start
  segment.close()
  changeByte(path, place, 1)
  const reader = openStateEngineReader({ path: copy })
  const opened = vi.spyOn(fs, 'openSync')
  syncBuiltinESMExports()
  try {
    for (let reads = 0; reads < 10; reads++) {
      expect(() => reader.at()).toThrow(`${path} at byte ${place}:`)
      // Longer than reads share a snapshot.
      vi.advanceTimersByTime(50)
    }
    expect(opened.mock.calls.filter(([name]) => name === path)).toHaveLength(1)
  } finally {
    vi.restoreAllMocks()
    syncBuiltinESMExports()
  }
  changeByte(path, place, 1)
  vi.advanceTimersByTime(1_000)
  expectValue(3, keyAt(3), reader.at(3n).get(keyAt(3)))
  await reader.close()
})

it('a prune whose merge meets damage says so, and commits go on', async () => {
  const copy = mkdtempSync(join(folder.path, 'pruned-'))
  const reader = openStateEngineReader({ path: source })
  await reader.snapshot(copy)
  await reader.close()
  // The file of the copy is a link, so the source is damaged until the end.
  const [{ file, start }] = eachBlock() as [ReturnType<typeof eachBlock>[number]]
  changeByte(segmentPath(copy, file), start + 20, 1)
  const engine = openStateEngine({ path: copy, memtableBytes: 0, durability: 'none' })
  const fault = {
    code: 'store_corrupt',
    message: expect.stringContaining(`${segmentPath(copy, file)} at byte ${start}:`),
  }
  for (let time = 0; time < 2; time++) await expect(engine.prune(1n)).rejects.toMatchObject(fault)
  await engine.commit([versionOf(VERSIONS)], CHAIN)
  expectValue(VERSIONS, keyAt(3), engine.at().get(keyAt(3)))
  await engine.close()
  changeByte(segmentPath(copy, file), start + 20, 1)
  const mended = openStateEngine({ path: copy, memtableBytes: 0, durability: 'none' })
  expect((await mended.prune(1n)).droppedEntries).toBeGreaterThan(0)
  expect((await mended.check()).problems).toEqual([])
  await mended.close()
})
