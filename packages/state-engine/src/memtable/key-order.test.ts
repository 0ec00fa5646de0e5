import { createRandom, testSeed } from '@ledger-state/testing/random'
import { expect, it } from 'vitest'
import { KeyOrder, THREAD_STEP_KEYS } from './key-order.js'

const SEED = testSeed()

it.each([1, 7, 64, THREAD_STEP_KEYS])(
  `keys are in the order of their bytes, as they are added, in steps of %i (TEST_SEED=${SEED})`,
  (stepKeys) => {
    const random = createRandom(SEED)
    for (let round = 0; round < 20; round++) {
      // Keys that are the beginning of others, that differ late, and that have zeros at their ends.
      const beginning = Buffer.alloc(random.below(90), random.below(256))
      const keyOf = () => {
        const end = Buffer.from(Array.from({ length: random.below(9) }, () => random.below(round % 2 === 0 ? 3 : 256)))
        return Buffer.concat([beginning.subarray(0, random.below(4) === 0 ? random.below(90) : 90), end])
      }
      const keys = new Map<string, Buffer>()
      const ends = [0]
      let bytes = Buffer.alloc(0)
      const order = new KeyOrder({
        get keyCount() {
          return ends.length - 1
        },
        get bytes() {
          return bytes
        },
        startOfKey: (key) => ends[key]!,
        endOfKey: (key) => ends[key + 1]!,
      })
      for (let turn = 0; turn < 4; turn++) {
        for (let count = random.below(150); count > 0; count--) {
          const key = keyOf()
          if (keys.has(key.toString('latin1'))) continue
          keys.set(key.toString('latin1'), key)
          bytes = Buffer.concat([bytes, key])
          ends.push(bytes.length)
        }
        const keyAt = (key: number) => bytes.subarray(ends[key], ends[key + 1])
        const expectSorted = () =>
          expect(hexOf(order.sorted())).toEqual(
            [...keys.values()].toSorted(Buffer.compare).map((key) => key.toString('hex')),
          )
        const hexOf = (numbers: Iterable<number>) => [...numbers].map((key) => keyAt(key).toString('hex'))
        // Runs are each in order, have each key once, and are few.
        const expectRuns = () => {
          const runs = order.runs()
          for (const run of runs) expect(hexOf(run)).toEqual(hexOf(run).toSorted())
          expect(runs.flatMap((run) => [...run]).toSorted((a, b) => a - b)).toEqual(
            [...keys.keys()].map((_, key) => key),
          )
          expect(runs.length).toBeLessThanOrEqual(Math.log2(keys.size + 1) + 1)
        }
        // Others sort in steps, too, or all at once, between any two steps.
        const others = Array.from({ length: random.below(3) }, () => order.steps(random.pick([1, 5, stepKeys])))
        const isScanned = random.below(2) === 0
        for (const _ of order.steps(stepKeys)) {
          for (const other of others) if (random.below(2) === 0) other.next()
          if (isScanned && random.below(20) === 0) random.below(2) === 0 ? expectSorted() : expectRuns()
        }
        expectRuns()
        expectSorted()
        for (const other of others) if (random.below(2) === 0) for (const _ of other);
        expectSorted()
      }
    }
  },
)
