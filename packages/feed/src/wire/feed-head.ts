import { Buffer } from 'node:buffer'
import { bytesToHex, hexToBytes, parseU64 } from '@ledger-state/core'
import { invalidFeed, messageOf } from '../errors.js'
import type { FeedRow } from './feed-line.js'

/** Report of a live feed on how far it reaches. The source sends it after the newest version, and now and then. */
export interface FeedHead {
  readonly version: bigint
  /** Hash of the writes in the source's store at that version; undefined if the store does not compute it. */
  readonly writesHash: Uint8Array | undefined
  /** Mark of the store's own source. */
  readonly mark: Uint8Array | undefined
}

/** Line `{"head":{"version":"7","writes_hash":"0x…","mark":"0x…"}}`; the last two members are optional. */
export function headToFeedLine({ version, writesHash, mark }: FeedHead): string {
  return JSON.stringify({
    head: {
      version: String(version),
      ...(writesHash && { writes_hash: bytesToHex(writesHash) }),
      ...(mark && { mark: bytesToHex(mark) }),
    },
  })
}

/**
 * Reads the value of the member `head`.
 * @throws `invalid_feed`
 */
export function parseFeedHead(head: unknown): FeedHead {
  try {
    const { version, writes_hash: writesHash, mark } = head as FeedRow
    const toBytes = (text: unknown) => (text === undefined ? undefined : Buffer.from(hexToBytes(text as string)))
    return { version: parseU64(version as string), writesHash: toBytes(writesHash), mark: toBytes(mark) }
  } catch (error) {
    throw invalidFeed(`the member "head": ${messageOf(error)}`)
  }
}
