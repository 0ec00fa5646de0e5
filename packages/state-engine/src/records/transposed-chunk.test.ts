import { Buffer } from 'node:buffer'
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { fencesOf, loadRecord, pairList, withHistoryLog } from '../../testing/history-log-records.ts'
import { temporaryFolder } from '../../testing/temporary-folder.ts'
import { RecordBuilder } from '../bytes/record.js'
import { MergedFences } from '../compaction/merged-fences.js'
import { SharedRecord } from '../lmdb/shared-record.js'
import { decodeChunk, type Pair, recordLevel } from './history-log-record.js'
import { beginCutTransposed, isTransposed, TransposedPair, toPlainChunk } from './transposed-chunk.js'

const DOCS = new URL('../../../../docs/storage.md', import.meta.url)
const EXAMPLE = '80 03 0000000000000005 0007 0301 0201 000000 6162 000201 636465'

const folder = temporaryFolder()
const COMPRESSED = {
  get path() {
    return folder.path
  },
  compressHistory: true,
}

function halves(version: bigint): [high: number, low: number] {
  return [Number(version >> 32n), Number(version & 0xffff_ffffn)]
}

function chunkOf(hex: string): SharedRecord {
  return SharedRecord.over(Buffer.from(hex.replaceAll(' ', ''), 'hex'))
}

it('the codec lays a chunk out as docs/storage.md shows', () => {
  withHistoryLog(COMPRESSED, 0, (store, output) => {
    const pairs = [5n, 7n, 8n].map((version, at): Pair => ({ version, value: Buffer.from(['abc', 'abd', 'abe'][at]!) }))
    output.appendChunks(pairList(pairs), new MergedFences())
    const chunk = loadRecord(store, 0)
    expect(readFileSync(DOCS, 'utf8')).toContain(EXAMPLE)
    expect(chunk.copy(0, chunk.length - 4).toString('hex')).toBe(EXAMPLE.replaceAll(' ', ''))
    expect(recordLevel(chunk)).toBe(0)
    expect(decodeChunk(toPlainChunk(chunk))).toEqual(pairs)
  })
})

const GAP = fc.oneof(fc.constant(1n), fc.bigInt(1n, 100_000n), fc.constantFrom(2n ** 32n - 1n, 2n ** 32n, 2n ** 45n))
/** Lists of values of a few lengths, which change now and then. */
const VALUES = fc
  .array(
    fc.record({
      length: fc.oneof(fc.nat({ max: 40 }), fc.constantFrom(0, 255, 257, 1_399, 1_400)),
      count: fc.oneof(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 400 })),
      isDeleted: fc.boolean(),
    }),
    { minLength: 1, maxLength: 4 },
  )
  .map((parts) =>
    parts.flatMap(({ length, count, isDeleted }) => [
      ...Array.from({ length: count }, (_, at) => Buffer.alloc(length, `${at} of ${length}`)),
      ...(isDeleted ? [null] : []),
    ]),
  )
const PAIRS = fc
  .tuple(VALUES, fc.array(GAP, { minLength: 1, maxLength: 20 }), fc.constantFrom(0n, 2n ** 32n - 5n, 2n ** 53n))
  .map(([values, gaps, first]) => {
    let version = first
    return values.map((value, at): Pair => {
      version += gaps[at % gaps.length]!
      return { version, value }
    })
  })

it('a transposed chunk has what chunks that are not compressed have, each within a page', () => {
  const transposed = new TransposedPair()
  let transposedPairs = 0
  withHistoryLog(COMPRESSED, 5, (store, output) => {
    fc.assert(
      fc.property(PAIRS, (pairs) => {
        const fences = new MergedFences()
        output.appendChunks(pairList(pairs), fences)
        const read = fencesOf(fences).flatMap(({ firstVersion, number }) => {
          const record = loadRecord(store, number)
          expect(record.length).toBeLessThanOrEqual(isTransposed(record) ? 4_014 : 1_900)
          const chunk = decodeChunk(toPlainChunk(record))
          expect(chunk[0]!.version).toBe(firstVersion)
          if (!isTransposed(record)) return chunk
          transposedPairs += chunk.length
          expect(transposed.find(record, ...halves(firstVersion - 1n))).toBe(false)
          for (const [at, { version, value }] of chunk.entries()) {
            const next = chunk[at + 1]?.version ?? version + 2n ** 33n
            for (const asked of [version, next - 1n]) {
              expect(transposed.find(record, ...halves(asked))).toBe(true)
              expect([transposed.versionHigh, transposed.versionLow]).toEqual(halves(version))
              expect(Buffer.from(transposed.bytes.subarray(transposed.valueStart, transposed.valueEnd))).toEqual(value)
            }
          }
          return chunk
        })
        expect(read).toEqual(pairs)
      }),
      { numRuns: 60 },
    )
  })
  expect(transposedPairs).toBeGreaterThan(100)
})

