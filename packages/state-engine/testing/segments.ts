import { atOnce, type VersionWrites } from '@ledger-state/core'
import { KeyHash } from '../src/memtable/key-hash.ts'
import { Segment } from '../src/memtable/segment.ts'
import { payloadLength, putCommitInSteps } from '../src/wal/put-payload.ts'

const HASH = new KeyHash()

/** Makes a segment of one commit. Deletions of keys that it does not have are kept. */
export function segmentOf(versions: readonly VersionWrites[], number = 1, blockBefore = versions[0]!.block): Segment {
  const segment = new Segment(number, HASH)
  const content = { number, chainId: 7n, versions, mark: undefined, blockBefore }
  segment.reserve(payloadLength(content))
  segment.head = atOnce(putCommitInSteps(segment, HASH, content, () => true))
  return segment
}
