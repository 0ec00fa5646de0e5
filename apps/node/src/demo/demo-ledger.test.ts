import { type BlockInfo, bytesToHex } from '@ledger-state/core'
import type { LedgerSummary } from '@ledger-state/engine'
import { expect, it } from 'vitest'
import { DEMO_CHAIN_ID, isDemoLedger, openDemoLedger } from './demo-ledger.js'

async function printed(): Promise<string[]> {
  const lines: string[] = []
  for await (const { version, writes } of openDemoLedger().versions({ version: undefined })) {
    const texts = writes.map(([key, value]) => `${bytesToHex(key)}=${value && bytesToHex(value)}`)
    lines.push(`${version} ${texts.join(' ')}`)
  }
  return lines
}

it('the demonstration ledger is the same each time', async () => {
  const first = await printed()
  expect(first.length).toBe(3_000)
  expect(await printed()).toEqual(first)
})

it('a store of the demonstration ledger is told from a store of another ledger with its chain id', async () => {
  const chainId = BigInt(DEMO_CHAIN_ID)
  const genesis: BlockInfo = { height: 0n, epoch: 0n, timestampUsec: 0n }
  const summary = (latestVersion: bigint, latestBlock: BlockInfo): LedgerSummary => {
    return { chainId, latestVersion, latestBlock, oldestVersion: 0n, oldestBlock: genesis }
  }
  let held = summary(0n, genesis)
  for await (const { version, block } of openDemoLedger().versions({ version: undefined })) {
    held = summary(version, block ?? held.latestBlock)
    expect(isDemoLedger(held)).toBe(true)
  }
  const { latestVersion, latestBlock } = held
  expect(isDemoLedger({ ...held, chainId: 4n })).toBe(false)
  expect(isDemoLedger(summary(latestVersion + 1n, latestBlock))).toBe(false)
  expect(isDemoLedger(summary(latestVersion, { ...latestBlock, height: latestBlock.height - 1n }))).toBe(false)
  expect(isDemoLedger(summary(latestVersion, { ...latestBlock, timestampUsec: 1n }))).toBe(false)
})
