import { ByteWriter, bytesToHex, parseAddress } from '@ledger-state/core'
import type { AssembledFunction, AssembledStruct, AssemblyLine, SignatureToken } from '@ledger-state/move-module'
import { createRandom, type Random, testSeed } from '@ledger-state/testing/random'
import { isSlowRun } from '@ledger-state/testing/slow-run'
import { describe, expect, it } from 'vitest'
import { callView, TestState } from '../../testing/test-state.js'
import { createVm } from '../index.js'

// Random code, mostly refused by the verifier: references that are returned, kept in locals and lent, values moved
// while they are borrowed, and instructions that take anything. An interpreter whose values know their types runs the
// same code. Whenever the vm answers with results, that interpreter must have met no operand of another type, and its
// results must be the same. If the verifier has accepted the code, no check at run time may find a fault in it.

const ROUNDS = isSlowRun ? 20_000 : 600
const FUNCTIONS = 5
const MOST_STATEMENTS = 8

const U64: SignatureToken = { kind: 'u64' }
const U8: SignatureToken = { kind: 'u8' }
const BOOL: SignatureToken = { kind: 'bool' }
const BYTES: SignatureToken = { kind: 'vector', element: U8 }
const NUMBERS: SignatureToken = { kind: 'vector', element: U64 }
const SELF = { address: parseAddress('0x42'), name: 'm' }
const own = (name: string): SignatureToken => ({ kind: 'struct', module: SELF, name, typeArguments: [] })
const PAIR = own('Pair')
const CHOICE = own('Choice')
const VALUES = [U64, U8, BOOL, BYTES, NUMBERS, PAIR, CHOICE] as const
const referenceTo = (to: SignatureToken): SignatureToken => ({ kind: 'reference', mutable: true, to })
const TYPES = [...VALUES, ...VALUES.map(referenceTo)]

const PAIR_FIELDS = [
  ['a', U64],
  ['b', BOOL],
  ['list', NUMBERS],
] as const
const STRUCTS: readonly AssembledStruct[] = [
  { name: 'Pair', fields: PAIR_FIELDS },
  {
    name: 'Choice',
    variants: [
      { name: 'Number', fields: [['x', U64]] },
      { name: 'Truth', fields: [['y', BOOL]] },
    ],
  },
]

function nameOf(type: SignatureToken): string {
  if (type.kind === 'vector') return `[${nameOf(type.element)}]`
  if (type.kind === 'reference') return `&${nameOf(type.to)}`
  return type.kind === 'struct' ? type.name : type.kind
}

// ── The interpreter that knows types ──

/** A value with its type. Parts of vectors, structs and references are places, which hold values. */
interface Tagged {
  readonly type: string
  readonly value: bigint | boolean | Place | Place[]
  readonly variant?: number
}
interface Place {
  held: Tagged | undefined
}

/** Code met an operand of another type than its instruction takes. */
class IllTyped extends Error {}
/** Code ended in a fault that verified code can meet, or in a read of a value that is gone. */
class Faulted extends Error {}

const MAX = { u64: 2n ** 64n - 1n, u8: 255n } as const

function copyOf({ type, value, variant }: Tagged): Tagged {
  if (!Array.isArray(value)) return { type, value, ...(variant === undefined ? {} : { variant }) }
  const copy = value.map(({ held }) => ({ held: held && copyOf(held) }))
  return { type, value: copy, ...(variant === undefined ? {} : { variant }) }
}

class Oracle {
  readonly #functions: readonly AssembledFunction[]

  constructor(functions: readonly AssembledFunction[]) {
    this.#functions = functions
  }

