import fc from 'fast-check'
import { expect, it } from 'vitest'
import { decodeCommitMark, encodeCommitMark, WRITES_HASH_LENGTH } from './commit-mark.js'

const optional = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: undefined })
const hashes = fc.uint8Array({ minLength: WRITES_HASH_LENGTH, maxLength: WRITES_HASH_LENGTH })
const u64s = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })
const powers = fc.record({ signed: u64s, total: u64s })
const waypoints = u64s.map((version) => `${version}:${'0a'.repeat(32)}`)
const sources = fc.uint8Array({ minLength: 1 })
const points = fc.record({ source: optional(sources), writesHash: optional(hashes), wholeHash: optional(hashes) })
const ranges = fc.record(
  {
    version: u64s,
    waypoint: waypoints,
    ending: waypoints,
    epoch: u64s,
    power: optional(powers),
    resume: points,
  },
  { requiredKeys: ['version', 'waypoint', 'ending', 'epoch', 'power'] },
)
const contradictions = fc.record({ version: u64s, epoch: u64s })
const rangesOfLedger = fc.record({ from: u64s, to: u64s, before: optional(sources), kept: fc.nat({ max: 255 }) })
const marks = fc.record({
  isUnproven: fc.boolean(),
  source: optional(sources),
  writesHash: optional(hashes),
  wholeHash: optional(hashes),
  hashSalt: optional(fc.string({ unit: 'grapheme' })),
  signed: optional(ranges),
  contradicted: optional(contradictions),
  pending: fc.array(fc.tuple(fc.uint8Array(), fc.uint8Array()), { maxLength: 4 }),
  range: optional(rangesOfLedger),
})

it('a mark is read as it was written', () => {
  fc.assert(
    fc.property(marks, (mark) => {
      expect(decodeCommitMark(Uint8Array.from(encodeCommitMark(mark)))).toEqual(mark)
    }),
  )
})

it.each([undefined, new Uint8Array(0), new Uint8Array(100), new TextEncoder().encode('LSMARK\0\x01')])(
  'a mark that no ingest made says nothing',
  (mark) => {
    expect(decodeCommitMark(mark)).toEqual({
      isUnproven: true,
      source: undefined,
      writesHash: undefined,
      wholeHash: undefined,
      hashSalt: undefined,
      signed: undefined,
      contradicted: undefined,
      pending: [],
    })
  },
)
