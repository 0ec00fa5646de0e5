import { isMainThread } from 'node:worker_threads'
import { JobThread, threadModule } from '@ledger-state/core/threads'
import type { LmdbStore } from '../lmdb/lmdb-store.js'
import { THREAD_ERRORS } from '../lmdb/thread-errors.js'
import type { SegmentCopy } from '../memtable/segment.js'
import type { SegmentRow } from '../records/segment-rows.js'
import type { LevelMerge, MergedLevel } from './merge-level.js'
import type { ProgressMemory, SharedProgress } from './shared-progress.js'
import type { FileFacts } from './write-segments.js'

/** Asks for segment files with a part of the memtable. The first of them has this number. */
export interface FlushJob {
  readonly copy: SegmentCopy
  readonly file: number
}

export interface FlushedPart {
  /** Rows of the files, which no transaction has yet. */
  readonly rows: readonly SegmentRow[]
  /** Memory of the copy, for the next one. */
  readonly memory: ArrayBuffer
}

export interface MergeThreadData {
  readonly facts: FileFacts
  readonly memory: ProgressMemory
}

type ThreadStore = Pick<LmdbStore, 'path' | 'segmentsId' | 'durability'>

/** The thread that writes large parts of the memtable into files. */
export type FlushThread = JobThread<FlushJob, FlushedPart>
/** The thread that merges segment files. */
export type LevelThread = JobThread<LevelMerge, MergedLevel | undefined>

/**
 * A thread that starts with its first job. Undefined if its work stays on the event loop: in a worker thread, which its
 * owner may end at any moment, and in some bundles.
 */
export function createMergeThread(
  name: 'compaction-thread',
  store: ThreadStore,
  progress: SharedProgress,
): FlushThread | undefined
export function createMergeThread(
  name: 'level-thread',
  store: ThreadStore,
  progress: SharedProgress,
): LevelThread | undefined
export function createMergeThread(
  name: string,
  { path, segmentsId, durability }: ThreadStore,
  { memory }: SharedProgress,
): JobThread<unknown, unknown> | undefined {
  const module = isMainThread ? threadModule(name, import.meta.url) : undefined
  if (!module) return undefined
  const workerData: MergeThreadData = { facts: { path, segmentsId, isSynced: durability !== 'none' }, memory }
  return new JobThread(module, { workerData, ...THREAD_ERRORS })
}