  call(index: number, args: readonly Tagged[]): Tagged[] {
    const { parameters = [], results = [], locals: others = [], code = [] } = this.#functions[index]!
    const types = [...parameters, ...others].map(nameOf)
    const locals: Place[] = types.map((_, at) => ({ held: args[at] }))
    const stack: Tagged[] = []
    const pop = (type?: string): Tagged => {
      const top = stack.pop()
      if (!top || (type !== undefined && top.type !== type)) throw new IllTyped(`${top?.type} for ${type}`)
      return top
    }
    const number = (type: string): bigint => pop(type).value as bigint
    const place = (type?: string): Place => {
      const top = pop(type)
      if (!top.type.startsWith('&')) throw new IllTyped(`${top.type} for a reference`)
      return top.value as Place
    }
    const held = (one: Place, type?: string): Tagged => {
      if (!one.held) throw new Faulted('nothing is there')
      if (type !== undefined && one.held.type !== type) throw new IllTyped(`${one.held.type} at &${type}`)
      return one.held
    }
    const partsOf = (one: Place, type: string): Place[] => held(one, type).value as Place[]
    const push = (type: string, value: Tagged['value'], variant?: number) =>
      stack.push({ type, value, ...(variant === undefined ? {} : { variant }) })
    const packed = (fieldTypes: readonly string[]): Place[] =>
      fieldTypes
        .toReversed()
        .map((type) => ({ held: pop(type) }))
        .reverse()

    for (const line of code) {
      if ('label' in line) continue
      const [opcode, operand, second] = line as readonly [string, unknown, unknown]
      const element = typeof operand === 'object' && operand && 'kind' in operand ? nameOf(operand as never) : ''
      switch (opcode) {
        case 'ld_u64':
        case 'ld_u8':
          push(opcode.slice(3), BigInt(operand as number))
          break
        case 'ld_true':
          push('bool', true)
          break
        case 'ld_const': {
          const { type, constant } = operand as { type: SignatureToken; constant: Uint8Array }
          const part = nameOf((type as SignatureToken & { kind: 'vector' }).element)
          const width = part === 'u8' ? 1 : 8
          const items = Array.from({ length: constant[0]! }, (_, at) => BigInt(constant[1 + at * width]!))
          push(
            nameOf(type),
            items.map((value) => ({ held: { type: part, value } })),
          )
          break
        }
        case 'pop':
          pop()
          break
        case 'copy_loc':
          stack.push(copyOf(held(locals[operand as number]!, types[operand as number]!)))
          break
        case 'move_loc':
          stack.push(held(locals[operand as number]!, types[operand as number]!))
          locals[operand as number]!.held = undefined
          break
        case 'st_loc':
          locals[operand as number]!.held = pop(types[operand as number]!)
          break
        case 'mut_borrow_loc':
          held(locals[operand as number]!)
          push(`&${types[operand as number]!}`, locals[operand as number]!)
          break
        case 'read_ref': {
          const { type, value } = pop()
          if (!type.startsWith('&')) throw new IllTyped(type)
          stack.push(copyOf(held(value as Place, type.slice(1))))
          break
        }
        case 'write_ref': {
          const { type, value } = pop()
          if (!type.startsWith('&')) throw new IllTyped(type)
          ;(value as Place).held = pop(type.slice(1))
          break
        }
        case 'add': {
          const right = pop()
          const left = pop(right.type)
          const most = MAX[right.type as 'u64']
          if (most === undefined) throw new IllTyped(right.type)
          const sum = (left.value as bigint) + (right.value as bigint)
          if (sum > most) throw new Faulted('overflow')
          push(right.type, sum)
          break
        }
        case 'not':
          push('bool', !pop('bool').value)
          break
        case 'cast_u64': {
          const { type, value } = pop()
          if (!(type in MAX)) throw new IllTyped(type)
          push('u64', value)
          break
        }
        case 'lt': {
          const right = number('u64')
          push('bool', number('u64') < right)
          break
        }
        case 'pack':
          push('Pair', packed(PAIR_FIELDS.map(([, type]) => nameOf(type))))
          break
        case 'unpack':
          for (const part of pop('Pair').value as Place[]) stack.push(held(part))
          break
        case 'mut_borrow_field': {
          const at = PAIR_FIELDS.findIndex(([name]) => operand === `Pair.${name}`)
          const parts = partsOf(place('&Pair'), 'Pair')
          push(`&${nameOf(PAIR_FIELDS[at]![1])}`, parts[at]!)
          break
        }
        case 'pack_variant':
          push('Choice', packed([operand === 'Choice::Number' ? 'u64' : 'bool']), operand === 'Choice::Number' ? 0 : 1)
          break
        case 'unpack_variant': {
          const { value, variant } = pop('Choice')
          if (variant !== 0) throw new Faulted('another variant')
          stack.push(held((value as Place[])[0]!))
          break
        }
        case 'test_variant':
          push('bool', held(place('&Choice'), 'Choice').variant === 0)
          break
        case 'mut_borrow_variant_field': {
          const choice = held(place('&Choice'), 'Choice')
          if (choice.variant !== 0) throw new Faulted('another variant')
          push('&u64', (choice.value as Place[])[0]!)
          break
        }
        case 'vec_pack': {
          const items = Array.from({ length: Number(second) }, () => ({ held: pop(element) })).reverse()
          push(`[${element}]`, items)
          break
        }
        case 'vec_len':
          push('u64', BigInt(partsOf(place(`&[${element}]`), `[${element}]`).length))
          break
        case 'vec_mut_borrow': {
          const at = number('u64')
          const one = partsOf(place(`&[${element}]`), `[${element}]`)[Number(at)]
          if (!one) throw new Faulted('out of bounds')
          push(`&${element}`, one)
          break
        }
        case 'vec_pop_back': {
          const last = partsOf(place(`&[${element}]`), `[${element}]`).pop()
          if (!last) throw new Faulted('nothing to pop')
          stack.push(held(last))
          break
        }
        case 'vec_push_back': {
          const item = pop(element)
          partsOf(place(`&[${element}]`), `[${element}]`).push({ held: item })
          break
        }
        case 'vec_swap': {
          const [j, i] = [Number(number('u64')), Number(number('u64'))]
          const parts = partsOf(place(`&[${element}]`), `[${element}]`)
          if (i >= parts.length || j >= parts.length) throw new Faulted('out of bounds')
          ;[parts[i]!.held, parts[j]!.held] = [parts[j]!.held, parts[i]!.held]
          break
        }
        case 'call': {
          const callee = Number((operand as { name: string }).name.slice(1))
          const given = packed((this.#functions[callee]!.parameters ?? []).map(nameOf)).map((one) => one.held!)
          stack.push(...this.call(callee, given))
          break
        }
        case 'ret': {
          const returned = packed(results.map(nameOf)).map((one) => one.held!)
          for (const local of locals) local.held = undefined
          return returned
        }
        default:
          throw new Error(`the interpreter does not know ${opcode}`)
      }
    }
    throw new IllTyped('code that runs past its end')
  }
}

function encode({ type, value, variant }: Tagged, writer: ByteWriter): void {
  if (type === 'u64') writer.u64(value as bigint)
  else if (type === 'u8') writer.u8(Number(value))
  else if (type === 'bool') writer.bool(value as boolean)
  else {
    const parts = value as Place[]
    if (type.startsWith('[')) writer.uleb128(parts.length)
    if (variant !== undefined) writer.uleb128(variant)
    for (const { held } of parts) encode(held!, writer)
  }
}

// ── Random code ──

/** Writes the code of one function, most of it well typed, by the types that are on its stack. */
class CodeWriter {
  readonly lines: AssemblyLine[] = []
  readonly #random: Random
  readonly #earlier: readonly AssembledFunction[]
  readonly #locals: readonly SignatureToken[]
  readonly #stack: SignatureToken[] = []

  constructor(random: Random, earlier: readonly AssembledFunction[], locals: readonly SignatureToken[]) {
    this.#random = random
    this.#earlier = earlier
    this.#locals = locals
  }

  emit(line: AssemblyLine, pops: number, ...pushed: readonly SignatureToken[]): void {
    this.lines.push(line)
    this.#stack.splice(Math.max(0, this.#stack.length - pops), pops, ...pushed)
  }

  /** Puts a value of a type on the stack. */
  make(type: SignatureToken, depth = 0): void {
    const random = this.#random
    const same = this.#locals.flatMap((local, at) => (nameOf(local) === nameOf(type) ? [at] : []))
    if (same.length > 0 && random.below(3) === 0) {
      this.emit([random.below(10) === 0 ? 'move_loc' : 'copy_loc', random.pick(same)], 0, type)
      return
    }
    const givers = this.#earlier.filter(
      ({ results = [] }) => results.length === 1 && nameOf(results[0]!) === nameOf(type),
    )
    if (givers.length > 0 && depth < 3 && random.below(2) === 0) {
      this.#call(random.pick(givers), depth)
      return
    }
    if (type.kind === 'reference') this.#makeReference(type, depth)
    else if (type.kind === 'bool') this.emit(['ld_true'], 0, type)
    else if (type.kind === 'vector') {
      const constant = type === BYTES ? Uint8Array.of(2, 3, 4) : new ByteWriter().uleb128(2).u64(5n).u64(6n).toBytes()
      this.emit(['ld_const', { type, constant }], 0, type)
    } else if (type === PAIR) {
      for (const [, field] of PAIR_FIELDS) this.make(field, depth + 1)
      this.emit(['pack', 'Pair'], 3, type)
    } else if (type === CHOICE) {
      const isNumber = random.below(2) === 0
      this.make(isNumber ? U64 : BOOL, depth + 1)
      this.emit(['pack_variant', isNumber ? 'Choice::Number' : 'Choice::Truth'], 1, type)
    } else this.emit([type === U8 ? 'ld_u8' : 'ld_u64', random.below(3)], 0, type)
  }

  #makeReference(type: SignatureToken & { kind: 'reference' }, depth: number): void {
    const random = this.#random
    const held = this.#locals.flatMap((local, at) => (nameOf(local) === nameOf(type.to) ? [at] : []))
    if (depth < 3 && type.to === U64 && random.below(3) === 0) {
      const [of, field] = random.pick([
        [PAIR, ['mut_borrow_field', 'Pair.a']],
        [CHOICE, ['mut_borrow_variant_field', 'Choice::Number.x']],
      ] as const)
      this.make(referenceTo(of), depth + 1)
      this.emit(field, 1, type)
    } else if (depth < 3 && (type.to === U64 || type.to === U8) && random.below(3) === 0) {
      this.make(referenceTo(type.to === U8 ? BYTES : NUMBERS), depth + 1)
      this.emit(['ld_u64', random.below(2)], 0, U64)
      this.emit(['vec_mut_borrow', type.to], 2, type)
    } else this.emit(['mut_borrow_loc', random.pick(held)], 0, type)
  }

