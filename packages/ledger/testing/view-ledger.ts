import { ByteWriter, parseAddress, type Write } from '@ledger-state/core'
import { createMemoryEngine, type StateWriter } from '@ledger-state/engine'
import {
  type Assembly,
  type AssemblyLine,
  assembleModule,
  type Callee,
  type SignatureToken,
} from '@ledger-state/move-module'
import { moduleKey, parseStructTag, resourceKey } from '@ledger-state/type-tag'
import type { ViewRequest } from '../src/index.ts'

// A ledger with views at 0x42, for tests of views' answers over time.

/** A second in microseconds. */
export const SECOND = 1_000_000n
const FRAMEWORK = parseAddress('0x1')
export const PROGRAM = parseAddress('0x42')
const U64: SignatureToken = { kind: 'u64' }
const ADDRESS: SignatureToken = { kind: 'address' }
const LIB = { address: PROGRAM, name: 'lib' }
const MAIN_ID = { address: PROGRAM, name: 'main' }
const POINT: SignatureToken = { kind: 'struct', module: LIB, name: 'Point', typeArguments: [] }
const TIMESTAMP = { address: FRAMEWORK, name: 'timestamp' }

const CLOCK: Assembly = {
  address: '0x1',
  name: 'timestamp',
  structs: [{ name: 'CurrentTimeMicroseconds', fields: [['microseconds', U64]] }],
  functions: [
    {
      name: 'now',
      results: [U64],
      code: [
        ['ld_const', { constant: FRAMEWORK, type: ADDRESS }],
        ['imm_borrow_global', 'CurrentTimeMicroseconds'],
        ['imm_borrow_field', 'CurrentTimeMicroseconds.microseconds'],
        ['read_ref'],
        ['ret'],
      ],
    },
  ],
}

const MAIN: Assembly = {
  name: 'main',
  structs: [{ name: 'R', fields: [['value', U64]] }],
  functions: [
    {
      name: 'value',
      parameters: [ADDRESS],
      results: [U64],
      code: [['move_loc', 0], ['imm_borrow_global', 'R'], ['imm_borrow_field', 'R.value'], ['read_ref'], ['ret']],
    },
    {
      // The value, and the value and 1,000.
      name: 'pair',
      parameters: [ADDRESS],
      results: [U64, U64],
      code: [
        ['copy_loc', 0],
        ['call', { name: 'value' }],
        ['move_loc', 0],
        ['call', { name: 'value' }],
        ['ld_u64', 1000],
        ['add'],
        ['ret'],
      ],
    },
    {
      name: 'holds',
      parameters: [ADDRESS],
      results: [{ kind: 'bool' }],
      code: [['move_loc', 0], ['exists', 'R'], ['ret']],
    },
    {
      // The second address is read only if the first has something.
      name: 'either',
      parameters: [ADDRESS, ADDRESS],
      results: [U64],
      code: [
        ['copy_loc', 0],
        ['exists', 'R'],
        ['br_true', 'there'],
        ['ld_u64', 0],
        ['ret'],
        { label: 'there' },
        ['copy_loc', 1],
        ['call', { name: 'value' }],
        ['call', { module: LIB, name: 'change', parameters: [U64], results: [U64] }],
        ['ret'],
      ],
    },
    {
      name: 'parity_of_time',
      results: [U64],
      code: [
        ['call', { module: TIMESTAMP, name: 'now', results: [U64] }],
        ['ld_u64', SECOND],
        ['div'],
        ['ld_u64', 2],
        ['mod'],
        ['ret'],
      ],
    },
    {
      name: 'point',
      results: [POINT],
      code: [['call', { module: LIB, name: 'origin', results: [POINT] }], ['ret']],
    },
  ],
}

/** Versions of the library: with other code, with another name of a field, and with nothing that can be called. */
export const LIBRARIES: readonly (Uint8Array | null)[] = [
  library('x', [['copy_loc', 0], ['move_loc', 0], ['add'], ['ret']]),
  library('x', [['ld_u64', 7], ['ret']]),
  library('y', [['move_loc', 0], ['ret']]),
  library('x', [['ld_u64', 5], ['abort']]),
  Uint8Array.of(1, 2, 3),
  null,
]

function library(field: string, code: NonNullable<Assembly['functions'][number]['code']>): Uint8Array {
  return assembleModule({
    name: 'lib',
    structs: [{ name: 'Point', abilities: 7, fields: [[field, U64]] }],
    functions: [
      { name: 'change', parameters: [U64], results: [U64], code },
      { name: 'origin', results: [POINT], code: [['ld_u64', 1], ['pack', 'Point'], ['ret']] },
    ],
  })
}

