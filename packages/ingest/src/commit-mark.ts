import { Buffer } from 'node:buffer'
import { WRITES_HASH_LENGTH } from './writes-hash.js'

/** What an ingest keeps with each commit. */
export interface CommitMark {
  /** The mark of the source after the newest version; undefined for a source that proves nothing. */
  readonly source: Uint8Array | undefined
  /** `WritesHash` of the newest version; undefined in stores that began without one, by `engine.commit`. */
  readonly writesHash: Uint8Array | undefined
}

const MAGIC = Buffer.from('LSMARK\0\x01', 'latin1')
const NO_HASH = Buffer.alloc(WRITES_HASH_LENGTH)
const SOURCE_AT = MAGIC.length + WRITES_HASH_LENGTH

/** 8 bytes magic | 32 bytes hash, all zero where there is none | the mark of the source, empty where there is none. */
export function encodeCommitMark({ source, writesHash }: CommitMark): Uint8Array {
  return Buffer.concat([MAGIC, writesHash ?? NO_HASH, source ?? new Uint8Array(0)])
}

/** Reads the mark of a store that `ingestSource` filled. Any other mark, such as one given to `engine.commit`, says nothing. */
export function decodeCommitMark(mark: Uint8Array | undefined): CommitMark {
  if (!mark || mark.length < SOURCE_AT || !MAGIC.equals(mark.subarray(0, MAGIC.length)))
    return { source: undefined, writesHash: undefined }
  const writesHash = mark.slice(MAGIC.length, SOURCE_AT)
  return {
    source: mark.length > SOURCE_AT ? mark.slice(SOURCE_AT) : undefined,
    writesHash: NO_HASH.equals(writesHash) ? undefined : writesHash,
  }
}
