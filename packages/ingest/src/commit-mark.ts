import { Buffer } from 'node:buffer'
import { WRITES_HASH_LENGTH } from './writes-hash.js'

/** What an ingest keeps with each commit. */
export interface CommitMark {
  /** Of the source, after the newest version; undefined where it proves nothing. */
  readonly source: Uint8Array | undefined
  /** `WritesHash` of the newest version; undefined in stores that began without one. */
  readonly writesHash: Uint8Array | undefined
}

/** A mark that begins otherwise was made by an older program: it is the mark of the source alone. */
const MAGIC = Buffer.from('LSMARK\0\x01', 'latin1')
const SOURCE_AT = MAGIC.length + WRITES_HASH_LENGTH

/** magic, 32 bytes hash, mark of the source; without a hash, the mark of the source alone. */
export function encodeCommitMark({ source, writesHash }: CommitMark): Uint8Array | undefined {
  return writesHash ? Buffer.concat([MAGIC, writesHash, source ?? new Uint8Array(0)]) : source
}

/** Reads the mark of a store that `ingestSource` filled; any other mark is taken for that of a source. */
export function decodeCommitMark(mark: Uint8Array | undefined): CommitMark {
  if (!mark) return { source: undefined, writesHash: undefined }
  const hasHash = mark.length >= SOURCE_AT && MAGIC.equals(mark.subarray(0, MAGIC.length))
  if (!hasHash) return { source: mark, writesHash: undefined }
  const source = mark.length > SOURCE_AT ? mark.slice(SOURCE_AT) : undefined
  return { source, writesHash: mark.slice(MAGIC.length, SOURCE_AT) }
}
