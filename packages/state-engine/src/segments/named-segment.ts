import { Buffer } from 'node:buffer'
import { storeCorruptErrors } from '../errors.js'
import type { SegmentRow } from '../records/segment-rows.js'
import { segmentPath } from './segment-names.js'
import { SegmentReader, type SegmentReaderOptions } from './segment-reader.js'

/**
 * Opens the segment file that a row of the catalog names. `segmentsId` is the store id in the headers of the store's files.
 * @throws `store_corrupt` if the file is damaged, or is another one; the error of the system if there is none
 */
export function openNamedSegment(
  { path: folder, segmentsId }: { readonly path: string; readonly segmentsId: bigint },
  { file, sha256 }: Pick<SegmentRow, 'file' | 'sha256'>,
  options: SegmentReaderOptions,
): SegmentReader {
  const path = segmentPath(folder, file)
  const reader = new SegmentReader(path, options)
  const fault = faultOf(reader, segmentsId, sha256)
  if (fault === undefined) return reader
  reader.close()
  throw storeCorruptErrors.fileDamaged(path, 0, fault)
}

/** The row of an open file, whose versions are left up to one. */
export function rowOf({ identity, summary, file: opened }: SegmentReader, file: number, until: bigint): SegmentRow {
  const { firstVersion, lastVersion, level, isBase } = identity
  const { writes, keys, payloadBytes, sha256 } = summary
  const { fileBytes } = opened
  return { firstVersion, file, lastVersion, until, level, isBase, fileBytes, writes, keys, payloadBytes, sha256 }
}

function faultOf({ identity, summary }: SegmentReader, segmentsId: bigint, sha256: Uint8Array): string | undefined {
  if (Buffer.compare(summary.sha256, sha256) !== 0) return 'the file is not the one that the catalog names'
  // Its filter would be asked with another hash.
  return identity.storeId === segmentsId ? undefined : 'the file belongs to another store'
}
