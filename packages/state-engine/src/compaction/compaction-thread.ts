// The thread that writes parts of the memtable into segment files: the other side of `threaded-compaction.ts`. It has no part
// of LMDB open, so it may end at any moment.
import { workerData } from 'node:worker_threads'
import { serveRequests } from '@ledger-state/core/threads'
import { KeyHash } from '../memtable/key-hash.js'
import type { Segment } from '../memtable/segment.js'
import type { SegmentMemory } from '../memtable/segment-memory.js'
import type { SegmentRow } from '../records/segment-rows.js'
import { WalReader } from '../wal/reader.js'
import { flushSegment } from './flush-segment.js'
import { SharedProgress } from './shared-progress.js'
import type { CompactionThreadData, FlushRequest } from './threaded-compaction.js'

/** Share of reading and sorting in the work of writing a segment into files. */
const READ_SHARE = 0.35

const { facts, storeId, flushed } = workerData as CompactionThreadData
const progress = new SharedProgress(flushed)
/** Memory of the segment that was merged last, for the next one. */
let spare: SegmentMemory | undefined

/** Reads a sealed file. @throws `store_corrupt` */
function readSealed(file: FlushRequest['walFile']): Segment {
  const reader = new WalReader({ ...file, folder: facts.path, storeId }, new KeyHash(), spare)
  spare = undefined
  try {
    reader.read()
  } finally {
    reader.close()
  }
  if (!reader.isSealed) throw new Error(`${reader.path} is not sealed`)
  for (const _ of reader.segment.sortInSteps());
  return reader.segment
}

/** Writes the sealed file into segment files. */
function flush({ walFile, segmentFile }: FlushRequest): readonly SegmentRow[] {
  const segment = readSealed(walFile)
  progress.add(segment.length * READ_SHARE)
  const restPerWrite = (segment.length * (1 - READ_SHARE)) / segment.entryCount
  for (const steps = flushSegment(facts, segment, segmentFile); ; ) {
    const { done, value } = steps.next()
    if (done) {
      spare = segment.takeMemory()
      return value
    }
    progress.add(value * restPerWrite)
  }
}

serveRequests<FlushRequest, readonly SegmentRow[]>(flush)
