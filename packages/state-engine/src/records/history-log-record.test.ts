import { Buffer } from 'node:buffer'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { fencesOf, loadRecord, pairList, withHistoryLog } from '../../testing/history-log-records.ts'
import { temporaryFolder } from '../../testing/temporary-folder.ts'
import { MergedFences } from '../compaction/merged-fences.js'
import { countPairsAtMost, decodeChunk, decodeNode, type Pair, pairPayload, recordLevel } from './history-log-record.js'

const folder = temporaryFolder()

it('the codec of the history log lays a chunk and a node out to the byte', () => {
  withHistoryLog(folder, 0x0102_0304_0506, (store, output) => {
    const fences = new MergedFences()
    const pairs: Pair[] = [
      { version: 0xffff_ffffn, value: Buffer.from('one') },
      { version: 0x1_0000_0001n, value: null },
      { version: 0x1_0000_0002n, value: { id: 7, length: 5_000 } },
      { version: 0x1_0000_0003n, value: { id: 8, frame: 70_000, start: 12_000, length: 1_500 } },
    ]
    output.appendChunks(pairList(pairs), fences)
    const chunk = loadRecord(store, 0x0102_0304_0506)
    expect(chunk.copy(0, chunk.length).subarray(0, -4).toString('hex')).toBe(
      '00 04 00000000ffffffff 00000000 000c 00000002 000d 00000003 0036 00000004 0077 6f6e65 00000000000700001388 000000000008000005dc000111702ee0'.replaceAll(
        ' ',
        '',
      ),
    )
    output.appendNode(1, fences, 0, 1)
    const node = loadRecord(store, 0x0102_0304_0507)
    expect(node.copy(0, node.length).subarray(0, -4).toString('hex')).toBe(
      '01 01 00000000ffffffff 00 010203040506'.replaceAll(' ', ''),
    )
    expect(decodeNode(node, 1)).toEqual(fencesOf(fences))
  })
})

const VALUE: fc.Arbitrary<Pair['value']> = fc.oneof(
  fc.constant(null),
  fc.uint8Array({ maxLength: 60 }).map((value) => Buffer.from(value)),
  fc.nat({ max: 1_400 }).map((length) => Buffer.alloc(length, length)),
  fc.record({ id: fc.nat({ max: 2 ** 40 }), length: fc.integer({ min: 1_401, max: 2 ** 24 }) }),
  fc.record({
    id: fc.nat(),
    frame: fc.nat({ max: 2 ** 25 }),
    start: fc.nat({ max: 2 ** 14 }),
    length: fc.integer({ min: 1_401, max: 2 ** 24 }),
  }),
)
const GAP = fc.oneof(fc.constant(1n), fc.bigInt(1n, 1_000n), fc.constantFrom(2n ** 32n - 1n, 2n ** 32n, 2n ** 45n))

it('the codec of the history log reads chunks as they were written, each within its length', () => {
  const input = fc.array(fc.tuple(GAP, VALUE), { minLength: 1, maxLength: 600 })
  withHistoryLog(folder, 5, (store, output) => {
    fc.assert(
      fc.property(input, fc.constantFrom(0n, 2n ** 32n - 5n, 2n ** 53n), (drawn, first) => {
        let version = first
        const pairs: Pair[] = []
        for (const [gap, value] of drawn) {
          version += gap
          pairs.push({ version, value })
        }
        const fences = new MergedFences()
        output.appendChunks(pairList(pairs), fences)
        const read = fencesOf(fences).flatMap(({ firstVersion, number }) => {
          const record = loadRecord(store, number)
          const chunk = decodeChunk(record)
          expect(recordLevel(record)).toBe(0)
          expect(record.length).toBeLessThanOrEqual(1_900)
          expect(chunk[0]!.version).toBe(firstVersion)
          for (const [at, { version, value }] of chunk.entries()) {
            for (const delta of [-1n, 0n, 1n]) {
              const asked = version + delta
              if (asked < firstVersion) continue
              const expected = chunk.filter((other) => other.version <= asked).length
              expect(countPairsAtMost(record, Number(asked >> 32n), Number(asked & 0xffff_ffffn))).toBe(expected)
            }
            expect(pairPayload(record, at)).toBe(value?.length ?? 0)
          }
          return chunk
        })
        expect(read).toEqual(pairs)
      }),
      { numRuns: 60 },
    )
  })
})
