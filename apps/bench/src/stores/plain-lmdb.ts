import { join } from 'node:path'
import type { VersionWrites } from '@ledger-state/core'
import type { Question } from '../workload/workload.ts'
import { openBareLmdb } from './bare-lmdb.ts'
import { toShortKey } from './short-key.ts'
import type { LookupResult, Store } from './store.ts'

const PAGE_BYTES = 4_096

export const PLAIN_FILE = 'plain.mdb'

interface Stats {
  readonly lastPageNumber: number
  readonly treeBranchPageCount: number
  readonly treeLeafPageCount: number
  readonly overflowPages: number
}

export function usedPagesBytes(stats: unknown): number {
  const { treeBranchPageCount, treeLeafPageCount, overflowPages } = stats as Stats
  return (treeBranchPageCount + treeLeafPageCount + overflowPages) * PAGE_BYTES
}

/** The floor: bare lmdb that keeps only the newest value of each key. */
export function openPlainLmdb(path: string) {
  const database = openBareLmdb(join(path, PLAIN_FILE))
  return {
    name: 'lmdb, newest values only',
    database,
    ingest(versions: readonly VersionWrites[]) {
      database.transactionSync(() => {
        for (const { writes } of versions) {
          for (const [key, value] of writes) {
            if (value === null) database.removeSync(toShortKey(key))
            else database.putSync(toShortKey(key), value as Buffer)
          }
        }
      })
    },
    usedBytes: () => usedPagesBytes(database.getStats()),
    latest(questions) {
      let answer: LookupResult
      for (const { key } of questions) answer = database.getBinary(toShortKey(key))
      return answer
    },
    /** Reads without copying the value, which is valid until the next read. */
    latestFast(questions: readonly Question[]) {
      let answer: LookupResult
      for (const { key } of questions) answer = database.getBinaryFast(toShortKey(key))
      return answer
    },
    atVersion: undefined,
    close: () => database.close(),
  } satisfies Store & { readonly [also: string]: unknown }
}
