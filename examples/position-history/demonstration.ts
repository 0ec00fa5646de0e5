import { ByteWriter, hexToBytes, parseAddress, type Write } from '@ledger-state/core'
import { createMemoryEngine, type StateReader } from '@ledger-state/engine'
import { moduleKey, parseStructTag, resourceKey } from '@ledger-state/type-tag'

export const OWNER = '0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab'
const POOL = parseAddress('0xb00')

/**
 * The binary of this module, as a compiler writes it:
 *
 * ```move
 * module 0xb00::pool {
 *     struct Pool has key { reserve: u64, shares: u64 }
 *     struct Share has key { amount: u64 }
 *     #[view]
 *     public fun worth(owner: address): u64 acquires Pool, Share {
 *         (((Share[owner].amount as u128) * (Pool[@0xb00].reserve as u128) / (Pool[@0xb00].shares as u128)) as u64)
 *     }
 * }
 * ```
 */
const MODULE = hexToBytes(
  'a11ceb0b0700000a0b010002020208030a0605100506152207372c0863200a83010c0c8f01240db3010610b90120000000010800000208000003' +
    '00010001010501030005200000000000000000000000000000000000000000000000000000000000000b0004706f6f6c04506f6f6c0553686172' +
    '6505776f72746807726573657276650673686172657306616d6f756e740000000000000000000000000000000000000000000000000000000000' +
    '000b0000020204030503010201060300010002000102130b002b011000143507002b00100114351807002b00100214351a340201000000000112' +
    '6170746f733a3a6d657461646174615f76310c00000105776f72746801010000',
)

const u64s = (...values: bigint[]) => values.reduce((writer, value) => writer.u64(value), new ByteWriter()).toBytes()
const pool = (reserve: bigint, shares: bigint): Write => [
  resourceKey(POOL, parseStructTag('0xb00::pool::Pool')),
  u64s(reserve, shares),
]
const share = (amount: bigint): Write => [
  resourceKey(parseAddress(OWNER), parseStructTag('0xb00::pool::Share')),
  u64s(amount),
]

/** 2025-01-01T00:00:00Z and a day, in microseconds. */
const GENESIS_USEC = 1_735_689_600_000_000n
const DAY_USEC = 86_400_000_000n

/**
 * Makes a store with ten days of a pool: it earns, others join, the owner takes out a half, and on two days nothing
 * happens.
 */
export async function demonstrationStore(): Promise<StateReader> {
  const engine = createMemoryEngine()
  // The virtual machine reads which gas schedule a chain has.
  const gasSchedule = new ByteWriter().u64(1n).uleb128(0).toBytes()
  const days: readonly (readonly Write[])[] = [
    [
      [resourceKey(parseAddress('0x1'), parseStructTag('0x1::gas_schedule::GasScheduleV2')), gasSchedule],
      [moduleKey(POOL, 'pool'), MODULE],
      pool(1_000_000n, 1_000_000n),
    ],
    [share(50_000n), pool(1_050_000n, 1_050_000n)],
    [pool(1_081_500n, 1_050_000n)],
    [],
    [pool(1_184_500n, 1_150_000n)],
    [pool(1_230_500n, 1_150_000n)],
    [pool(1_203_750n, 1_125_000n), share(25_000n)],
    [pool(1_155_375n, 1_125_000n)],
    [],
    [pool(1_237_500n, 1_125_000n)],
  ]
  for (const [day, writes] of days.entries()) {
    const version = BigInt(day)
    const block = { height: version, epoch: 0n, timestampUsec: GENESIS_USEC + version * DAY_USEC }
    await engine.commit([{ version, block, writes }], { chainId: 4 })
  }
  return engine
}
