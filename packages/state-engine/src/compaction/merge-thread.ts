// The thread in which large segments are merged: the other side of `threaded-merge.ts`.
import { parentPort, workerData } from 'node:worker_threads'
import { isLedgerStateError } from '@ledger-state/core'
import { RecordBuilder } from '../bytes/record.js'
import { LEDGER_KEY, openLmdbStore, withStoreErrors } from '../lmdb/lmdb-store.js'
import { runTransaction } from '../lmdb/write-transaction.js'
import { KeyHash } from '../memtable/key-hash.js'
import type { Segment } from '../memtable/segment.js'
import type { SegmentMemory } from '../memtable/segment-memory.js'
import { decodeLedgerRecord } from '../records/ledger-record.js'
import { WalReader } from '../wal/reader.js'
import { MergeReadAhead } from './merge-read-ahead.js'
import { SegmentMerge } from './merge-segment.js'
import { LatestRepacker } from './repack-latest.js'
import { ThreadGate } from './thread-gate.js'
import type { MergeReply, MergeRequest, MergeThreadData } from './threaded-merge.js'

/**
 * Time of work of one transaction. Ending it takes some milliseconds, however much it did; but LMDB lists the pages that
 * it freed, and each later transaction, such as the steps of a prune, reads all of that list.
 */
const TRANSACTION_MS = 20
/** Time of work of a transaction that others wait for. */
const WANTED_MS = 8

interface FileMerge {
  readonly segment: Segment
  readonly merge: SegmentMerge
  readonly readAhead: MergeReadAhead
  /** Place in the order of keys up to which the records were read ahead. */
  endKey: number
}

const { path, mapBytes, compressHistory, durability, memory } = workerData as MergeThreadData
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
function beginMerge(fileNumber: number): FileMerge | undefined {
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
  const merge = new SegmentMerge(store, builder, reader.segment, fileNumber + 1)
  return { segment: reader.segment, merge, readAhead: new MergeReadAhead(store, merge.keys), endKey: 0 }
}

/** Runs one transaction of the merge. Returns whether the file is merged. */
function transact({ merge, endKey }: FileMerge): boolean {
  const isMerged = gate.pass(() =>
    withStoreErrors(path, () =>
      runTransaction(store.root, durability === 'none' ? 'none' : 'ordered', () => {
        const began = performance.now()
        const isEnough = () => gate.isClosed || (gate.isWanted && performance.now() - began >= WANTED_MS)
        const isLast = merge.slice(TRANSACTION_MS, { endKey, isEnough })
        gate.expectOpen()
        repacker.pack(merge.sliceKeys)
        gate.expectOpen()
        return isLast
      }),
    ),
  )
  merge.sliceCommitted()
  return isMerged
}

async function work(request: MergeRequest): Promise<MergeReply> {
  switch (request.kind) {
    case 'begin':
      current = beginMerge(request.fileNumber)
      break
    case 'prepare':
      if (current) current.endKey = await current.readAhead.readFrom(current.merge.nextKey)
      break
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
  return { isMerged: false, progress: 0 }
}

async function reply(request: MergeRequest): Promise<MergeReply> {
  try {
    return await work(request)
  } catch (error) {
    // The next try reads the segment anew.
    current = undefined
    if (!isLedgerStateError(error)) return { crash: error }
    const { code, message, fields } = error
    return { failure: { code, message, fields } }
  }
}

parentPort!.on('message', async (request: MergeRequest | undefined) => {
  if (request) parentPort!.postMessage(await reply(request))
  else {
    await store.root.close()
    parentPort!.close()
  }
})
