import { Buffer } from 'node:buffer'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { isLedgerStateError } from '@ledger-state/core'
import { createRandom, testSeed } from '@ledger-state/testing/random'
import { sampleCases } from '@ledger-state/testing/sample-cases'
import { isSlowRun } from '@ledger-state/testing/slow-run'
import { scaledRounds } from '@ledger-state/testing/test-scale'
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { changeByte } from '../../testing/page-damage.ts'
import { openSegment } from '../../testing/segment-files.ts'
import { bytes, CHAIN, record } from '../../testing/small-records.ts'
import { folderForAll } from '../../testing/temporary-folder.ts'
import { openLmdbStore } from '../lmdb/lmdb-store.js'
import { type LmdbEngineReader, openStateEngine, openStateEngineReader } from '../open-state-engine.js'
import { listSegmentRows } from '../records/segment-rows.js'
import { FOOTER_LENGTH, HEADER_LENGTH, PARTS } from '../segments/format.js'
import { ENVELOPE_LENGTH } from '../segments/lmdb-envelope.js'
import { listSegments, segmentPath } from '../segments/segment-names.js'

const SEED = testSeed()
const KEYS = 60
/** Versions before the damage. There is a file for each two of them, but for those that were merged. */
const BEFORE = 20
/** Versions after it. Their files fill the lowest level. */
const AFTER = 20
/** The fast run compares the answers at every fifth version: a read of a file that cannot be opened tries it again. */
const VERSION_STEP = isSlowRun ? 1 : 5
const folder = folderForAll()
let source: string

afterEach(() => void vi.unstubAllEnvs())

function keyAt(at: number): Uint8Array {
  return bytes(`account ${String(at).padStart(6, '0')} resource`)
}

/** Value of a key at a version; undefined if it has none. Each version writes a third of the keys, and deletes some. */
function valueAt(at: number, version: number): string | undefined {
  for (let written = version; written >= 0; written--) {
    if (written > 0 && (at + written) % 3 !== 0) continue
    return (at + written) % 7 === 3 ? undefined : `${written} of ${at} `.repeat(12)
  }
  return undefined
}

function versionOf(version: number) {
  const written = Array.from({ length: KEYS }, (_, at) => at).filter((at) => version === 0 || (at + version) % 3 === 0)
  const writes = written.map((at) => {
    const value = valueAt(at, version)
    return [keyAt(at), value === undefined ? null : bytes(value)] as const
  })
  return record(version, writes, version)
}

beforeAll(async () => {
  source = join(folder.path, 'source')
  const engine = openStateEngine({ path: source, memtableBytes: 0, durability: 'none' })
  for (let version = 0; version < BEFORE; version += 2) {
    await engine.commit([versionOf(version), versionOf(version + 1)], CHAIN)
  }
  await engine.close()
})

interface Place {
  readonly what: string
  readonly file: number
  /** Offsets in the file, with the end. */
  readonly start: number
  readonly end: number
}

/** Every block of each file, and every other part of it. */
async function allPlaces(): Promise<Place[]> {
  const store = openLmdbStore({ path: source, readOnly: true })
  const files = listSegmentRows(store).map(({ file }) => file)
  await store.root.close()
  return files.flatMap((file) => {
    const reader = openSegment(segmentPath(source, file), false)
    const { index } = reader
    const { parts } = reader.summary
    const places = [
      { what: 'the header', file, start: 0, end: HEADER_LENGTH },
      ...Array.from({ length: index.count }, (_, block) => {
        return { what: `block ${block}`, file, start: index.placeOf(block), end: index.placeOf(block + 1) }
      }),
      ...PARTS.map((name) => ({ what: name, file, start: parts[name].start, end: parts[name].end })),
      { what: 'the footer', file, start: parts.lists.end, end: parts.lists.end + FOOTER_LENGTH },
    ]
    reader.close()
    return places
      .filter(({ start, end }) => end > start)
      .map(({ start, end, ...rest }) => ({ ...rest, start: start + ENVELOPE_LENGTH, end: end + ENVELOPE_LENGTH }))
  })
}

/** Compares all answers with the right ones. Each may be `store_corrupt` instead, with the damaged file and an offset. */
function expectRightOrRefused(reader: LmdbEngineReader, newest: number, damaged: string): number {
  let refused = 0
  const attempt = (ask: () => void) => {
    try {
      ask()
    } catch (error) {
      if (!isLedgerStateError(error, 'store_corrupt')) throw error
      expect(error.message).toContain(damaged)
      expect(error.message).toMatch(/ at byte \d+: /)
      refused++
    }
  }
  const text = (value: Uint8Array | null | undefined) => (value ? Buffer.from(value).toString() : undefined)
  for (let version = newest; version >= 0; version -= VERSION_STEP) {
    for (let at = 0; at < KEYS; at++) {
      attempt(() => expect(text(reader.at(BigInt(version)).get(keyAt(at)))).toBe(valueAt(at, version)))
    }
  }
  for (let at = 0; at < KEYS; at++) {
    attempt(() => expect(reader.at().get(bytes(`account ${String(at).padStart(6, '0')} other`))).toBe(undefined))
    attempt(() => {
      for (const { version, value } of reader.history(keyAt(at))) expect(text(value)).toBe(valueAt(at, Number(version)))
    })
  }
  for (const version of [0, newest >> 1, newest]) {
    attempt(() => {
      const found = [...reader.at(BigInt(version)).scan(new Uint8Array(0))].map(({ value }) => text(value))
      const right = Array.from({ length: KEYS }, (_, at) => valueAt(at, version)).filter((value) => value !== undefined)
      expect(found).toEqual(right)
    })
  }
  return refused
}