it('a transposed chunk is written only where history is compressed, and values have one length', () => {
  const versions = Array.from({ length: 50 }, (_, at) => BigInt(at))
  const equal = versions.map((version): Pair => ({ version, value: Buffer.from('x') }))
  const first = (one: Pair['value']): Pair[] => [{ version: 0n, value: one }, ...equal.slice(1)]
  const isFirstTransposed = (place: typeof folder, pairs: readonly Pair[]) => {
    let found: boolean | undefined
    withHistoryLog(place, 0, (store, output) => {
      output.appendChunks(pairList(pairs), new MergedFences())
      found = isTransposed(loadRecord(store, 0))
    })
    return found
  }
  expect(isFirstTransposed(COMPRESSED, equal)).toBe(true)
  expect(isFirstTransposed(folder, equal)).toBe(false)
  expect(isFirstTransposed(COMPRESSED, equal.slice(0, 1))).toBe(false)
  for (const other of [null, Buffer.from('xx'), { id: 1, length: 5_000 }, { id: 1, length: 1_500, offset: 0 }]) {
    expect(isFirstTransposed(COMPRESSED, first(other))).toBe(false)
  }
})

it('a transposed chunk is cut after any pair', () => {
  const builder = new RecordBuilder()
  const pairs = Array.from({ length: 60 }, (_, at): Pair => ({ version: BigInt(at * at), value: Buffer.from([at, 7]) }))
  withHistoryLog(COMPRESSED, 0, (store, output) => {
    output.appendChunks(pairList(pairs), new MergedFences())
    const record = loadRecord(store, 0).detach()
    for (let left = 1; left <= pairs.length; left++) {
      beginCutTransposed(builder, record, left)
      expect(decodeChunk(toPlainChunk(SharedRecord.over(builder.seal(0))))).toEqual(pairs.slice(0, left))
    }
  })
})

it('a transposed chunk stores columns once that are equal, unless saying so takes as much', () => {
  const hexOf = (values: readonly string[]) => {
    let hex = ''
    withHistoryLog(COMPRESSED, 0, (store, output) => {
      const pairs = values.map((value, at): Pair => ({ version: BigInt(at) << 24n, value: Buffer.from(value) }))
      output.appendChunks(pairList(pairs), new MergedFences())
      const chunk = loadRecord(store, 0)
      expect(decodeChunk(toPlainChunk(chunk))).toEqual(pairs)
      hex = chunk.copy(0, chunk.length - 4).toString('hex')
    })
    return hex
  }
  const head = (count: string) => `80${count}0000000000000000`
  // With two rows, three equal columns are worth a stretch, and two are not.
  expect(hexOf(['a___b', 'c___d'])).toBe(
    `${head('02')}0009 0001 0301 0301 000000 5f5f5f 0001 6163 6264`.replaceAll(' ', ''),
  )
  expect(hexOf(['a__b', 'c__d'])).toBe(
    `${head('02')}0008 0001 0304 000000 0001 6163 5f5f 5f5f 6264`.replaceAll(' ', ''),
  )
  expect(hexOf(['a__', 'c__'])).toBe(`${head('02')}0007 0001 0303 000000 0001 6163 5f5f 5f5f`.replaceAll(' ', ''))
  expect(hexOf(['a_b', 'c_d', 'e_f'])).toBe(
    `${head('03')}0007 0001 0303 000000 000101 616365 5f5f5f 626466`.replaceAll(' ', ''),
  )
  // A stretch has at most 255 columns of each kind.
  const equal = '_'.repeat(300)
  expect(hexOf([`a${equal}`, `c${equal}`])).toBe(
    `${head('02')}0131 0001 0301 ff00 2d00 000000 ${'5f'.repeat(300)} 0001 6163`.replaceAll(' ', ''),
  )
  expect(hexOf(['ac'.repeat(150), 'ca'.repeat(150)])).toBe(
    `${head('02')}0130 0001 03ff 002d 000000 0001 ${'61636361'.repeat(150)}`.replaceAll(' ', ''),
  )
})

it('a transposed chunk is refused as damaged unless its parts take all of it', () => {
  const sound = '80 02 0000000000000001 0005 0302 000000 0001 4142 00000000'
  expect(decodeChunk(toPlainChunk(chunkOf(sound)))).toEqual([
    { version: 1n, value: Buffer.from('A') },
    { version: 2n, value: Buffer.from('B') },
  ])
  const damaged = [
    sound.replace('80 02', '80 00'),
    sound.replace('80 02', '80 03'),
    sound.replace('80 02', '80 ff'),
    sound.replace('4142', '41'),
    sound.replace('4142', '414243'),
    sound.replace('0005', '0004'),
    sound.replace('0005', '0006'),
    sound.replace('0302', '0303'),
    sound.replace('0302', '0402'),
    sound.replace('0302', '0000'),
    '80 02 0000000000000001 0003 0003 0000 0000 0001 00000000',
    '80 02 0000000000000001 0000 00000000',
    '80 02 0000000000000001 00 00000000',
    // A few bytes would make a row of 65,535 columns.
    `80 ff 0000000000000001 ffff ${'ff00'.repeat(257)} ${'00'.repeat(65_535)} 00000000`,
  ]
  for (const hex of damaged) {
    const corrupt = expect.objectContaining({ code: 'store_corrupt' })
    expect(() => toPlainChunk(chunkOf(hex)), hex.slice(0, 80)).toThrow(corrupt)
    expect(() => new TransposedPair().find(chunkOf(hex), 0, 9)).toThrow(corrupt)
    expect(() => beginCutTransposed(new RecordBuilder(), chunkOf(hex), 1)).toThrow(corrupt)
  }
})
