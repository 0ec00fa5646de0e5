// The thread that writes parts of the memtable into segment files: the other side of `threaded-compaction.ts`.
import { workerData } from 'node:worker_threads'
import { serveRequests } from '@ledger-state/core/threads'
import { LEDGER_KEY, openLmdbStore } from '../lmdb/lmdb-store.js'
import { KeyHash } from '../memtable/key-hash.js'
import type { Segment } from '../memtable/segment.js'
import type { SegmentMemory } from '../memtable/segment-memory.js'
import { decodeLedgerRecord } from '../records/ledger-record.js'
import type { SegmentRow } from '../records/segment-rows.js'
import { WalReader } from '../wal/reader.js'
import { flushSegment } from './flush-segment.js'
import { SharedProgress } from './shared-progress.js'
import { ThreadGate } from './thread-gate.js'
import type { CompactionThreadData, FlushRequest } from './threaded-compaction.js'

/** Share of reading and sorting in the work of writing a segment into files. */
const READ_SHARE = 0.35

const { path, mapBytes, durability, memory, flushed } = workerData as CompactionThreadData
const progress = new SharedProgress(flushed)
const gate = new ThreadGate(memory)
// Opening the databases takes a write transaction.
const store = gate.pass(() => openLmdbStore({ path, mapBytes, durability, readOnly: false, isOpened: true }))
/** Memory of the segment that was merged last, for the next one. */
let spare: SegmentMemory | undefined

/** Reads the sealed file that is merged next. Returns undefined if it is merged already. @throws `store_corrupt` */
function readSealed(fileNumber: number): Segment | undefined {
  store.root.resetReadTxn()
  const { walFile, nextCommit, ledger, logEnd } = decodeLedgerRecord(store.meta.getBinary(LEDGER_KEY)!)
  if (walFile > fileNumber) return undefined
  const options = { folder: path, storeId: store.storeId, fileNumber, firstCommit: nextCommit, logEnd }
  const reader = new WalReader({ ...options, blockBefore: ledger.latestBlock }, new KeyHash(), spare)
  spare = undefined
  try {
    reader.read()
  } finally {
    reader.close()
  }
  if (!reader.isSealed) throw new Error(`${reader.path} is not sealed`)
  for (const _ of reader.segment.sortInSteps()) gate.expectOpen()
  return reader.segment
}

/** Writes the sealed file into segment files. */
function flush({ fileNumber, segmentFile }: FlushRequest): readonly SegmentRow[] {
  const segment = readSealed(fileNumber)
  if (!segment) return []
  progress.add(segment.length * READ_SHARE)
  const restPerWrite = (segment.length * (1 - READ_SHARE)) / segment.entryCount
  for (const steps = flushSegment(store, segment, segmentFile); ; gate.expectOpen()) {
    const { done, value } = steps.next()
    if (done) {
      spare = segment.takeMemory()
      return value
    }
    progress.add(value * restPerWrite)
  }
}

serveRequests<FlushRequest, unknown>(flush, { onClose: () => store.root.close() })
