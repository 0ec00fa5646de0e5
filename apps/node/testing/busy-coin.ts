// A store in which one account's balance of a coin changes at every version.
import { openStateEngine, type StateEngine } from '@ledger-state/state-engine'
import { parseStructTag, resourceKey } from '@ledger-state/type-tag'

export const BUSY_COIN = '0x2::busy::Coin'
export const BUSY_ACCOUNT = `0x${'00'.repeat(31)}bb`
const VERSIONS_OF_BLOCK = 100
const VERSIONS_OF_BATCH = 10_000
const START_USEC = 1_735_689_600_000_000n

/** Fills the store and opens it for writing. `balanceAt` returns the balance of a version. */
export async function openBusyCoinStore(
  path: string,
  versions: number,
  balanceAt: (version: number) => bigint,
): Promise<StateEngine> {
  const engine = openStateEngine({ path })
  for (let first = 0; first < versions; first += VERSIONS_OF_BATCH) {
    await commitBusyCoin(engine, first, Math.min(versions, first + VERSIONS_OF_BATCH), balanceAt)
  }
  return engine
}

/** Commits the versions from one to below another; the first begins a block. */
export async function commitBusyCoin(
  engine: StateEngine,
  from: number,
  to: number,
  balanceAt: (version: number) => bigint,
): Promise<void> {
  const key = resourceKey(
    Buffer.from(BUSY_ACCOUNT.slice(2), 'hex'),
    parseStructTag(`0x1::coin::CoinStore<${BUSY_COIN}>`),
  )
  const batch = Array.from({ length: to - from }, (_, at) => {
    const version = from + at
    const height = BigInt(Math.floor(version / VERSIONS_OF_BLOCK))
    const block = { height, epoch: 0n, timestampUsec: START_USEC + height * 1_000_000n }
    return {
      version: BigInt(version),
      block: version % VERSIONS_OF_BLOCK === 0 ? block : undefined,
      writes: [[key, coinStore(balanceAt(version))] as const],
    }
  })
  await engine.commit(batch, { chainId: 4 })
}

/** BCS of a coin store without events: the balance, whether it is frozen, and two event handles. */
function coinStore(balance: bigint): Uint8Array {
  const bytes = Buffer.alloc(105)
  bytes.writeBigUInt64LE(balance)
  return bytes
}
