// The natives of `bcs` and `from_bcs`, compared with @mysten/bcs on values of random types.
import { hasSharedData } from '@ledger-state/testing/shared-data'
import { type BcsType, bcs } from '@mysten/bcs'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { MemoryLedger } from '../../testing/kits.js'
import { NativeBed } from '../../testing/native-bed.js'
import { ByteVector } from '../values/byte-vector.js'
import { Reference } from '../values/value.js'

/** A type in Move, the type of @mysten/bcs that is its peer, and values as that library takes them. */
interface Peer {
  readonly type: string
  readonly peer: BcsType<unknown, unknown>
  readonly values: fc.Arbitrary<unknown>
}

const unsigned = (bits: number) => fc.bigInt(0n, 2n ** BigInt(bits) - 1n)
const PLAIN: readonly Peer[] = [
  { type: 'bool', peer: bcs.bool(), values: fc.boolean() },
  { type: 'u8', peer: bcs.u8(), values: unsigned(8).map(Number) },
  { type: 'u16', peer: bcs.u16(), values: unsigned(16).map(Number) },
  { type: 'u32', peer: bcs.u32(), values: unsigned(32).map(Number) },
  { type: 'u64', peer: bcs.u64(), values: unsigned(64) },
  { type: 'u128', peer: bcs.u128(), values: unsigned(128) },
  { type: 'u256', peer: bcs.u256(), values: unsigned(256) },
  { type: 'address', peer: bcs.bytes(32), values: fc.uint8Array({ minLength: 32, maxLength: 32 }) },
  { type: '0x1::string::String', peer: bcs.string(), values: fc.string({ unit: 'binary', maxLength: 20 }) },
] as never
const PAIR = '0x1::simple_map::Element'

const { peers } = fc.letrec<{ peers: Peer }>((tie) => ({
  peers: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(...PLAIN),
    tie('peers').map(vectorOf),
    fc.tuple(tie('peers'), tie('peers')).map(([key, value]) => elementOf(key, value)),
  ),
}))

function vectorOf({ type, peer, values }: Peer): Peer {
  return { type: `vector<${type}>`, peer: bcs.vector(peer) as never, values: fc.array(values, { maxLength: 4 }) }
}

function elementOf(key: Peer, value: Peer): Peer {
  return {
    type: `${PAIR}<${key.type}, ${value.type}>`,
    peer: bcs.struct('Element', { key: key.peer, value: value.peer }) as never,
    values: fc.record({ key: key.values, value: value.values }),
  }
}

describe.skipIf(!hasSharedData)('the natives of BCS', () => {
  let bed: NativeBed
  beforeAll(async () => {
    const ledger = await MemoryLedger.load('data/genesis/devnet.genesis.blob')
    bed = new NativeBed(ledger.at(ledger.latest))
  })

  it('read and write the bytes of @mysten/bcs', () => {
    const cases = peers.chain((peer) => peer.values.map((value) => ({ ...peer, value })))
    fc.assert(
      fc.property(cases, ({ type, peer, value }) => {
        const bytes = peer.serialize(value, { maxSize: 1 << 20 }).toBytes()
        const [read] = bed.results('0x1::from_bcs::from_bytes', [type], new ByteVector(bytes))
        const reference = new Reference([read!], 0)
        const [written] = bed.results('0x1::bcs::to_bytes', [type], reference)
        expect((written as ByteVector).view()).toEqual(bytes)
        expect(bed.results('0x1::bcs::serialized_size', [type], reference)).toEqual([bytes.length])
      }),
      { numRuns: 200 },
    )
  })
})