describe.each([
  ['mapped', undefined],
  ['without a map', '1'],
])(`a part of a segment file that is damaged under a running writer, %s (TEST_SEED=${SEED})`, (_, unmapped) => {
  it('hides no key from merges: later reads are right, or refused', { timeout: 600_000 }, async () => {
    if (unmapped !== undefined) vi.stubEnv('LEDGER_STATE_UNMAPPED', unmapped)
    const random = createRandom(SEED)
    const places = await allPlaces()
    expect(new Set(places.map(({ what }) => what.replace(/\d+/, ''))).size).toBe(8)
    const chosen = isSlowRun
      ? sampleCases(places, scaledRounds(places.length))
      : [...Map.groupBy(places, ({ what }) => what.replace(/\d+/, '')).values()].map((all) => random.pick(all))
    let refused = 0
    for (const { what, file, start, end } of chosen) {
      const path = mkdtempSync(join(folder.path, 'damaged-'))
      cpSync(source, path, { recursive: true })
      const engine = openStateEngine({
        path,
        verifyReads: true,
        memtableBytes: random.pick([0, 20_000]),
        durability: 'none',
      })
      // Half of the writers have read the part before the damage.
      if (random.below(2) === 0) expectRightOrRefused(engine, BEFORE - 1, 'no damage yet')
      const damaged = segmentPath(path, file)
      changeByte(damaged, start + random.below(end - start), 1 << random.below(8))
      let newest = BEFORE - 1
      const tryIt = async (work: () => Promise<unknown>): Promise<boolean> => {
        try {
          await work()
          return true
        } catch (error) {
          if (!isLedgerStateError(error, 'store_corrupt')) throw error
          expect(error.message, what).toContain(damaged)
          return false
        }
      }
      for (let version = BEFORE; version < BEFORE + AFTER; version++) {
        if (!(await tryIt(() => engine.commit([versionOf(version)], CHAIN)))) break
        newest = version
      }
      await tryIt(() => engine.merge())
      refused += expectRightOrRefused(engine, newest, damaged)
      await tryIt(() => engine.prune(BigInt(newest + 1)))
      await engine.close()
      const reader = await (async () => {
        try {
          return openStateEngineReader({ path, verifyReads: true })
        } catch (error) {
          expect(error).toMatchObject({ code: 'store_corrupt', message: expect.stringContaining(damaged) })
          return undefined
        }
      })()
      // Merges may have removed the damaged file: nothing of it is in another one.
      for (let time = 0; reader && time < 2; time++) refused += expectRightOrRefused(reader, newest, damaged)
      await reader?.close()
    }
    expect(refused).toBeGreaterThan(0)
  })
})

describe('a segment file in the place of another', () => {
  /** A copy of the store, two of its files, and a function that puts the first in the place of the second. */
  async function copied() {
    const path = mkdtempSync(join(folder.path, 'swapped-'))
    cpSync(source, path, { recursive: true })
    const store = openLmdbStore({ path, readOnly: true })
    const files = listSegmentRows(store).map(({ file }) => segmentPath(path, file))
    await store.root.close()
    const [other, taken] = files.slice(-2) as [string, string]
    const swap = () => {
      // Who has the file open still has it.
      rmSync(taken)
      cpSync(other, taken)
    }
    const fault = { code: 'store_corrupt', message: expect.stringContaining(`${taken} at byte 0: the file is not the`) }
    return { path, swap, fault }
  }

  it('is refused by each read that opens it, not only by the first', async () => {
    const { path, swap, fault } = await copied()
    const warm = openStateEngineReader({ path })
    expect(expectRightOrRefused(warm, BEFORE - 1, 'no damage')).toBe(0)
    swap()
    const cold = openStateEngineReader({ path })
    for (let time = 0; time < 3; time++) {
      expect(() => cold.at().get(keyAt(time))).toThrow(expect.objectContaining(fault))
      expect(() => [...cold.history(keyAt(time))]).toThrow(expect.objectContaining(fault))
    }
    expect(expectRightOrRefused(warm, BEFORE - 1, 'no damage')).toBe(0)
    await warm.close()
    await cold.close()
  })

  it.each(['compact', 'reclaim'] as const)('is never merged: %s', async (work) => {
    const { path, swap, fault } = await copied()
    const engine = openStateEngine({ path, memtableBytes: 0, durability: 'none' })
    expect(expectRightOrRefused(engine, BEFORE - 1, 'no damage')).toBe(0)
    swap()
    const before = listSegments(path)
    for (let time = 0; time < 2; time++) await expect(engine[work]()).rejects.toMatchObject(fault)
    expect(listSegments(path)).toEqual(before)
    await engine.close()
  })
})
