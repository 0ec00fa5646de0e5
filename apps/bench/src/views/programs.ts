import { parseAddress } from '@ledger-state/core'
import { ABILITY, type AssemblyLine, assembleModule, type SignatureToken } from '@ledger-state/move-module'

/** Address of the module of the programs. */
export const PROGRAM_MODULE = { address: parseAddress('0x42'), name: 'programs' } as const

const u64 = { kind: 'u64' } as const
const TABLE_MODULE = { address: parseAddress('0x1'), name: 'table' }

const tableOf = (key: SignatureToken, value: SignatureToken): SignatureToken => ({
  kind: 'struct',
  module: TABLE_MODULE,
  name: 'Table',
  typeArguments: [key, value],
})
const parameter = (index: number): SignatureToken => ({ kind: 'typeParameter', index })
const openTable = tableOf(parameter(0), parameter(1))
const reference = (to: SignatureToken, mutable: boolean): SignatureToken => ({ kind: 'reference', mutable, to })
const COPY_DROP = ABILITY.copy | ABILITY.drop

const ofTable = (name: string, parameters: SignatureToken[], results: SignatureToken[], valueAbilities = 0) => ({
  module: TABLE_MODULE,
  name,
  parameters,
  results,
  typeParameters: [COPY_DROP, valueAbilities],
  typeArguments: [u64, u64],
})

/** Locals by index: the parameter, the counter, the sum, and the locals of the body. */
const LOCAL = { count: 0, index: 1, sum: 2, own: 3 } as const

/** Runs the body for each index below the parameter; the result is the sum. */
function loop(before: AssemblyLine[], body: AssemblyLine[]): AssemblyLine[] {
  return [
    ...([
      ['ld_u64', 0],
      ['st_loc', LOCAL.index],
      ['ld_u64', 0],
      ['st_loc', LOCAL.sum],
    ] as const),
    ...before,
    { label: 'top' },
    ...([['copy_loc', LOCAL.index], ['copy_loc', LOCAL.count], ['lt'], ['br_false', 'end']] as const),
    ...body,
    ...([['move_loc', LOCAL.index], ['ld_u64', 1], ['add'], ['st_loc', LOCAL.index], ['branch', 'top']] as const),
    { label: 'end' },
    ...([['move_loc', LOCAL.sum], ['ret']] as const),
  ]
}

const loopFunction = (name: string, own: SignatureToken, before: AssemblyLine[], body: AssemblyLine[]) => ({
  name,
  parameters: [u64],
  results: [u64],
  locals: [u64, u64, own],
  code: loop(before, body),
})

/** Adds the top of the stack to the sum, modulo 1,000. */
const ADD_TO_SUM: AssemblyLine[] = [['move_loc', LOCAL.sum], ['add'], ['ld_u64', 1_000], ['mod'], ['st_loc', LOCAL.sum]]

const ARITHMETIC = loopFunction(
  'arithmetic',
  u64,
  [],
  [['copy_loc', LOCAL.index], ['ld_u64', 3], ['mul'], ['ld_u64', 7], ['mod'], ...ADD_TO_SUM],
)

const VECTOR = loopFunction(
  'vector',
  { kind: 'vector', element: u64 },
  [
    ['vec_pack', u64, 0],
    ['st_loc', LOCAL.own],
  ],
  [
    ['mut_borrow_loc', LOCAL.own],
    ['copy_loc', LOCAL.index],
    ['vec_push_back', u64],
    ['imm_borrow_loc', LOCAL.own],
    ['copy_loc', LOCAL.index],
    ['vec_imm_borrow', u64],
    ['read_ref'],
    ...ADD_TO_SUM,
  ],
)

const STRUCT = loopFunction(
  'struct',
  u64,
  [],
  [['copy_loc', LOCAL.index], ['copy_loc', LOCAL.sum], ['pack', 'Pair'], ['unpack', 'Pair'], ['add'], ...ADD_TO_SUM],
)

const TABLE = loopFunction(
  'table',
  tableOf(u64, u64),
  [
    ['call_generic', ofTable('new', [], [openTable], ABILITY.store)],
    ['st_loc', LOCAL.own],
  ],
  [
    ['mut_borrow_loc', LOCAL.own],
    ['copy_loc', LOCAL.index],
    ['copy_loc', LOCAL.index],
    ['call_generic', ofTable('add', [reference(openTable, true), parameter(0), parameter(1)], [])],
    ['imm_borrow_loc', LOCAL.own],
    ['copy_loc', LOCAL.index],
    ['call_generic', ofTable('borrow', [reference(openTable, false), parameter(0)], [reference(parameter(1), false)])],
    ['read_ref'],
    ...ADD_TO_SUM,
  ],
)

const wide = (local: number): AssemblyLine[] => [['copy_loc', local], ['cast_u256']]
const AMOUNT_WITH_FEE: AssemblyLine[] = [...wide(0), ['ld_u256', 997], ['mul']]

/** The quote of an exchange of constant product, in u256. */
const QUOTE = {
  name: 'quote',
  parameters: [u64, u64, u64],
  results: [u64],
  code: [
    ...AMOUNT_WITH_FEE,
    ...wide(2),
    ['mul'],
    ...wide(1),
    ['ld_u256', 1_000],
    ['mul'],
    ...AMOUNT_WITH_FEE,
    ['add'],
    ['div'],
    ['cast_u64'],
    ['ret'],
  ] as AssemblyLine[],
}

const PAIR = {
  name: 'Pair',
  fields: [
    ['left', u64],
    ['right', u64],
  ] as const,
}

/** A module with the loops and the quote. */
export function programModule(): Uint8Array {
  return assembleModule({
    name: PROGRAM_MODULE.name,
    structs: [PAIR],
    functions: [ARITHMETIC, VECTOR, STRUCT, TABLE, QUOTE],
  })
}

/** The loops in TypeScript, on numbers, with the same check of each sum as in Move. */
export const LOOPS_BY_HAND: Readonly<Record<'arithmetic' | 'vector' | 'struct' | 'table', (count: number) => number>> =
  {
    arithmetic(count) {
      let sum = 0
      for (let index = 0; index < count; index++) sum = checked(((index * 3) % 7) + sum) % 1_000
      return sum
    },
    vector(count) {
      const items: number[] = []
      let sum = 0
      for (let index = 0; index < count; index++) {
        items.push(index)
        sum = checked(items[index]! + sum) % 1_000
      }
      return sum
    },
    struct(count) {
      let sum = 0
      for (let index = 0; index < count; index++) {
        const pair = { left: index, right: sum }
        sum = checked(pair.left + pair.right + sum) % 1_000
      }
      return sum
    },
    table(count) {
      const items = new Map<number, number>()
      let sum = 0
      for (let index = 0; index < count; index++) {
        items.set(index, index)
        sum = checked(items.get(index)! + sum) % 1_000
      }
      return sum
    },
  }

function checked(value: number): number {
  if (value > Number.MAX_SAFE_INTEGER) throw new RangeError('overflow')
  return value
}

/** Answer of `quote`, computed by hand. */
export function quoteByHand(amount: bigint, reserveIn: bigint, reserveOut: bigint): bigint {
  const amountWithFee = amount * 997n
  return BigInt.asUintN(64, (amountWithFee * reserveOut) / (reserveIn * 1_000n + amountWithFee))
}
