import { parseAddress } from '@ledger-state/core'
import { parseTypeTag } from '@ledger-state/type-tag'
import { createVm, type ViewCall } from '../src/index.js'
import type { AssemblyLine } from './assemble-module.js'
import { hexToBytes } from '@ledger-state/core'
import { MemoryLedger } from './kits.js'
import { TestState } from './test-state.js'

const u64 = { kind: 'u64' } as const
const loop = (body: AssemblyLine[]): AssemblyLine[] => [
  { label: 'top' },
  ['copy_loc', 1], ['copy_loc', 0], ['lt'], ['br_false', 'end'],
  ...body,
  ['move_loc', 1], ['ld_u64', 1], ['add'], ['st_loc', 1],
  ['branch', 'top'],
  { label: 'end' },
  ['move_loc', 2], ['ret'],
]
const init: AssemblyLine[] = [['ld_u64', 0], ['st_loc', 1], ['ld_u64', 0], ['st_loc', 2]]
const f = (name: string, code: AssemblyLine[], extra: object = {}) => ({ name, parameters: [u64], results: [u64], locals: [u64, u64, { kind: 'vector', element: u64 } as const], code: [...init, ...code], ...extra })
const vec = { kind: 'vector', element: u64 } as const
const state = new TestState([{ name: 'm', structs: [{ name: 'S', fields: [['a', u64], ['b', u64]] }], functions: [
  f('arith', loop([['move_loc', 2], ['copy_loc', 1], ['ld_u64', 3], ['mul'], ['ld_u64', 7], ['mod'], ['add'], ['st_loc', 2]])),
  f('call', loop([['move_loc', 2], ['copy_loc', 1], ['call', { name: 'g' }], ['st_loc', 2]])),
  { name: 'g', parameters: [u64, u64], results: [u64], code: [['move_loc', 0], ['move_loc', 1], ['add'], ['ret']] },
  f('struct', loop([['copy_loc', 1], ['copy_loc', 2], ['pack', 'S'], ['unpack', 'S'], ['add'], ['pop'], ['copy_loc', 1], ['st_loc', 2]])),
  f('vector', [['vec_pack', u64, 0], ['st_loc', 3], ...loop([['mut_borrow_loc', 3], ['copy_loc', 1], ['vec_push_back', u64], ['imm_borrow_loc', 3], ['copy_loc', 1], ['vec_imm_borrow', u64], ['read_ref'], ['move_loc', 2], ['add'], ['ld_u64', 1000], ['mod'], ['st_loc', 2]])]),
] }])
const vm = createVm()
function run(call: ViewCall, st: any, budget = 1e9) {
  const r = vm.startView(st, call, { budget: { instructions: budget, bytes: 1e12 } })
  for (;;) { const p = r.advance(1e9); if (p.kind === 'results' || p.kind === 'fault') return p }
}
const N = 1_000_000n
for (const name of ['arith', 'call', 'struct', 'vector', 'arith']) {
  const arg = new Uint8Array(8); new DataView(arg.buffer).setBigUint64(0, N, true)
  for (let i = 0; i < 2; i++) {
    const t = performance.now()
    const p = run({ address: parseAddress('0x42'), module: 'm', function: name, typeArguments: [], arguments: [arg] }, state)
    const ms = performance.now() - t
    if (p.kind === 'fault') console.log(p.fault)
    console.log(name, (p.usage.instructions / ms / 1000).toFixed(1), 'M instr/s')
  }
}
const l = await MemoryLedger.load('shared/conformance/views-states-devnet.ndjson.gz')
const raw = l.at(6n)
const cacheM = new Map<string, Uint8Array | undefined>()
let reads = 0
const st = { read: (k: Uint8Array) => { reads++; return raw.read(k) } , moduleRevision: (k: Uint8Array) => '1' }
const views: [string, string, string[], Uint8Array[]][] = [
  ['coin', 'balance', ['0x1::aptos_coin::AptosCoin'], [parseAddress('0x1')]],
  ['coin', 'supply', ['0x1::aptos_coin::AptosCoin'], []],
  ['coin', 'name', ['0x1::aptos_coin::AptosCoin'], []],
  ['account', 'exists_at', [], [parseAddress('0x1')]],
]
for (const [m, fn, ta, args] of views) {
  const call = { address: parseAddress('0x1'), module: m, function: fn, typeArguments: ta.map((x) => parseTypeTag(x)), arguments: args }
  const t0 = performance.now()
  const p = run(call, st)
  const cold = performance.now() - t0
  for (let i = 0; i < 6000; i++) run(call, st)
  reads = 0
  const t = performance.now()
  for (let i = 0; i < 6000; i++) run(call, st)
  console.log(m, fn, 'cold', cold.toFixed(1), 'ms warm', ((performance.now() - t) / 2).toFixed(1), 'us', p.kind, p.kind === 'fault' ? p.fault.message : '', p.usage, reads / 2000)
}
