import { SegmentStore } from '@ledger-state/state-engine/segment-store'
import type { LookupResult, Store } from './store.ts'

const CACHE_BYTES = 2 ** 26

/** Segment files, read through LMDB's map. */
export function openMappedSegments(path: string): Store {
  return openSegments(path, 'segments, mapped', true)
}

/** Segment files, read into a cache of 64 MiB. */
export function openCachedSegments(path: string): Store {
  return openSegments(path, 'segments, cached', false)
}

function openSegments(path: string, name: string, isMapped: boolean): Store {
  const store = new SegmentStore(path, { isMapped, cacheBytes: CACHE_BYTES })
  return {
    name,
    ingest: (versions) => store.add(versions),
    usedBytes: () => store.fileBytes,
    latest(questions) {
      let answer: LookupResult
      for (const { key } of questions) answer = store.peek(key, NEWEST)
      return answer
    },
    atVersion(questions) {
      let answer: LookupResult
      for (const { key, version } of questions) answer = store.peek(key, version)
      return answer
    },
    close: () => store.close(),
  }
}

/** Version above all of a workload. */
const NEWEST = 2n ** 50n
