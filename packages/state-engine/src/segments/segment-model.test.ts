import { Buffer } from 'node:buffer'
import { join } from 'node:path'
import { createRandom, type Random, testSeed } from '@ledger-state/testing/random'
import { isSlowRun } from '@ledger-state/testing/slow-run'
import { scaledRounds } from '@ledger-state/testing/test-scale'
import { describe, expect, it } from 'vitest'
import { type Model, makeModel, newestAtMost, sortedModel } from '../../testing/random-writes.ts'
import {
  FIRST_VERSION,
  HASH_SEED,
  identityOf,
  openSegment,
  READ_WAYS,
  segmentProbe,
  writeSegment,
} from '../../testing/segment-files.ts'
import { temporaryFolder } from '../../testing/temporary-folder.ts'
import { SegmentMatch } from './block-search.ts'
import { checkSegment } from './check-segment.ts'
import { PRESENT, REMOVED } from './found.ts'
import { mergeSegments } from './merge-segments.ts'
import { SegmentKeys } from './segment-keys.ts'
import { SegmentLists } from './segment-lists.ts'
import type { SegmentReader } from './segment-reader.ts'
import { SegmentRevisions } from './segment-revisions.ts'
import { SegmentWriter, type SegmentWriterOptions } from './segment-writer.ts'

const folder = temporaryFolder()
const ROUNDS = isSlowRun ? scaledRounds(40) : 1
const VERSIONS = 400

const KINDS: readonly (readonly [string, SegmentWriterOptions])[] = [
  ['as they are', {}],
  ['as they are, in small blocks', { blockBytes: 500 }],
  ['deflated', { codec: 'deflate' }],
  ['deflated, in small blocks', { codec: 'deflate', blockBytes: 300 }],
]

function describeValue(value: Uint8Array | null | undefined): string {
  return value ? Buffer.from(value).toString('hex') : String(value)
}

/** Expected answer of a model, as a text. */
function answerOf(model: Model, key: Uint8Array, version: number): string {
  const found = newestAtMost(model.get(Buffer.from(key).toString('latin1'))?.writes ?? [], version)
  return found ? `${found[0]}: ${describeValue(found[1])}` : 'absent'
}

function ask(reader: SegmentReader, key: Uint8Array, version: number, shift = 0): string {
  const match = new SegmentMatch()
  const found = reader.find(segmentProbe().take(key), version - shift, match)
  if (found === REMOVED) return `${match.version + shift}: null`
  return found === PRESENT
    ? `${match.version + shift}: ${describeValue(match.bytes.subarray(match.start, match.end))}`
    : 'absent'
}

function expectAnswers(
  random: Random,
  model: Model,
  keys: readonly Uint8Array[],
  answer: typeof ask,
  reader: SegmentReader,
): void {
  for (let left = 600; left > 0; left--) {
    const known = random.pick(keys)
    // Some keys that were never written: beginnings of others, and others one byte longer.
    const other = random.pick([known.subarray(0, 2), Buffer.concat([known, Buffer.of(0)])])
    const key = random.below(10) === 0 ? other : known
    const version = random.below(5) === 0 ? VERSIONS + 1 : random.below(VERSIONS)
    if (answer(reader, key, version) !== answerOf(model, key, version)) {
      expect(answer(reader, key, version)).toBe(answerOf(model, key, version))
    }
  }
}

function check(reader: SegmentReader): void {
  for (const _ of checkSegment(reader, segmentProbe()));
}

