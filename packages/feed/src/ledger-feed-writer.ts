import { type BlockInfo, bytesToHex, type VersionWrites } from '@ledger-state/core'
import { FORMAT, FORMAT_VERSION } from './ledger-feed.js'
import type { StateEntryRecord } from './source.js'

export interface FeedStart {
  readonly chainId: number
  /** The state that the feed begins with; its entries follow in lines of `stateToFeedLine`. */
  readonly base?: { readonly version: bigint; readonly block: BlockInfo; readonly complete: boolean } | undefined
}

/** The first line of a ledger feed, without its line end; see `openLedgerFeed`. */
export function feedHeaderLine({ chainId, base }: FeedStart): string {
  return JSON.stringify({
    format: FORMAT,
    format_version: FORMAT_VERSION,
    chain_id: chainId,
    ...(base && { base: { version: String(base.version), block: blockToJson(base.block), complete: base.complete } }),
  })
}

/** A line with entries of the state that the feed begins with. */
export function stateToFeedLine(entries: readonly StateEntryRecord[]): string {
  const state = entries.map(({ key, value, version }) => [bytesToHex(key), bytesToHex(value), String(version)])
  return JSON.stringify({ state })
}

/** The line of a version. */
export function versionToFeedLine({ version, block, writes }: VersionWrites): string {
  return JSON.stringify({
    version: String(version),
    ...(block && { block: blockToJson(block) }),
    writes: writes.map(([key, value]) => [bytesToHex(key), value && bytesToHex(value)]),
  })
}

function blockToJson({ height, epoch, timestampUsec }: BlockInfo) {
  return { height: String(height), epoch: String(epoch), timestamp_usec: String(timestampUsec) }
}
