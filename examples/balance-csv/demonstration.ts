import { ByteWriter, parseAddress } from '@ledger-state/core'
import { createMemoryEngine, type StateReader } from '@ledger-state/engine'
import { parseStructTag, resourceKey } from '@ledger-state/type-tag'

export const OWNER = '0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab'

/** 2025-01-01T00:00:00Z, in microseconds. */
const GENESIS_USEC = 1_735_689_600_000_000n

/** Makes a store of four blocks. The owner's coins change at three of them. */
export async function demonstrationStore(): Promise<StateReader> {
  const engine = createMemoryEngine()
  const key = resourceKey(parseAddress(OWNER), parseStructTag('0x1::coin::CoinStore<0x1::aptos_coin::AptosCoin>'))
  for (const [at, balance] of [1_000n, 1_000n, 750n, 0n].entries()) {
    const version = BigInt(at)
    const block = { height: version, epoch: 0n, timestampUsec: GENESIS_USEC + version * 4_000_000n }
    await engine.commit([{ version, block, writes: [[key, coinStore(balance)]] }], { chainId: 4 })
  }
  return engine
}

/** BCS of `0x1::coin::CoinStore`: the coin, whether it is frozen, and two event handles. */
function coinStore(balance: bigint): Uint8Array {
  const writer = new ByteWriter().u64(balance).bool(false)
  for (const creationNumber of [2n, 3n]) writer.u64(0n).u64(creationNumber).bytes(parseAddress(OWNER))
  return writer.toBytes()
}
