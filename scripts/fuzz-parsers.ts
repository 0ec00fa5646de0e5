// Feeds generated and mutated input to the three parsers that face the world: type tag texts, BCS values, module
// binaries. Checks that they answer with a result that reads back, or with their own error, and never take long.
// Every find is added to testing/fuzz-finds.json, which each run replays first.
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { codecOf, INTEGER_WIDTH, type Layout, parseJson } from '@ledger-state/bcs'
import { createValueCodec } from '@ledger-state/bcs/values'
import { bytesToHex, hexToBytes, isLedgerStateError } from '@ledger-state/core'
import {
  layoutOf,
  type MoveModule,
  readModule,
  type SignatureToken,
  type StructDefinition,
  writeModule,
} from '@ledger-state/move-module'
import { PRIMITIVE_TYPES, parseTypeTag, typeTagToText } from '@ledger-state/type-tag'

const HELP = `Usage: pnpm fuzz [--minutes N] [--seed N]
       pnpm fuzz-engine --help

Fuzzes the parsers of type tags, BCS values and Move modules for N minutes (default 2).
`
const FINDS = new URL('./fuzz-finds.json', import.meta.url)
/** Far above what any input of these sizes costs; garbage collection and a busy machine stay below it, too. */
const SLOW_MS = 500

/** Whole numbers below a bound, the same sequence for the same seed (xorshift32). */
class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed | 0 || 1
  }

  below(bound: number): number {
    this.#state ^= this.#state << 13
    this.#state ^= this.#state >>> 17
    this.#state ^= this.#state << 5
    return (this.#state >>> 0) % bound
  }

  pick<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)]!
  }
}

interface Target {
  readonly name: string
  generate(random: Random): Uint8Array
  /** Throws what is a find. */
  check(input: Uint8Array): void
}

function expectOwnError(error: unknown, ...codes: string[]): void {
  if (!isLedgerStateError(error, ...codes)) throw error
}

function assert(condition: boolean, what: string): void {
  if (!condition) throw new Error(what)
}

/** Some bytes changed, cut, doubled or taken from elsewhere. */
function mutate(random: Random, bytes: Uint8Array): Uint8Array {
  let mutated = Uint8Array.from(bytes)
  for (let change = random.below(4); change > 0 && mutated.length > 0; change--) {
    const at = random.below(mutated.length)
    switch (random.below(5)) {
      case 0:
        mutated[at] = random.below(256)
        break
      case 1:
        mutated[at]! ^= 1 << random.below(8)
        break
      case 2:
        mutated = mutated.subarray(0, at)
        break
      case 3:
        mutated = Uint8Array.of(...mutated.subarray(0, at), ...mutated.subarray(random.below(at + 1)))
        break
      default:
        mutated[at] = random.pick([0, 1, 0x7f, 0x80, 0xff])
    }
  }
  return mutated
}

// ── type tags

const TOKENS = [
  'vector',
  '<',
  '>',
  '::',
  ':',
  ',',
  ' ',
  '\t',
  '0x1',
  '0X0a',
  '0x',
  'u8',
  'u256',
  'i64',
  'bool',
  'coin',
  '_',
  '_a',
  '$',
  '&',
  '&mut ',
  '|',
  'é',
  '\u{1f600}',
]

function generateTypeText(random: Random, depth: number): string {
  const space = () => random.pick(['', '', '', ' ', '\n'])
  switch (depth > 10 ? 0 : random.below(4)) {
    case 0:
      return random.pick(PRIMITIVE_TYPES)
    case 1:
      return `vector${space()}<${generateTypeText(random, depth + 1)}${space()}>`
    default: {
      const inner = Array.from({ length: random.below(3) }, () => generateTypeText(random, depth + 1))
      const generics =
        inner.length > 0 || random.below(8) === 0
          ? `${random.pick(['', '', '::'])}<${inner.join(`,${space()}`)}${random.pick(['', ','])}>`
          : ''
      return `0x${random.below(1000).toString(16)}${space()}::m${random.below(9)}::S${generics}`
    }
  }
}

const typeTagTarget: Target = {
  name: 'type-tag',
  generate(random) {
    const text =
      random.below(3) === 0
        ? Array.from({ length: random.below(20) }, () => random.pick(TOKENS)).join('')
        : generateTypeText(random, 0)
    const bytes = Buffer.from(text)
    return random.below(2) === 0 ? mutate(random, bytes) : bytes
  },
  check(input) {
    const text = Buffer.from(input).toString('utf8')
    try {
      const canonical = typeTagToText(parseTypeTag(text))
      assert(typeTagToText(parseTypeTag(canonical)) === canonical, 'the canonical text does not read back')
    } catch (error) {
      expectOwnError(error, 'invalid_type_tag')
    }
  },
}

// ── BCS values, of layouts that stand before them in the input as the seed that makes them

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
const LAYOUTS = Array.from({ length: LAYOUT_SEEDS }, (_, seed) => generateLayout(new Random(seed * 7919 + 1), 0))

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