  #call(callee: AssembledFunction, depth: number): void {
    const { parameters = [], results = [] } = callee
    for (const parameter of parameters) this.make(parameter, depth + 1)
    this.emit(['call', { name: callee.name }], parameters.length, ...results)
  }

  /** Writes a statement, which leaves the stack as it was unless it is a random instruction. */
  statement(): void {
    const random = this.#random
    const local = random.below(this.#locals.length)
    const type = this.#locals[local]!
    switch (random.below(9)) {
      case 0:
      case 1:
        this.make(type)
        this.emit(['st_loc', local], 1)
        break
      case 2: {
        const written = random.pick(VALUES)
        this.make(written)
        this.make(referenceTo(written))
        this.emit(['write_ref'], 2)
        break
      }
      case 3: {
        const [vector, element] = random.pick([
          [BYTES, U8],
          [NUMBERS, U64],
        ] as const)
        this.make(referenceTo(vector))
        if (random.below(2) === 0) {
          this.make(element)
          this.emit(['vec_push_back', element], 2)
        } else {
          this.emit(['vec_pop_back', element], 1, element)
          this.emit(['pop'], 1)
        }
        break
      }
      case 4: {
        const number = random.pick([U64, U8])
        this.make(referenceTo(number))
        this.emit(['read_ref'], 1, number)
        this.make(number)
        this.emit(['add'], 2, number)
        this.emit(['pop'], 1)
        break
      }
      case 5:
        if (this.#earlier.length > 0) {
          const callee = random.pick(this.#earlier)
          this.#call(callee, 0)
          for (const _ of callee.results ?? []) this.emit(['pop'], 1)
        }
        break
      case 6:
        this.make(PAIR)
        this.emit(['unpack', 'Pair'], 1, U64, BOOL, NUMBERS)
        for (let left = 0; left < 3; left++) this.emit(['pop'], 1)
        break
      case 7:
        this.make(CHOICE)
        this.emit(['unpack_variant', 'Choice::Number'], 1, U64)
        this.emit(['pop'], 1)
        break
      default:
        if (random.below(12) === 0) this.emit(this.#anyLine(), 0)
    }
  }

  #anyLine(): AssemblyLine {
    const random = this.#random
    const local = random.below(this.#locals.length)
    return random.pick<AssemblyLine>([
      ['pop'],
      ['add'],
      ['not'],
      ['lt'],
      ['cast_u64'],
      ['read_ref'],
      ['write_ref'],
      ['copy_loc', local],
      ['move_loc', local],
      ['st_loc', local],
      ['mut_borrow_loc', local],
      ['unpack', 'Pair'],
      ['mut_borrow_field', 'Pair.list'],
      ['test_variant', 'Choice::Number'],
      ['vec_len', U64],
      ['vec_swap', U8],
      ['vec_pack', U8, 1],
    ])
  }
}

function randomFunctions(random: Random): AssembledFunction[] {
  const functions: AssembledFunction[] = []
  for (let index = 0; index < FUNCTIONS; index++) {
    const isView = index === FUNCTIONS - 1
    const some = (most: number) => Array.from({ length: random.below(most + 1) }, () => random.pick(TYPES))
    const parameters = isView ? [] : some(2)
    const results = isView ? [random.pick(VALUES)] : [random.pick(TYPES)]
    const locals = [...VALUES, ...some(3)]
    const begin = new CodeWriter(random, [], [])
    const writer = new CodeWriter(random, functions, [...parameters, ...locals])
    // Most locals hold something, so that code can borrow them.
    for (const [at, type] of locals.entries()) {
      if (random.below(30) === 0) continue
      const one = type.kind === 'reference' ? writer : begin
      one.make(type)
      one.emit(['st_loc', parameters.length + at], 1)
    }
    for (let left = random.below(MOST_STATEMENTS); left > 0; left--) writer.statement()
    for (const result of results) writer.make(result)
    writer.emit(['ret'], 0)
    const code = [...begin.lines, ...writer.lines]
    functions.push({ name: `f${index}`, parameters, results, locals, isView, code })
  }
  return functions
}

/** The last function, and those that it may reach by calls: the verifier refuses a module for any function. */
function reachable(functions: readonly AssembledFunction[]): AssembledFunction[] {
  const names = new Set([functions.at(-1)!.name])
  for (const { name, code } of functions.toReversed()) {
    if (!names.has(name)) continue
    for (const line of code ?? []) {
      const [, callee] = 'label' in line ? [] : line
      if (typeof callee === 'object' && callee && 'name' in callee) names.add(callee.name as string)
    }
  }
  return functions.filter(({ name }) => names.has(name))
}

describe('random code', () => {
  it('is refused by the verifier, or takes no value of one type for another', () => {
    const seed = testSeed()
    const random = createRandom(seed)
    const vm = createVm()
    const count = { results: 0, faults: 0, malformed: 0 }
    for (let round = 0; round < ROUNDS; round++) {
      const functions = randomFunctions(random)
      const state = new TestState([{ name: 'm', structs: STRUCTS, functions: reachable(functions) }])
      const { results, fault } = callView(vm, state, `m::f${FUNCTIONS - 1}`)
      const context = `TEST_SEED=${seed}, round ${round}`
      if (fault) {
        expect(fault.message, context).not.toMatch(/at run time|malformed code or arguments/)
        if (fault.code === 2006) count.malformed++
        else count.faults++
        continue
      }
      const writer = new ByteWriter()
      try {
        for (const one of new Oracle(functions).call(FUNCTIONS - 1, [])) encode(one, writer)
      } catch (error) {
        throw new Error(`${context}: ${error}, but the vm answered ${results!.map(bytesToHex)}`, { cause: error })
      }
      expect(results!.map(bytesToHex).join(), context).toBe(bytesToHex(writer.toBytes()))
      count.results++
    }
    // Each kind of end is met often.
    expect(count.results).toBeGreaterThan(ROUNDS / 50)
    expect(count.malformed).toBeGreaterThan(ROUNDS / 50)
  })
})
