import type { BlockInfo } from '@ledger-state/core'

/** Stands for the chain that an indexer follows: one transfer a block, from alice to bob. */
export const BLOCKS = 100

export function blockOf(height: number): BlockInfo {
  return { height: BigInt(height), epoch: 0n, timestampUsec: BigInt(height) * 12_000_000n }
}

export function transfersOf(height: number): { account: string; balance: number }[] {
  const sent = Math.floor(height / 25) * 10
  if (height % 25 !== 0) return []
  return [
    { account: 'alice', balance: 100 - sent },
    { account: 'bob', balance: sent },
  ]
}
