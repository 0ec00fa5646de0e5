import { hasSharedData } from '@ledger-state/testing/shared-data'
import { isSlowRun } from '@ledger-state/testing/slow-run'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { MemoryLedger, type MemoryState } from '../../testing/kits.js'
import { NativeBed } from '../../testing/native-bed.js'
import { ByteVector } from '../values/byte-vector.js'
import { ByteReference, ClosureValue, Reference, StructValue, type Value, VectorValue } from '../values/value.js'
import { NATIVES } from './native-table.js'

// Modules of a damaged or hostile store are not verified: any value may come as any argument of a native. Addresses are
// always texts of 64 digits, as nothing makes other ones.

const ONE = '1'.padStart(64, '0')

const TYPES = [
  'u8',
  'u64',
  'u128',
  'bool',
  'address',
  'signer',
  'vector<u8>',
  'vector<vector<u64>>',
  '0x1::string::String',
  '0x1::option::Option<u64>',
  '0x1::chain_id::ChainId',
  '0x1::table::Box<u64>',
  '0x1::string_utils::Cons<u8, 0x1::string_utils::NIL>',
  '0x1::bls12381_algebra::Fr',
  '0x1::bls12381_algebra::G1',
  '0x1::bls12381_algebra::G2',
  '0x1::bls12381_algebra::Gt',
  '0x1::bls12381_algebra::Fq12',
  '0x1::bls12381_algebra::FormatG1Compr',
  '0x1::bn254_algebra::Fr',
  '0x1::bn254_algebra::G1',
  '0x1::nowhere::Nothing',
]

const { value } = fc.letrec<{ value: Value; items: Value[] }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    fc.constantFrom<Value>(0, 1, 5, 2 ** 53 - 1, -1, 2n ** 64n, 2n ** 255n, -(2n ** 127n), true, false),
    fc.constantFrom<Value>(ONE, 'f'.repeat(64)),
    fc.uint8Array({ maxLength: 100 }).map((bytes) => new ByteVector(bytes)),
    fc.constantFrom(32, 48, 64, 96, 192, 576).map((length) => new ByteVector(new Uint8Array(length).fill(1))),
    tie('items').map((items) => new VectorValue(items)),
    fc.tuple(fc.nat(3), tie('items')).map(([variant, fields]) => new StructValue(variant, fields)),
    tie('items').map((slots) => new Reference(slots, 0)),
    tie('value').map((one) => new Reference([one], 0)),
    fc.nat(3).map((index) => new ByteReference(new ByteVector(Uint8Array.of(1, 2)), index)),
    fc.tuple(fc.nat(7), tie('items')).map(([mask, captured]) => {
      const target = { address: ONE, module: 'vector', name: 'swap', typeArguments: [] }
      return new ClosureValue(target, BigInt(mask), captured, [])
    }),
  ),
  items: fc.array(tie('value'), { maxLength: 4 }),
}))

describe.skipIf(!hasSharedData)('any native', () => {
  let state: MemoryState
  beforeAll(async () => {
    const ledger = await MemoryLedger.load('data/genesis/devnet.genesis.blob')
    state = ledger.at(ledger.latest)
  })

  it('ends with results or a fault, whatever its arguments are', () => {
    const call = fc.tuple(
      fc.constantFrom(...NATIVES.keys()),
      fc.array(fc.constantFrom(...TYPES), { minLength: 0, maxLength: 3 }),
      fc.array(value, { maxLength: 6 }),
    )
    let bed = new NativeBed(state)
    let calls = 0
    fc.assert(
      fc.property(fc.array(call, { minLength: 1, maxLength: 20 }), (sequence) => {
        // The natives of one run share its stored values.
        bed = new NativeBed(state)
        for (const [name, typeArguments, args] of sequence) {
          const answer = bed.call(name, typeArguments, ...args)
          expect(['results', 'abort', 'fault', 'error']).toContain(answer.kind)
          if (answer.kind !== 'results' || !Array.isArray(answer.results)) continue
          expect(answer.results.every((result) => result !== undefined)).toBe(true)
          calls++
        }
        const { instructions, bytes } = bed.meter.usage
        expect(instructions).toBeLessThan(6_000_000)
        expect(bytes).toBeLessThan(65 << 20)
      }),
      { numRuns: isSlowRun ? 4_000 : 200 },
    )
    expect(calls).toBeGreaterThan(50)
  })
})