describe.each(KINDS)('a segment whose blocks are stored %s', (_, options) => {
  it.each(READ_WAYS)('answers as a model does, %s', (_way, isMapped, cacheBytes) => {
    for (let round = 0; round < ROUNDS; round++) {
      const seed = testSeed() + round
      const random = createRandom(seed)
      const model = makeModel(random, { keys: 1 + random.below(300), versions: VERSIONS, writes: 5 })
      const path = join(folder.path, `segment-${round}`)
      const { summary } = writeSegment(path, model, 0, VERSIONS - 1, options)
      const reader = openSegment(path, isMapped, cacheBytes)
      const sorted = sortedModel(model)
      const keys = sorted.map(({ key }) => key)
      expect([summary.keys, summary.writes], `seed ${seed}`).toEqual([
        keys.length,
        sorted.reduce((sum, { writes }) => sum + writes.length, 0),
      ])
      if (keys.length > 0) for (let time = 0; time < 2; time++) expectAnswers(random, model, keys, ask, reader)
      expectScans(random, keys, reader)
      expectHistories(model, reader)
      check(reader)
      reader.close()
    }
  })

  it('is merged out of several as if it had been written as one', () => {
    for (let round = 0; round < ROUNDS; round++) {
      const random = createRandom(testSeed() + round)
      const model = makeModel(random, { keys: 1 + random.below(200), versions: VERSIONS, writes: 4 })
      const cuts = [0, 1 + random.below(100), 150, 150 + 1 + random.below(200), VERSIONS]
      const readers = cuts.slice(1).map((end, at) => {
        const path = join(folder.path, `part-${round}-${at}`)
        writeSegment(path, model, cuts[at]!, end - 1, at % 2 === 0 ? options : {})
        return openSegment(path, at % 2 === 0)
      })
      const merged = join(folder.path, `merged-${round}`)
      const whole = join(folder.path, `whole-${round}`)
      const writer = new SegmentWriter(merged, identityOf(VERSIONS), { ...options, isDurable: false })
      const inputs = readers.map((reader) => ({ reader, until: reader.identity.lastVersion }))
      for (const _step of mergeSegments(inputs, writer, { firstVersion: FIRST_VERSION }));
      const { summary } = writer.finish()
      // The parts begin blocks of the ledger at other versions.
      const written = writeSegment(whole, model, 0, VERSIONS - 1, options)
      expect({ ...summary, parts: {}, lists: 0, sha256: '' }).toEqual({
        ...written.summary,
        parts: {},
        lists: 0,
        sha256: '',
      })
      const reader = openSegment(merged, true)
      check(reader)
      const keys = sortedModel(model).map(({ key }) => key)
      if (keys.length > 0) expectAnswers(random, model, keys, ask, reader)
      for (const one of [reader, ...readers]) one.close()
    }
  })

  it('keeps of versions at or below a floor only the visible writes, and nothing above a truncation', () => {
    for (let round = 0; round < ROUNDS; round++) {
      const random = createRandom(testSeed() + round)
      const model = makeModel(random, { keys: 1 + random.below(200), versions: VERSIONS, writes: 4 })
      const floor = random.below(VERSIONS)
      const until = floor + random.below(VERSIONS - floor)
      const readers = [0, 130, 260].map((from, at) => {
        const path = join(folder.path, `part-${round}-${at}`)
        writeSegment(path, model, from, at === 2 ? VERSIONS - 1 : from + 129, options)
        return openSegment(path, true)
      })
      const identity = identityOf(VERSIONS, { isBase: true })
      const path = join(folder.path, `base-${round}`)
      const writer = new SegmentWriter(path, identity, { ...options, isDurable: false })
      const inputs = readers.map((reader) => ({ reader, until: FIRST_VERSION + BigInt(until) }))
      for (const _step of mergeSegments(inputs, writer, {
        firstVersion: FIRST_VERSION,
        floor: FIRST_VERSION + BigInt(floor),
      }));
      writer.finish()
      const expected: Model = new Map(
        [...model].flatMap(([text, { key, writes }]) => {
          const base = newestAtMost(writes, floor)
          const above = writes.filter(([version]) => version > floor && version <= until)
          const kept = base && base[1] !== null ? [base, ...above] : above
          return kept.length > 0 ? [[text, { key, writes: kept }] as const] : []
        }),
      )
      const reader = openSegment(path, true)
      check(reader)
      expectHistories(expected, reader)
      expectScans(
        random,
        sortedModel(expected).map(({ key }) => key),
        reader,
      )
      const lists = new SegmentLists(reader)
      const starts = Array.from({ length: lists.count }, (_list, at) => [...lists.at(at)]).flat()
      const versions = starts.map(({ firstVersion }) => Number(firstVersion - FIRST_VERSION))
      expect(versions.every((version) => version <= until)).toBe(true)
      expect(versions.filter((version) => version <= floor).length).toBe(1)
      for (const one of [reader, ...readers]) one.close()
    }
  })
})

function expectScans(random: Random, keys: readonly Uint8Array[], reader: SegmentReader): void {
  const cursor = new SegmentKeys(reader)
  const starts = [Buffer.of(), ...Array.from({ length: 10 }, () => random.bytes(1 + random.below(3)))]
  for (const start of keys.length > 0 ? [...starts, random.pick(keys), keys.at(-1)!] : starts) {
    const expected = keys.filter((key) => Buffer.compare(key, start) >= 0)
    cursor.seek(start)
    for (const key of expected) {
      if (!cursor.key || Buffer.compare(cursor.key, key) !== 0) expect(cursor.key).toEqual(key)
      cursor.next()
    }
    expect(cursor.key).toBe(undefined)
  }
}

function expectHistories(model: Model, reader: SegmentReader): void {
  for (const { key, writes } of model.values()) {
    const probe = segmentProbe().take(key)
    const revisions = new SegmentRevisions(reader, probe)
    const found: unknown[] = []
    for (let more = revisions.newestAtMost(VERSIONS); more; more = revisions.older()) {
      found.unshift([revisions.version, describeValue(revisions.value())])
    }
    const expected = writes.map(([version, value]) => [version, describeValue(value)])
    expect(found).toEqual(expected)
    const upward: unknown[] = []
    for (let more = revisions.oldestAtLeast(0); more; more = revisions.newer()) {
      upward.push([revisions.version, describeValue(revisions.value())])
    }
    expect(upward).toEqual(expected)
    const middle = writes[writes.length >> 1]![0]
    expect(revisions.oldestAtLeast(middle) && revisions.version).toBe(middle)
    expect(revisions.oldestAtLeast(middle + 1) && revisions.version).toBe(
      writes[(writes.length >> 1) + 1]?.[0] ?? false,
    )
    expect(revisions.newestAtMost(middle - 1) && revisions.version).toBe(writes[(writes.length >> 1) - 1]?.[0] ?? false)
  }
}

it('a file without writes has no keys', () => {
  const path = join(folder.path, 'empty')
  writeSegment(path, new Map(), 0, 9)
  const reader = openSegment(path, true)
  expect(ask(reader, Buffer.from('a'), 5)).toBe('absent')
  expectScans(createRandom(1), [], reader)
  check(reader)
  expect(new SegmentLists(reader).at(0).count).toBe(4)
  reader.close()
})

it('the same writes make the same bytes', () => {
  const model = makeModel(createRandom(3), { keys: 50, versions: VERSIONS, writes: 4 })
  const [one, other] = ['one', 'other'].map((name) =>
    writeSegment(join(folder.path, name), model, 0, VERSIONS - 1, { codec: 'deflate' }),
  )
  expect(Buffer.from(one!.summary.sha256).toString('hex')).toBe(Buffer.from(other!.summary.sha256).toString('hex'))
  expect(HASH_SEED.length).toBe(8)
})
