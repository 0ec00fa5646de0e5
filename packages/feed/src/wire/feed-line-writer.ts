import { type BlockInfo, bytesToHex, type KeyedEntry, type VersionWrites } from '@ledger-state/core'
import { FEED_FORMAT, FEED_FORMAT_VERSION, type FeedStart } from './feed-line.js'

/** The first line of a ledger feed, without its line end. */
export function feedHeaderLine({ chainId, hashSalt, base }: FeedStart): string {
  return JSON.stringify({
    format: FEED_FORMAT,
    format_version: FEED_FORMAT_VERSION,
    chain_id: chainId,
    ...(hashSalt !== undefined && { hash_salt: hashSalt }),
    ...(base && { base: { version: String(base.version), block: blockToJson(base.block), complete: base.complete } }),
  })
}

/** A line with entries of the state that the feed begins with. */
export function stateToFeedLine(entries: readonly KeyedEntry[]): string {
  const state = entries.map(({ key, value, version, annotation }) => {
    const entry = [bytesToHex(key), bytesToHex(value), String(version)]
    return annotation ? [...entry, bytesToHex(annotation)] : entry
  })
  return JSON.stringify({ state })
}

/** The line of a version. */
export function versionToFeedLine({ version, block, writes }: VersionWrites): string {
  return JSON.stringify({
    version: String(version),
    ...(block && { block: blockToJson(block) }),
    writes: writes.map(([key, value, annotation]) => {
      const write = [bytesToHex(key), value && bytesToHex(value)]
      return annotation ? [...write, bytesToHex(annotation)] : write
    }),
  })
}

function blockToJson({ height, epoch, timestampUsec }: BlockInfo) {
  return { height: String(height), epoch: String(epoch), timestamp_usec: String(timestampUsec) }
}