/** A random program: it computes a u64 from its reads. */
export type Expression =
  | { readonly kind: 'number'; readonly value: number }
  /** Reads the holder's value. Aborts if there is none. */
  | { readonly kind: 'held'; readonly holder: number }
  | { readonly kind: 'ifHeld'; readonly holder: number; readonly whereHeld: Expression; readonly otherwise: Expression }
  | { readonly kind: 'sum'; readonly left: Expression; readonly right: Expression }
  /** Calls the current version of the library. */
  | { readonly kind: 'changed'; readonly of: Expression }
  | { readonly kind: 'seconds' }
  | { readonly kind: 'failed'; readonly code: number }

/** The module `random` at 0x42. Its function `run` computes an expression. */
export function randomProgram(expression: Expression): readonly [key: Uint8Array, module: Uint8Array] {
  let labels = 0
  const at = (holder: number): AssemblyLine => ['ld_const', { constant: HOLDERS[holder]!, type: ADDRESS }]
  const codeOf = (of: Expression): readonly AssemblyLine[] => {
    switch (of.kind) {
      case 'number':
        return [['ld_u64', of.value]]
      case 'held':
        return [at(of.holder), ['call', { module: MAIN_ID, name: 'value', parameters: [ADDRESS], results: [U64] }]]
      case 'ifHeld': {
        const [otherwise, end] = [`otherwise${labels}`, `end${labels++}`]
        const exists: Callee = { module: MAIN_ID, name: 'holds', parameters: [ADDRESS], results: [{ kind: 'bool' }] }
        return [
          ...[at(of.holder), ['call', exists] as const, ['br_false', otherwise] as const],
          ...[...codeOf(of.whereHeld), ['branch', end] as const],
          ...[{ label: otherwise }, ...codeOf(of.otherwise), { label: end }],
        ]
      }
      case 'sum':
        return [...codeOf(of.left), ...codeOf(of.right), ['add']]
      case 'changed':
        return [...codeOf(of.of), ['call', { module: LIB, name: 'change', parameters: [U64], results: [U64] }]]
      case 'seconds':
        return [['call', { module: TIMESTAMP, name: 'now', results: [U64] }], ['ld_u64', SECOND], ['div']]
      case 'failed':
        return [['ld_u64', of.code], ['abort']]
    }
  }
  const run = { name: 'run', results: [U64], code: [...codeOf(expression), ['ret'] as const] }
  return [moduleKey(PROGRAM, 'random'), assembleModule({ name: 'random', functions: [run] })]
}

const framework = (type: string) => resourceKey(FRAMEWORK, parseStructTag(`0x1::${type}`))
export const CLOCK_KEY = framework('timestamp::CurrentTimeMicroseconds')
export const HOLDERS = ['0xa1', '0xa2', '0xa3'].map(parseAddress)
export const HELD = parseStructTag('0x42::main::R')
const FLAGS = new ByteWriter().byteString(new Uint8Array(16).fill(0xff)).toBytes()
export const u64 = (value: bigint | number) => new ByteWriter().u64(BigInt(value)).toBytes()

/** Writes of the programs, and of the framework that they use. */
export const GENESIS: readonly Write[] = [
  [framework('gas_schedule::GasScheduleV2'), new ByteWriter().u64(45n).uleb128(0).toBytes()],
  [framework('features::Features'), FLAGS],
  [moduleKey(FRAMEWORK, 'timestamp'), assembleModule(CLOCK)],
  [moduleKey(PROGRAM, 'main'), assembleModule(MAIN)],
  [moduleKey(PROGRAM, 'lib'), LIBRARIES[0]!],
]

export const call = (name: string, ...json: string[]): ViewRequest => ({
  ...{ address: PROGRAM, module: 'main', function: name, typeArguments: [], arguments: { json } },
})

/** Commits the programs with the first version, and then the writes of each version. */
export async function commitViewLedger(
  engine: Pick<StateWriter, 'commit'>,
  first: bigint,
  versions: readonly (readonly Write[])[],
): Promise<void> {
  for (const [at, writes] of [GENESIS, ...versions].entries()) {
    const version = first + BigInt(at)
    // Blocks have three versions each; the first writes the clock. They begin 0, 1, 4, 9 seconds after 1970.
    const height = BigInt(at) / 3n
    const block = at % 3 === 0 ? { height, epoch: 0n, timestampUsec: height * height * SECOND } : undefined
    const clock: Write[] = block ? [[CLOCK_KEY, u64(block.timestampUsec)]] : []
    await engine.commit([{ version, block, writes: [...clock, ...writes] }], { chainId: 4 })
  }
}

export async function viewLedger(first: bigint, versions: readonly (readonly Write[])[]): Promise<StateWriter> {
  const engine = createMemoryEngine()
  await commitViewLedger(engine, first, versions)
  return engine
}
