// The thread that writes parts of the memtable into segment files. It has no part of LMDB open, so it may end at any moment.
import { workerData } from 'node:worker_threads'
import { serveRequests } from '@ledger-state/core/threads'
import { THREAD_STEP_KEYS } from '../memtable/key-order.js'
import { Segment } from '../memtable/segment.js'
import { flushSegment } from './flush-segment.js'
import type { FlushedPart, FlushJob, MergeThreadData } from './merge-threads.js'
import { SharedProgress } from './shared-progress.js'

const { facts, memory } = workerData as MergeThreadData
const progress = new SharedProgress(memory)

/** Writes a part into files, and counts the share that is done as a share of its length. */
function flush({ copy, file }: FlushJob): FlushedPart {
  let before = 0
  for (const steps = flushSegment(facts, Segment.ofCopy(copy), file, THREAD_STEP_KEYS); ; ) {
    const { done, value } = steps.next()
    if (done) return { rows: value, memory: copy.memory }
    progress.add(copy.length * (value - before))
    before = value
  }
}

serveRequests<FlushJob, FlushedPart>(flush, { transferOf: ({ memory }) => [memory] })
