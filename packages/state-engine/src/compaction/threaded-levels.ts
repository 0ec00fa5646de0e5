import { isMainThread } from 'node:worker_threads'
import { JobThread, threadModule } from '@ledger-state/core/threads'
import { storeFailed } from '@ledger-state/engine/authoring'
import type { LevelMerge, MergedLevel } from './merge-level.js'
import type { ProgressMemory, SharedProgress } from './shared-progress.js'
import type { FileFacts } from './write-segments.js'

export interface LevelThreadData {
  readonly facts: FileFacts
  readonly memory: ProgressMemory
}

/** The thread of merges of segment files, which starts with the first of them. */
export type LevelThread = JobThread<LevelMerge, MergedLevel | undefined>

/** Undefined if merges stay on the event loop: in a worker thread, which its owner may end, and in some bundles. */
export function createLevelThread(facts: FileFacts, { memory }: SharedProgress): LevelThread | undefined {
  const module = isMainThread ? threadModule('level-thread', import.meta.url) : undefined
  if (!module) return undefined
  const { path, segmentsId, durability } = facts
  const workerData: LevelThreadData = { facts: { path, segmentsId, durability }, memory }
  return new JobThread(module, {
    workerData,
    toCrash: threadFailed,
    toEnd: (cause) =>
      cause === undefined ? storeFailed('the thread of merges has ended', undefined) : threadFailed(cause),
  })
}

function threadFailed(cause: unknown) {
  return storeFailed(`a thread of the store failed: ${String(cause)}`, cause)
}
