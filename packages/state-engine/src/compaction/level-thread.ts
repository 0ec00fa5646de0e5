// The thread in which segment files are merged. It has no part of LMDB open, so it may end at any moment.
import { workerData } from 'node:worker_threads'
import { serveRequests } from '@ledger-state/core/threads'
import { withStoreErrorsAsync } from '../lmdb/store-errors.js'
import { LevelWork } from './level-work.js'
import type { LevelMerge, MergedLevel } from './merge-level.js'
import type { MergeThreadData } from './merge-threads.js'
import { SharedProgress } from './shared-progress.js'

const { facts, memory } = workerData as MergeThreadData
const work = new LevelWork(facts, new SharedProgress(memory))

serveRequests<LevelMerge, MergedLevel | undefined>((merge) => withStoreErrorsAsync(facts.path, () => work.run(merge)))
