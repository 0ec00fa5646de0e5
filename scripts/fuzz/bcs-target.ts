import { ByteWriter, codecOf, INTEGER_WIDTH, type Layout, parseJson } from '@ledger-state/bcs'
import { createValueCodec } from '@ledger-state/bcs/values'
import { createRandom, type Random } from '@ledger-state/testing/random'
import { assert, expectOwnError, mutate, type Target, untilLong } from './target.ts'

function generateLayout(random: Random, depth: number): Layout {
  const leaf = depth > 3 || random.below(2) === 0
  if (leaf)
    return {
      kind: random.pick([...Object.keys(INTEGER_WIDTH), 'bool', 'address', 'string', 'object', 'function']),
    } as Layout
  const inner = () => generateLayout(random, depth + 1)
  const fields = () =>
    Array.from({ length: random.below(4) }, (_, at) => ({
      name: `${random.pick(['a', '_', 'Z'])}${at}`,
      layout: inner(),
    }))
  switch (random.below(5)) {
    case 0:
      return { kind: 'vector', element: inner() }
    case 1:
      return { kind: 'option', declaredAs: random.pick(['struct', 'enum']), element: inner() }
    case 2:
      return { kind: 'map', key: inner(), value: inner() }
    case 3:
      return {
        kind: 'enum',
        name: 'E',
        variants: Array.from({ length: 1 + random.below(3) }, (_, at) => ({ name: `V${at}`, fields: fields() })),
      }
    default:
      return { kind: 'struct', name: 'S', fields: fields() }
  }
}

const LAYOUT_SEEDS = 500
const LAYOUTS = Array.from({ length: LAYOUT_SEEDS }, (_, seed) => generateLayout(createRandom(seed * 7919 + 1), 0))
/** Layouts of lists, which come after the other layouts. */
const LISTS = LAYOUTS.map((element): Layout => ({ kind: 'vector', element }))
const ALL_LAYOUTS = [...LAYOUTS, ...LISTS]

function generateValue(random: Random, layout: Layout, into: number[]): void {
  const some = (count: number) => {
    for (let at = 0; at < count; at++) into.push(random.below(256))
  }
  switch (layout.kind) {
    case 'bool':
      into.push(random.below(2))
      break
    case 'address':
    case 'object':
      some(32)
      break
    case 'string': {
      const count = random.below(9)
      into.push(count)
      for (let at = 0; at < count; at++) into.push(32 + random.below(random.below(9) === 0 ? 224 : 95))
      break
    }
    case 'vector':
    case 'option':
    case 'map': {
      const count = random.below(layout.kind === 'option' ? 2 : 4)
      into.push(count)
      const parts = layout.kind === 'map' ? [layout.key, layout.value] : [layout.element]
      for (let at = 0; at < count; at++) for (const part of parts) generateValue(random, part, into)
      break
    }
    case 'struct':
      for (const field of layout.fields) generateValue(random, field.layout, into)
      break
    case 'enum': {
      const index = random.below(layout.variants.length)
      into.push(index)
      for (const field of layout.variants[index]!.fields) generateValue(random, field.layout, into)
      break
    }
    case 'function':
      into.push(7, 1, 0)
      some(32)
      into.push(1, 109, 1, 102, 0, 1, 0, 0, 0, 0, 0, 0, 0, random.below(6))
      some(random.below(9))
      break
    default:
      some(INTEGER_WIDTH[layout.kind]?.bytes ?? 1)
  }
}

/** Values of random layouts. The first two bytes of an input are the number of its layout. */
export const bcsTarget: Target = {
  name: 'bcs',
  generate(random) {
    const seed = random.below(LAYOUT_SEEDS)
    const value: number[] = []
    generateValue(random, LAYOUTS[seed]!, value)
    const bytes = random.below(2) === 0 ? mutate(random, Uint8Array.from(value)) : value
    return Uint8Array.of(seed & 255, seed >> 8, ...bytes)
  },
  generateLong(random, size) {
    const seed = random.below(LAYOUT_SEEDS)
    const values = untilLong(size, () => {
      const value: number[] = []
      generateValue(random, LAYOUTS[seed]!, value)
      return value
    })
    const list = LAYOUT_SEEDS + seed
    const writer = new ByteWriter().u16(list).uleb128(values.length)
    for (const value of values) writer.bytes(Uint8Array.from(value))
    return writer.toBytes()
  },
  check(input) {
    const layout = ALL_LAYOUTS[(input[0]! | (input[1]! << 8)) % ALL_LAYOUTS.length]!
    const codec = codecOf(layout)
    const values = createValueCodec(layout)
    const bytes = input.subarray(2)
    let text: string
    try {
      text = codec.bytesToJson(bytes)
    } catch (error) {
      expectOwnError(error, 'invalid_bcs')
      return
    }
    JSON.parse(text)
    assert(
      Buffer.compare(values.valueToBytes(values.bytesToValue(bytes)), bytes) === 0,
      'the value is not written back as it was',
    )
    try {
      codec.jsonToBytes(parseJson(text))
    } catch (error) {
      expectOwnError(error, 'invalid_value', 'unsupported_type')
    }
  },
}
