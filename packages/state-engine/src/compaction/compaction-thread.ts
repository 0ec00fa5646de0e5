// The thread in which large segments are merged, and which then prunes, too: the other side of `threaded-compaction.ts`.
import { workerData } from 'node:worker_threads'
import { serveRequests } from '@ledger-state/core/threads'
import { RecordBuilder } from '../bytes/record.js'
import type { Durability } from '../lmdb/durability.js'
import { LEDGER_KEY, openLmdbStore, withStoreErrors } from '../lmdb/lmdb-store.js'
import { runTransaction } from '../lmdb/write-transaction.js'
import { KeyHash } from '../memtable/key-hash.js'
import type { Segment } from '../memtable/segment.js'
import type { SegmentMemory } from '../memtable/segment-memory.js'
import { decodeLedgerRecord } from '../records/ledger-record.js'
import type { SegmentRow } from '../records/segment-rows.js'
import { WalReader } from '../wal/reader.js'
import { flushSegment } from './flush-segment.js'
import { MergeReadAhead } from './merge-read-ahead.js'
import { SegmentMerge } from './merge-segment.js'
import { type PruneStep, pruneStep, raiseOldest } from './prune-store.js'
import { LatestRepacker } from './repack-latest.js'
import { SharedProgress } from './shared-progress.js'
import { ThreadGate } from './thread-gate.js'
import type { CompactionThreadData, MergeProgress, RequestOf, ThreadRequest } from './threaded-compaction.js'

/**
 * Time of work of one transaction. Ending it takes a millisecond or more, however little it did, because LMDB verifies
 * what it has loaded of its list of free pages; a longer transaction makes that list longer for all that follow.
 */
const TRANSACTION_MS = 20
/** Time of work of a transaction that others wait for. */
const WANTED_MS = 8

/** Share of reading and sorting in the work of writing a segment into files. */
const READ_SHARE = 0.35

interface FileMerge {
  readonly segment: Segment
  readonly merge: SegmentMerge
  readonly readAhead: MergeReadAhead
  /** Place in the order of keys up to which the records were read ahead. */
  endKey: number
}

const { path, mapBytes, compressHistory, durability, memory, flushed } = workerData as CompactionThreadData
const progress = new SharedProgress(flushed)
const gate = new ThreadGate(memory)
// Opening the databases takes a write transaction.
const store = gate.pass(() =>
  openLmdbStore({ path, mapBytes, compressHistory, durability, readOnly: false, isOpened: true }),
)
const builder = new RecordBuilder()
const repacker = new LatestRepacker(store)
let current: FileMerge | undefined
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

function beginMerge(fileNumber: number): FileMerge | undefined {
  const segment = readSealed(fileNumber)
  if (!segment) return undefined
  const merge = new SegmentMerge(store, builder, segment, fileNumber + 1)
  return { segment, merge, readAhead: new MergeReadAhead(store, merge.keys), endKey: 0 }
}

/** Writes the sealed file into segment files. */
function flush({ fileNumber, segmentFile }: RequestOf<'flush'>): readonly SegmentRow[] {
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

/**
 * Runs a write transaction. The work ends it once `isEnough` says so, and asks that every few milliseconds.
 * @throws once the gate is closed, which aborts the transaction
 */
function runInGate<T>(durability: Durability, work: (isEnough: () => boolean) => T): T {
  return gate.pass(() =>
    withStoreErrors(path, () =>
      runTransaction(store.root, durability, () => {
        const began = performance.now()
        return work(() => {
          gate.expectOpen()
          return performance.now() - began >= (gate.isWanted ? WANTED_MS : TRANSACTION_MS)
        })
      }),
    ),
  )
}

/** Runs one transaction of the merge. Returns whether the file is merged. */
function transact({ merge, endKey }: FileMerge): boolean {
  const isMerged = runInGate(durability === 'none' ? 'none' : 'ordered', (isEnough) => {
    const isLast = merge.slice(Number.POSITIVE_INFINITY, { endKey, isEnough })
    gate.expectOpen()
    repacker.pack(merge.sliceKeys)
    gate.expectOpen()
    return isLast
  })
  merge.sliceCommitted()
  return isMerged
}

/** Runs one transaction of a prune, which may have several steps. */
function prune({ oldest, maxEntries }: RequestOf<'prune'>): PruneStep {
  return runInGate(durability, (isEnough) => {
    if (oldest) raiseOldest(store, builder, oldest)
    let { dropped, done } = pruneStep(store, builder)
    while (!done && dropped < maxEntries && !isEnough()) {
      const step = pruneStep(store, builder)
      dropped += step.dropped
      done = step.done
    }
    gate.expectOpen()
    return { dropped, done }
  })
}

/** Runs a step of the merge under way. The next try after an error reads the segment anew. */
async function merge(request: RequestOf<'begin' | 'prepare' | 'transact'>): Promise<MergeProgress | undefined> {
  try {
    switch (request.kind) {
      case 'begin':
        current = beginMerge(request.fileNumber)
        return undefined
      case 'prepare':
        if (current) current.endKey = await current.readAhead.readFrom(current.merge.nextKey)
        return undefined
      case 'transact': {
        const isMerged = !current || transact(current)
        const progress = current?.merge.progress ?? 1
        if (isMerged) {
          spare = current?.segment.takeMemory()
          current = undefined
        }
        return { isMerged, progress }
      }
    }
  } catch (error) {
    current = undefined
    throw error
  }
}

function answer(request: ThreadRequest) {
  switch (request.kind) {
    case 'prune':
      return prune(request)
    case 'flush':
      return flush(request)
    default:
      return merge(request)
  }
}

serveRequests<ThreadRequest, unknown>(answer, { onClose: () => store.root.close() })
