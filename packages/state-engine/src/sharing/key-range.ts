import { BlockCache } from '../segments/block-cache.js'
import { SegmentCursor } from '../segments/segment-cursor.js'
import { SegmentReader } from '../segments/segment-reader.js'

const NO_KEY = new Uint8Array(0)

/** The least and the greatest key of a segment file; empty if it has none. @throws `store_corrupt` */
export function keyRangeOf(path: string): readonly [Uint8Array, Uint8Array] {
  const reader = new SegmentReader(path, { cache: new BlockCache(0), isMapped: false })
  try {
    const { blocks } = reader.summary
    if (blocks === 0) return [NO_KEY, NO_KEY]
    const first = new SegmentCursor(reader, { checksContent: true })
    first.next()
    const last = new SegmentCursor(reader, { firstBlock: blocks - 1, checksContent: true })
    while (last.next());
    return [first.key.copy(), last.key.copy()]
  } finally {
    reader.close()
  }
}
