import { feedHeaderLine, versionToFeedLine } from '@ledger-state/feed'
import { DEMO_CHAIN_ID, openDemoLedger } from '../src/demo/demo-ledger.ts'

/** The first versions of the demonstration ledger as a feed. */
export async function demoFeed(versions: bigint): Promise<string> {
  const lines = [feedHeaderLine({ chainId: DEMO_CHAIN_ID })]
  for await (const version of openDemoLedger().versions()) {
    if (version.version >= versions) break
    lines.push(versionToFeedLine(version))
  }
  return `${lines.join('\n')}\n`
}
