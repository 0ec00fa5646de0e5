import { grown } from '../memtable/grown.js'
import { NONE, type Segment } from '../memtable/segment.js'
import { toBytes } from './byte-output.js'
import { DELETED } from './entry-reader.js'
import type { SegmentSink } from './split-writer.js'

const STEP_WRITES = 1_024

/**
 * Puts a part of the memtable into a file of segments, in steps of about a millisecond. Each step yields the number of
 * writes that it put. The first version of the file is the first of the memtable.
 */
export function* putMemtable(memtable: Segment, writer: SegmentSink): Generator<number, void> {
  for (let place = 0; place < memtable.blocks.count; place++) writer.addBlock(memtable.blocks.at(place))
  // A part of a plain typed array is made faster than a part of a Buffer.
  const bytes = toBytes(memtable.bytes)
  let entries = new Int32Array(STEP_WRITES)
  let stepLeft = STEP_WRITES
  for (const newest of memtable.sortedHeads()) {
    let count = 0
    for (let entry = newest; entry !== NONE; entry = memtable.older(entry)) {
      entries = grown(entries, count + 1)
      entries[count++] = entry
    }
    stepLeft -= count
    writer.beginKey(bytes, memtable.keyStart(newest), memtable.keyEnd(newest))
    while (count > 0) {
      const entry = entries[--count]!
      const end = memtable.isDeletion(entry) ? DELETED : memtable.valueEnd(entry)
      writer.add(memtable.versionOffset(entry), bytes, memtable.valueStart(entry), end)
    }
    if (stepLeft > 0) continue
    yield STEP_WRITES - stepLeft
    stepLeft = STEP_WRITES
  }
  yield STEP_WRITES - stepLeft
}