const bcsTarget: Target = {
  name: 'bcs',
  generate(random) {
    const seed = random.below(LAYOUT_SEEDS)
    const value: number[] = []
    generateValue(random, LAYOUTS[seed]!, value)
    const bytes = random.below(2) === 0 ? mutate(random, Uint8Array.from(value)) : value
    return Uint8Array.of(seed & 255, seed >> 8, ...bytes)
  },
  check(input) {
    const layout = LAYOUTS[(input[0]! | (input[1]! << 8)) % LAYOUT_SEEDS]!
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

// ── modules

function generateToken(random: Random, depth: number): SignatureToken {
  const inner = () => generateToken(random, depth + 1)
  switch (depth > 4 ? 0 : random.below(6)) {
    case 1:
      return { kind: 'vector', element: inner() }
    case 2:
      return { kind: 'typeParameter', index: random.below(3) }
    case 3:
      return {
        kind: 'struct',
        module: { address: new Uint8Array(32), name: 'm' },
        name: `S${random.below(5)}`,
        typeArguments: Array.from({ length: random.below(3) }, inner),
      }
    case 4:
      return random.below(4) === 0
        ? { kind: 'function', abilities: random.below(16), parameters: [inner()], results: [] }
        : { kind: 'bool' }
    default:
      return { kind: random.pick(PRIMITIVE_TYPES) }
  }
}

function generateModule(random: Random): MoveModule {
  const fields = () =>
    Array.from({ length: random.below(4) }, (_, at) => ({ name: `f${at}`, type: generateToken(random, 0) }))
  const structs = Array.from({ length: 5 }, (_, at): StructDefinition => {
    const definition = {
      name: `S${at}`,
      abilities: random.below(16),
      typeParameters: Array.from({ length: random.below(3) }, () => ({
        constraints: 0,
        phantom: random.below(2) === 0,
      })),
    }
    return random.below(2) === 0
      ? { ...definition, kind: 'struct', fields: fields() }
      : {
          ...definition,
          kind: 'enum',
          variants: [
            { name: 'A', fields: fields() },
            { name: 'B', fields: [] },
          ],
        }
  })
  return { version: 9 + random.below(2), address: new Uint8Array(32), name: 'm', structs }
}

const moduleTarget: Target = {
  name: 'module',
  generate: (() => {
    let binary = new Uint8Array(0)
    let uses = 0
    return (random: Random) => {
      // A module is mutated several times before a new one is made: making one costs more than reading it.
      if (uses-- <= 0) {
        binary = Uint8Array.from(writeModule(generateModule(random)))
        uses = 16
      }
      return mutate(random, binary)
    }
  })(),
  check(input) {
    let module: MoveModule
    try {
      module = readModule(input)
    } catch (error) {
      expectOwnError(error, 'invalid_module')
      return
    }
    for (const { name, typeParameters } of module.structs) {
      const typeArguments = typeParameters.map(() => ({ kind: 'u8' as const }))
      try {
        layoutOf({ kind: 'struct', address: module.address, module: module.name, name, typeArguments }, () => module)
      } catch (error) {
        expectOwnError(error, 'struct_not_found', 'type_argument_count', 'unsupported_type', 'type_too_large')
      }
    }
  },
}

const TARGETS: readonly Target[] = [typeTagTarget, bcsTarget, moduleTarget]

interface Find {
  readonly target: string
  readonly input: string
  readonly why: string
}

/** Undefined where all is well. A slow input must be slow three times to count. */
function tryInput(target: Target, input: Uint8Array): string | undefined {
  for (let attempt = 0; ; attempt++) {
    const began = performance.now()
    try {
      target.check(input)
    } catch (error) {
      return error instanceof Error ? `${error.name}: ${error.message}` : String(error)
    }
    if (performance.now() - began < SLOW_MS) return undefined
    if (attempt === 2) return `took more than ${SLOW_MS} ms`
  }
}

interface Job {
  readonly seed: number
  readonly minutes: number
}

interface Result {
  readonly count: number
  readonly finds: readonly Find[]
}

/** Fuzzes all targets in turn; gives up after ten finds. */
function fuzz({ seed, minutes }: Job): Result {
  const random = new Random(seed)
  const until = performance.now() + minutes * 60_000
  const finds: Find[] = []
  let count = 0
  while (performance.now() < until && finds.length < 10) {
    for (const target of TARGETS) {
      for (let batch = 0; batch < 1_000; batch++) {
        const input = target.generate(random)
        const why = tryInput(target, input)
        count++
        if (why !== undefined) finds.push({ target: target.name, input: bytesToHex(input), why })
      }
    }
  }
  return { count, finds }
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { minutes: { type: 'string' }, seed: { type: 'string' }, help: { type: 'boolean' } },
    allowPositionals: true,
  })
  if (values.help) {
    process.stdout.write(HELP)
    return
  }
  const former = JSON.parse(readFileSync(FINDS, 'utf8')) as Find[]
  const failing = former.filter(
    ({ target, input }) => tryInput(TARGETS.find(({ name }) => name === target)!, hexToBytes(input)) !== undefined,
  )
  console.log(`${former.length} former finds replayed, ${failing.length} of them fail`)

  const seed = Number(values.seed ?? Date.now() & 0x7fff_ffff)
  const jobs = Array.from(
    { length: availableParallelism() },
    (_, at): Job => ({ seed: seed + at * 1_000_003, minutes: Number(values.minutes ?? 2) }),
  )
  console.log(`seed ${seed}, ${jobs.length} threads`)
  const results = await Promise.all(
    jobs.map(async (workerData) => {
      const [result] = await once(new Worker(new URL(import.meta.url), { workerData }), 'message')
      return result as Result
    }),
  )
  const fresh = results.flatMap(({ finds }) => finds)
  for (const find of fresh) console.log(`find: ${JSON.stringify(find)}`)
  const count = results.reduce((sum, result) => sum + result.count, 0)
  console.log(`${count.toLocaleString('en-US')} inputs, ${fresh.length} finds`)
  if (fresh.length > 0) writeFileSync(FINDS, `${JSON.stringify([...former, ...fresh], null, 2)}\n`)
  if (fresh.length + failing.length > 0) process.exitCode = 1
}

if (isMainThread) await main()
else parentPort!.postMessage(fuzz(workerData as Job))
