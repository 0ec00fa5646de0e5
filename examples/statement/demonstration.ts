import { writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ByteWriter, parseAddress } from '@ledger-state/core'
import { createMemoryEngine, type StateReader } from '@ledger-state/engine'
import { feedHeaderLine, openSource, versionToFeedLine } from '@ledger-state/feed'
import { ingestSource } from '@ledger-state/ingest'
import { parseStructTag, resourceKey } from '@ledger-state/type-tag'

export const OWNER = '0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab'
export const YEAR = 2025

/** Days of the blocks, and the coins of the owner after each of them. */
const BLOCKS = [
  ['2024-12-30', 1_000n],
  ['2025-02-01', 1_250n],
  ['2025-02-02', 1_250n],
  ['2025-09-15', 900n],
  ['2026-01-03', 5_000n],
] as const

/** Makes a store with the index of holdings: an ingest derives it. */
export async function demonstrationStore(): Promise<StateReader> {
  const key = resourceKey(parseAddress(OWNER), parseStructTag('0x1::coin::CoinStore<0x1::aptos_coin::AptosCoin>'))
  const lines = BLOCKS.map(([day, balance], at) => {
    const block = { height: BigInt(at), epoch: 0n, timestampUsec: BigInt(Date.parse(day)) * 1_000n }
    return versionToFeedLine({ version: BigInt(at), block, writes: [[key, coinStore(balance)]] })
  })
  const folder = await mkdtemp(join(tmpdir(), 'statement-'))
  const feed = join(folder, 'feed.ndjson')
  writeFileSync(feed, `${[feedHeaderLine({ chainId: 4 }), ...lines].join('\n')}\n`)
  const engine = createMemoryEngine()
  const source = await openSource(feed)
  await ingestSource(engine, source)
  await source.close()
  await rm(folder, { recursive: true })
  return engine
}

/** BCS of `0x1::coin::CoinStore`: the coin, whether it is frozen, and two event handles. */
function coinStore(balance: bigint): Uint8Array {
  const writer = new ByteWriter().u64(balance).bool(false)
  for (const creationNumber of [2n, 3n]) writer.u64(0n).u64(creationNumber).bytes(parseAddress(OWNER))
  return writer.toBytes()
}
