import { LedgerStateError } from '@ledger-state/core'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { ChangeSampler } from './change-sampler.js'
import type { Change } from './history.js'

const ERROR = new LedgerStateError('invalid_bcs', 'cannot be read')

/** Changes with a few equal values and high peaks between them; some cannot be read. */
const histories = fc
  .uniqueArray(
    fc.tuple(fc.bigInt(0n, 400n), fc.oneof(fc.bigInt(0n, 5n), fc.bigInt(0n, 2n ** 128n), fc.constant(undefined))),
    { selector: ([version]) => version, maxLength: 200 },
  )
  .map((all) => all.toSorted(([a], [b]) => Number(a - b)))
  .map((all) => all.map(([version, value]) => changeAt(version, value)))

function changeAt(version: bigint, value: bigint | undefined): Change<bigint> {
  const moment = { version, timestampUsec: version }
  return value === undefined ? { ...moment, error: ERROR } : { ...moment, value }
}

const ranges = fc.record({
  first: fc.bigInt(0n, 100n),
  length: fc.bigInt(0n, 400n),
  points: fc.integer({ min: 4, max: 64 }),
})

function sample(changes: readonly Change<bigint>[], first: bigint, last: bigint, points: number): Change<bigint>[] {
  const sampler = new ChangeSampler<bigint>({ first, last, points })
  for (const change of changes) sampler.add(change, (value) => value)
  return [...sampler.kept()]
}

it('a ChangeSampler keeps of each bucket the first change, or the first that cannot be read, the last and both extremes, and no more', () => {
  fc.assert(
    fc.property(histories, ranges, fc.boolean(), (ascending, { first, length, points }, isDescending) => {
      const last = first + length
      const changes = isDescending ? ascending.toReversed() : ascending
      const kept = sample(changes, first, last, points)
      expect(kept.length).toBeLessThanOrEqual(points)
      expect(changes.filter((change) => kept.includes(change))).toEqual(kept)
      const buckets = Math.floor(points / 4)
      const clamp = (version: bigint) => (version < first ? first : version > last ? last : version)
      for (let at = 0; at < buckets; at++) {
        const isHere = ({ version }: Change<bigint>): boolean =>
          Number(((clamp(version) - first) * BigInt(buckets)) / (last - first + 1n)) === at
        const [all, here] = [changes.filter(isHere), kept.filter(isHere)]
        if (length < BigInt(buckets)) continue
        const shown = all.find(({ error }) => error) ?? all[0]
        expect(here.includes(shown!) || all.length === 0).toBe(true)
        expect(here.at(-1)).toBe(all.at(-1))
        for (const extreme of [min, max]) expect(extreme(here)).toBe(extreme(all))
      }
    }),
  )
})

it('a ChangeSampler loses no peak between any two versions that a bucket separates, whatever the order and the pages', () => {
  fc.assert(
    fc.property(histories, fc.integer({ min: 4, max: 64 }), fc.nat(200), (changes, points, cut) => {
      const whole = sample(changes, 0n, 400n, points)
      const pages = [
        ...sample(changes.slice(0, cut), 0n, 400n, points),
        ...sample(changes.slice(cut), 0n, 400n, points),
      ]
      for (const extreme of [min, max]) {
        expect(extreme(whole)).toBe(extreme(changes))
        expect(extreme(pages)).toBe(extreme(changes))
      }
    }),
  )
})

function min(changes: readonly Change<bigint>[]): bigint | undefined {
  return valuesOf(changes).reduce<bigint | undefined>((a, b) => (a === undefined || b < a ? b : a), undefined)
}

function max(changes: readonly Change<bigint>[]): bigint | undefined {
  return valuesOf(changes).reduce<bigint | undefined>((a, b) => (a === undefined || b > a ? b : a), undefined)
}

function valuesOf(changes: readonly Change<bigint>[]): bigint[] {
  return changes.flatMap(({ value }) => (value === undefined ? [] : [value]))
}
