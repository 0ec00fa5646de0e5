import { Buffer } from 'node:buffer'
import { ByteReader, ByteWriter } from '@ledger-state/core'
import { readVouching, type Vouching, writeVouching } from '@ledger-state/feed'
import { WRITES_HASH_LENGTH } from './writes-hash.js'

/** What an ingest keeps with each commit. */
export interface CommitMark {
  /** The mark of the source after the newest version; undefined for a source that proves nothing. */
  readonly source: Uint8Array | undefined
  /** `WritesHash` of the newest version; undefined in stores that began without one, by `engine.commit`. */
  readonly writesHash: Uint8Array | undefined
  /** How far the store is signed by validators; undefined where nothing vouches for any version. */
  readonly signed: SignedRange | undefined
}

/** Versions that validators signed, and which ones. */
export interface SignedRange extends Vouching {
  /** Newest version that is signed. */
  readonly version: bigint
}

const MAGIC = Buffer.from('LSMARK\0\x02', 'latin1')

/** Writes a mark: magic, options of 32 bytes hash and of u64 version with its vouching, mark of the source. */
export function encodeCommitMark({ source, writesHash, signed }: CommitMark): Uint8Array {
  const writer = new ByteWriter().bytes(MAGIC).bool(writesHash !== undefined)
  if (writesHash) writer.bytes(writesHash)
  writer.bool(signed !== undefined)
  if (signed) writeVouching(writer.u64(signed.version), signed)
  if (source) writer.bytes(source)
  return writer.toBytes()
}

/** Reads the mark of a store that `ingestSource` filled. Any other mark, such as one given to `engine.commit`, says nothing. */
export function decodeCommitMark(mark: Uint8Array | undefined): CommitMark {
  const nothing = { source: undefined, writesHash: undefined, signed: undefined }
  if (!mark || !MAGIC.equals(mark.subarray(0, MAGIC.length))) return nothing
  const reader = new ByteReader(mark, MAGIC.length)
  const writesHash = reader.readBool() ? Uint8Array.from(reader.readBytes(WRITES_HASH_LENGTH)) : undefined
  const signed = reader.readBool() ? { version: reader.readU64(), ...readVouching(reader) } : undefined
  const source = reader.remaining > 0 ? Uint8Array.from(reader.readBytes(reader.remaining)) : undefined
  return { source, writesHash, signed }
}
