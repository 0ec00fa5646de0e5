import { parseAddress } from '@ledger-state/core'
import { ABILITY, type AssemblyLine, assembleModule, type SignatureToken } from '@ledger-state/move-module'
import { HARBOUR } from './demo-addresses.js'

// The market of the demonstration ledger: a pool of beans and aptos, and view functions that return its price for
// beans.

const u64: SignatureToken = { kind: 'u64' }
const u128: SignatureToken = { kind: 'u128' }
const address: SignatureToken = { kind: 'address' }
const POOL: SignatureToken = {
  kind: 'struct',
  module: { address: parseAddress(HARBOUR), name: 'market' },
  name: 'Pool',
  typeArguments: [],
}

/** Fee of the pool: 997 of each 1,000 that are paid in are exchanged. */
const FEE = { kept: 997, of: 1_000 } as const
const E_NOTHING_PAID = 1

const borrowPool: AssemblyLine[] = [
  ['ld_const', { constant: parseAddress(HARBOUR), type: address }],
  ['imm_borrow_global', 'Pool'],
]
/** Loads a field of the pool in local 1 as u128, because products of amounts do not fit in 64 bits. */
const reserve = (field: string): AssemblyLine[] => [
  ['copy_loc', 1],
  ['imm_borrow_field', `Pool.${field}`],
  ['read_ref'],
  ['cast_u128'],
]

/** The module `market` of the harbour. */
export function demoMarketBinary(): Uint8Array {
  return assembleModule({
    version: 7,
    address: HARBOUR,
    name: 'market',
    structs: [
      {
        name: 'Pool',
        abilities: ABILITY.key,
        fields: [
          ['beans', u64],
          ['aptos', u64],
        ],
      },
    ],
    functions: [
      {
        name: 'quote',
        parameters: [u64],
        results: [u64],
        locals: [{ kind: 'reference', mutable: false, to: POOL }, u128],
        code: [
          ['copy_loc', 0],
          ['ld_u64', 0],
          ['neq'],
          ['br_true', 'paid'],
          ['ld_u64', E_NOTHING_PAID],
          ['abort'],
          { label: 'paid' },
          ...borrowPool,
          ['st_loc', 1],
          ['move_loc', 0],
          ['cast_u128'],
          ['ld_u128', FEE.kept],
          ['mul'],
          ['st_loc', 2],
          ['copy_loc', 2],
          ...reserve('aptos'),
          ['mul'],
          ...reserve('beans'),
          ['ld_u128', FEE.of],
          ['mul'],
          ['move_loc', 2],
          ['add'],
          ['div'],
          ['cast_u64'],
          ['ret'],
        ],
      },
      {
        name: 'reserves',
        results: [u64, u64],
        code: [
          ...borrowPool,
          ['imm_borrow_field', 'Pool.beans'],
          ['read_ref'],
          ...borrowPool,
          ['imm_borrow_field', 'Pool.aptos'],
          ['read_ref'],
          ['ret'],
        ],
      },
    ],
    errors: [[BigInt(E_NOTHING_PAID), 'ENOTHING_PAID', 'Nothing is paid.']],
  })
}

/** The pool's price for an amount, computed as in the Move function. */
export function quoteOf(amount: bigint, reserveIn: bigint, reserveOut: bigint): bigint {
  const paid = amount * BigInt(FEE.kept)
  return (paid * reserveOut) / (reserveIn * BigInt(FEE.of) + paid)
}
