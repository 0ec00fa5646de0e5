import type { StateWriter } from '@ledger-state/engine'
import { feedHeaderLine, stateToFeedLine, versionToFeedLine } from '@ledger-state/feed'
import { SYNTHETIC_CHAIN_ID } from '@ledger-state/feed/testing/synthetic-chain'

/** The feed of a store that begins with its state at a version, up to a later one. */
export function feedOfStore(engine: StateWriter, base: bigint, last: number): string {
  const { block } = engine.blockAt(base)
  const lines = [
    feedHeaderLine({ chainId: SYNTHETIC_CHAIN_ID, base: { version: base, block, complete: true } }),
    stateToFeedLine([...engine.at(base).scan(new Uint8Array(0))]),
    ...Array.from(engine.versions(base + 1n, BigInt(last)), versionToFeedLine),
  ]
  return `${lines.join('\n')}\n`
}
