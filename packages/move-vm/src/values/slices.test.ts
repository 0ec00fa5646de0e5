import { createRandom, type Random, testSeed } from '@ledger-state/testing/random'
import { describe, expect, it } from 'vitest'
import { Meter } from '../budget/meter.js'
import { DEFAULT_BUDGET } from '../budget/view-budget.js'
import { ByteVector } from './byte-vector.js'
import { EqualityTest } from './compare-values.js'
import { ValueCopier } from './copy-value.js'
import { SLICE_BYTES } from './unfinished-parts.js'
import { StructValue, type Value, VectorValue } from './value.js'

// Large values that are copied and compared in slices.

const ROUNDS = 8
const MOST_LEVELS = 5
/** Most bytes that one container of the values below counts; a slice can be longer by that. */
const LARGEST_PART = 20_000

const budget = { ...DEFAULT_BUDGET, bytes: 1 << 30 }

/** Numbers, byte vectors, structs and nested vectors, about a hundred thousand bytes in all. */
function randomValue(random: Random, level = 0): Value {
  const count = 3 + random.below(6)
  const parts = (): Value[] => Array.from({ length: count }, () => randomValue(random, level + 1))
  const kind = level === 0 ? 3 : level === MOST_LEVELS ? random.below(2) : random.below(5)
  if (kind === 0) return random.below(1_000)
  if (kind === 1) return new ByteVector(Uint8Array.from({ length: random.below(40) }, () => random.below(256)))
  return kind === 2
    ? new StructValue(random.below(2), parts())
    : new VectorValue([new StructValue(0, parts()), ...parts()])
}

/** A value as a text; containers that occur in `known` are marked. */
function toText(value: Value, known: ReadonlySet<object> = new Set()): string {
  if (typeof value === 'object' && known.has(value)) return 'shared'
  if (value instanceof ByteVector) return `<${value.view().join()}>`
  if (value instanceof StructValue) return `${value.variant}{${value.fields.map((part) => toText(part, known)).join()}}`
  if (value instanceof VectorValue) return `[${value.items.map((part) => toText(part, known)).join()}]`
  return String(value)
}

function partsOf(value: Value): readonly Value[] {
  return value instanceof StructValue ? value.fields : value instanceof VectorValue ? value.items : []
}

/** All values that a value consists of, itself included. */
function* all(value: Value): Generator<Value> {
  yield value
  for (const part of partsOf(value)) yield* all(part)
}

function copyInSlices(value: Value): { copy: Value; slices: number; longest: number; bytes: number } {
  const meter = new Meter(budget)
  const copier = new ValueCopier(meter)
  const copy = copier.copy(value)
  let [slices, longest] = [1, meter.bytes]
  while (copier.isUnfinished) {
    const before = meter.bytes
    copier.continue()
    slices++
    longest = Math.max(longest, meter.bytes - before)
  }
  return { copy, slices, longest, bytes: meter.bytes }
}

function testInSlices(a: Value, b: Value): { isEqual: boolean; bytes: number } {
  const meter = new Meter(budget)
  const test = new EqualityTest(meter)
  let isEqual = test.begin(a, b)
  while (test.isUnfinished) isEqual = test.continue()
  return { isEqual, bytes: meter.bytes }
}

/** Changes one leaf; returns a function that changes it back. */
function changeLeaf(random: Random, value: Value): () => void {
  const holders = [...all(value)].filter((one) => partsOf(one).some((part) => typeof part === 'number'))
  const parts = partsOf(random.pick(holders)) as Value[]
  const at = random.pick([...parts.keys()].filter((one) => typeof parts[one] === 'number'))
  const leaf = parts[at]!
  parts[at] = 1_000
  return () => {
    parts[at] = leaf
  }
}

describe('large values', () => {
  const seed = testSeed()

  it(`are copied in slices of bounded bytes, and share nothing with their copies (seed ${seed})`, () => {
    const random = createRandom(seed)
    let slices = 0
    for (let round = 0; round < ROUNDS; round++) {
      const value = randomValue(random)
      const copied = copyInSlices(value)
      const containers = new Set([...all(value)].filter((one) => typeof one === 'object'))
      expect(toText(copied.copy, containers)).toBe(toText(value))
      expect(copied.longest).toBeLessThan(SLICE_BYTES + LARGEST_PART)
      slices = Math.max(slices, copied.slices)
    }
    expect(slices).toBeGreaterThan(3)
  })

  it(`are compared in slices as in one piece (seed ${seed})`, () => {
    const random = createRandom(seed)
    for (let round = 0; round < ROUNDS; round++) {
      const value = randomValue(random)
      const { copy } = copyInSlices(value)
      const whole = testInSlices(value, copy)
      expect(whole.isEqual).toBe(true)
      const changeBack = changeLeaf(random, copy)
      const different = testInSlices(value, copy)
      expect(different.isEqual).toBe(false)
      expect(different.bytes).toBeLessThanOrEqual(whole.bytes)
      changeBack()
      expect(testInSlices(value, copy)).toEqual(whole)
    }
  })

  it('of plain elements are compared to their ends', () => {
    const numbers = Array.from({ length: 50_000 }, (_, at) => at)
    for (const changed of [0, 8_191, 8_192, 49_999]) {
      const others = numbers.with(changed, 1_000_000)
      expect(testInSlices(new VectorValue(numbers), new VectorValue(others)).isEqual, `${changed}`).toBe(false)
    }
    expect(testInSlices(new VectorValue(numbers), new VectorValue([...numbers])).isEqual).toBe(true)
  })
})
