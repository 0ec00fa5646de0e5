import { ByteReader } from '@ledger-state/core'
import { createRandom } from '@ledger-state/testing/random'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { Meter } from '../budget/meter.js'
import { completeBudget } from '../budget/view-budget.js'
import { VmFault } from '../faults/vm-fault.js'
import { LAYOUT, plainLayout, type RuntimeLayout, structLayout } from '../types/runtime-layout.js'
import { StructValue, type Value } from '../values/value.js'
import { type ClosureReader, ValueDecoder } from './decode-value.js'
import { decodeFixedStruct, UNREAD_BYTES } from './fixed-struct.js'

const NO_CLOSURES = {} as ClosureReader
const UNSIGNED = [0, 1, 2, 3, 4, 5]

const { struct } = fc.letrec<{ part: RuntimeLayout; struct: RuntimeLayout }>((tie) => ({
  part: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(...UNSIGNED, LAYOUT.bool, LAYOUT.address).map((kind) => plainLayout(kind)),
    tie('struct'),
  ),
  struct: fc.array(tie('part'), { minLength: 1, maxLength: 5 }).map((parts) => structLayout(parts)),
}))

const widthOf = ({ kind, parts }: RuntimeLayout): number => {
  if (kind === LAYOUT.struct) return parts.reduce((sum, part) => sum + widthOf(part), 0)
  return kind === LAYOUT.bool ? 1 : kind === LAYOUT.address ? 32 : 2 ** kind
}

const structsIn = ({ kind, parts }: RuntimeLayout): number =>
  parts.reduce((sum, part) => sum + structsIn(part), kind === LAYOUT.struct ? 1 : 0)

/** Bytes of small and of large numbers. Now and then one is not 0 or 1 where a `bool` is, or the length is wrong. */
const encoded = struct.chain((layout) =>
  fc
    .record({
      bytes: fc.uint8Array({ minLength: widthOf(layout), maxLength: widthOf(layout) }),
      largest: fc.constantFrom(1, 1, 2, 255),
      longer: fc.constantFrom(0, 0, 0, 0, 1, -1),
    })
    .map(({ bytes, largest, longer }) => {
      const all = new Uint8Array(bytes.length + longer)
      for (let at = 0; at < all.length; at++) all[at] = (bytes[at] ?? 0) % (largest + 1)
      return { layout, bytes: all }
    }),
)

function outcomeOf(mostBytes: number, decode: (meter: Meter) => Value | undefined) {
  const meter = new Meter(completeBudget({ bytes: mostBytes }))
  try {
    const value = decode(meter)
    return { value, bytes: meter.bytes }
  } catch (error) {
    if (error instanceof VmFault) return { fault: error.status, bytes: meter.bytes }
    throw error
  }
}

function plain(value: Value): unknown {
  return value instanceof StructValue ? value.fields.map(plain) : value
}

/** The same. Fields are looked at in a random order, one by one or at once. */
function plainByParts(value: Value, { parts }: RuntimeLayout, random: ReturnType<typeof createRandom>): unknown {
  if (!(value instanceof StructValue)) return value
  const found: unknown[] = []
  for (const index of random.shuffled([...parts.keys()])) {
    const fields = random.below(8) === 0 ? value.fields : value.fieldsFor(index)
    found[index] = plainByParts(fields[index]!, parts[index]!, random)
  }
  return found
}

it('a struct of a fixed length has the value and the faults of one that is decoded at once, and its charge and a fixed one', () => {
  let decoded = 0
  fc.assert(
    fc.property(encoded, fc.integer(), fc.nat(4_000), ({ layout, bytes }, seed, mostBytes) => {
      const random = createRandom(seed)
      const further = UNREAD_BYTES.reader + UNREAD_BYTES.struct * structsIn(layout)
      for (const most of [mostBytes, 1e9]) {
        const expected = outcomeOf(Math.max(most - further, 0), (meter) => {
          return new ValueDecoder(new ByteReader(bytes), layout, meter, NO_CLOSURES).continue()!.result
        })
        const found = outcomeOf(most, (meter) => decodeFixedStruct(new ByteReader(bytes), layout, meter))
        if (found.value === undefined && found.fault === undefined) {
          expect(found.bytes).toBe(0)
          // Its form takes too much, or the bytes are not a value.
          expect(layout.nodes > 128 || expected.value === undefined).toBe(true)
          continue
        }
        const charged = expected.fault === undefined ? expected.bytes + further : most
        expect([found.fault, found.bytes]).toEqual([expected.fault, charged])
        if (found.value === undefined) continue
        decoded++
        expect(plainByParts(found.value, layout, random)).toEqual(plain(expected.value!))
      }
    }),
  )
  expect(decoded).toBeGreaterThan(20)
})

it('a field that was written keeps its new value when others are looked at', () => {
  const layout = structLayout([plainLayout(3), structLayout([plainLayout(0)])])
  const value = decodeFixedStruct(
    new ByteReader(Uint8Array.of(7, 0, 0, 0, 0, 0, 0, 0, 9)),
    layout,
    new Meter(completeBudget()),
  )!
  value.fieldsFor(0)[0] = 8
  expect((value.fieldsFor(1)[1] as StructValue).fields).toEqual([9])
  expect(value.fields[0]).toBe(8)
})

it('structs within structs take memory in proportion to their parts', () => {
  const longs = structLayout(Array.from({ length: 60 }, () => plainLayout(3)))
  const levels = [longs]
  while (levels.length < 60) levels.push(structLayout([levels.at(-1)!]))
  const root = levels.at(-1)!
  const value = decodeFixedStruct(new ByteReader(new Uint8Array(480).fill(1)), root, new Meter(completeBudget()))
  const entriesIn = (part: unknown): number => {
    if (Array.isArray(part)) return part.reduce((sum, one) => sum + 1 + entriesIn(one), 0)
    return typeof part === 'object' && part !== null ? entriesIn(Object.values(part)) : 0
  }
  expect(value).toBeDefined()
  expect(levels.reduce((sum, { fixed }) => sum + entriesIn(fixed), 0)).toBeLessThan(10 * root.nodes)
})
