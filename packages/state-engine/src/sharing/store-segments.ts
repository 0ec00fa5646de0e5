import type { LedgerSummary, StoreBase } from '@ledger-state/engine'
import { invalidArgumentErrors } from '../errors.js'
import type { LmdbStore } from '../lmdb/lmdb-store.js'
import { type ReadSnapshot, unmergedHead } from '../read/read-snapshot.js'
import { listSegmentRows } from '../records/segment-rows.js'
import { segmentPath } from '../segments/segment-names.js'

/** A segment file of a store. Files of the same first version are one segment, divided by keys. */
export interface StoreSegment {
  readonly path: string
  readonly bytes: number
  readonly firstVersion: bigint
  readonly lastVersion: bigint
  /** Newest version that is left: a truncation has cut off those above. */
  readonly until: bigint
  /** How often its writes were merged, at least; 255 if it is final. */
  readonly level: number
  /** Whether it has a state instead of all writes of its versions. */
  readonly isBase: boolean
  readonly writes: number
  readonly keys: number
}

/** The facts of a store other than its segment files. */
export interface StoreFacts {
  /** Id in the headers of the files. */
  readonly segmentsId: bigint
  readonly ledger: LedgerSummary
  readonly base: StoreBase
  readonly mark: Uint8Array | undefined
}

/** A store whose commits are all in segment files. */
export interface StoreSegments extends StoreFacts {
  /** The oldest first. */
  readonly files: readonly StoreSegment[]
}

/** Describes a store. @throws `invalid_argument` if commits are not in segment files; `store_corrupt` */
export function storeSegments(store: LmdbStore, snapshot: ReadSnapshot, mark: Uint8Array | undefined): StoreSegments {
  const { record, ledger, options } = snapshot
  if (!record || !ledger) throw invalidArgumentErrors.noSegments(store.path)
  if (unmergedHead(snapshot)) throw invalidArgumentErrors.commitsOutsideSegments(store.path)
  const files = listSegmentRows(store, options).map(
    ({ file, fileBytes, firstVersion, lastVersion, until, level, isBase, writes, keys }): StoreSegment => {
      const path = segmentPath(store.path, file)
      return { path, bytes: fileBytes, firstVersion, lastVersion, until, level, isBase, writes, keys }
    },
  )
  return { segmentsId: store.segmentsId, ledger, base: record.base, mark, files }
}
