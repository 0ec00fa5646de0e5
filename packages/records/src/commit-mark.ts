import { ByteReader, ByteWriter } from '@ledger-state/core'
import { beginsWith } from '@ledger-state/core/bytes'
import { textBytes } from './magic.js'
import { readText, readTrustedState, type TrustedState, writeTrustedState } from './trusted-state.js'

/** Bytes of the hash of all writes. */
export const WRITES_HASH_LENGTH = 32

/** State of an ingest that it keeps with each commit. */
export interface CommitMark extends ResumeToken {
  /** Whether some version came from a source that proves nothing. Then no later signature verifies the store. */
  readonly isUnproven: boolean
  /** The word before the names of the ledger's hashes; undefined if no source had hashes. */
  readonly hashSalt: string | undefined
  /** Versions that validators signed; undefined if nothing verifies any version. */
  readonly signed: SignedRange | undefined
  /** A signed ledger that differs from the store's above `signed`; undefined if nothing contradicts the store. */
  readonly contradicted: Contradiction | undefined
  /**
   * Writes of the store's own keys that verify earlier versions: epoch changes, and a signed checkpoint. The next
   * commit makes them, unless its source is another store.
   */
  readonly pending: readonly PendingWrite[]
  /** The range of versions of a store that is filled with only a part of a ledger, to be joined with others. */
  readonly range?: RangeOfLedger | undefined
}

/** A range of versions that was asked for. It begins and ends with blocks: those that begin within it are its. */
export interface RangeOfLedger {
  readonly from: bigint
  readonly to: bigint
  /** Mark of the source before the first version; undefined for version 0. */
  readonly before: Uint8Array | undefined
  /** The kept parts of transactions, as a number, so that only ranges of the same kind are joined. */
  readonly kept: number
}

/** Key and value of a write that the next commit makes. */
export type PendingWrite = readonly [Uint8Array, Uint8Array]

/** State of an ingest from which the next one resumes. */
export interface ResumeToken {
  /** The mark of the source after the newest version; undefined for a source that proves nothing. */
  readonly source: Uint8Array | undefined
  /** `WritesHash` at the newest version. Undefined in stores that `engine.commit` began without one. */
  readonly writesHash: Uint8Array | undefined
  /**
   * In a store that keeps a slice: the `WritesHash` of a store of the whole ledger. It is known after a snapshot of
   * such a store was imported, or once its feed is followed. Undefined before that, and in stores that keep everything.
   */
  readonly wholeHash: Uint8Array | undefined
}

/** Versions that validators signed, and the validators. `ending` is the newest epoch change that the store keeps. */
export interface SignedRange extends TrustedState {
  /** Newest version that is signed. */
  readonly version: bigint
  /**
   * The resume token of the mark from when this version was the newest; undefined while it is the newest. If it never
   * was the newest, it has only the latest known mark of the source that is not above this version, if there is one.
   */
  readonly resume?: ResumeToken | undefined
}

/** A ledger that validators signed and that differs from the store's. */
export interface Contradiction {
  /** Version up to which the ledger is signed. */
  readonly version: bigint
  /** The epoch whose validators signed. */
  readonly epoch: bigint
}

const MAGIC = textBytes('LSMARK\0\x07')

const NOTHING: CommitMark = {
  isUnproven: true,
  source: undefined,
  writesHash: undefined,
  wholeHash: undefined,
  hashSalt: undefined,
  signed: undefined,
  contradicted: undefined,
  pending: [],
}

/** Writes a mark, with the mark of the source at its end. */
export function encodeCommitMark(mark: CommitMark): Uint8Array {
  const { isUnproven, source, writesHash, wholeHash, hashSalt, signed, contradicted, pending, range } = mark
  const writer = new ByteWriter().bytes(MAGIC).bool(isUnproven)
  writeOptional(writer, writesHash, (hash) => writer.bytes(hash))
  writeOptional(writer, wholeHash, (hash) => writer.bytes(hash))
  writeOptional(writer, hashSalt, (salt) => writer.string(salt))
  writeOptional(writer, signed, (range) => writeSigned(writer, range))
  writeOptional(writer, contradicted, ({ version, epoch }) => writer.u64(version).u64(epoch))
  writer.u32(pending.length)
  for (const [key, value] of pending) writer.byteString(key).byteString(value)
  writeOptional(writer, range, ({ from, to, before, kept }) => {
    writer.u64(from).u64(to).u8(kept)
    writeOptional(writer, before, (bytes) => writer.byteString(bytes))
  })
  if (source) writer.bytes(source)
  return writer.toBytes()
}

/**
 * Reads the mark of a store that `ingestSource` filled. Any other mark, such as one given to `engine.commit`, reads as
 * an empty one.
 */
export function decodeCommitMark(mark: Uint8Array | undefined): CommitMark {
  if (!mark || !beginsWith(mark, MAGIC)) return NOTHING
  const reader = new ByteReader(mark, MAGIC.length)
  const isUnproven = reader.readBool()
  const writesHash = reader.readOption(() => Uint8Array.from(reader.readBytes(WRITES_HASH_LENGTH)))
  const wholeHash = reader.readOption(() => Uint8Array.from(reader.readBytes(WRITES_HASH_LENGTH)))
  const hashSalt = reader.readOption(() => readText(reader))
  const signed = reader.readOption(() => readSigned(reader))
  const contradicted = reader.readOption(() => ({ version: reader.readU64(), epoch: reader.readU64() }))
  const pending = Array.from({ length: reader.readU32() }, (): PendingWrite => [readBytes(reader), readBytes(reader)])
  const range = reader.readOption(() => readRange(reader))
  const source = reader.remaining > 0 ? Uint8Array.from(reader.readBytes(reader.remaining)) : undefined
  const content = { isUnproven, source, writesHash, wholeHash, hashSalt, signed, contradicted, pending }
  return range ? { ...content, range } : content
}

function writeSigned(writer: ByteWriter, range: SignedRange): void {
  writeTrustedState(writer.u64(range.version), range)
  writeOptional(writer, range.resume, ({ source, writesHash, wholeHash }) => {
    writeOptional(writer, source, (bytes) => writer.byteString(bytes))
    writeOptional(writer, writesHash, (hash) => writer.bytes(hash))
    writeOptional(writer, wholeHash, (hash) => writer.bytes(hash))
  })
}

function readSigned(reader: ByteReader): SignedRange {
  const range = { version: reader.readU64(), ...readTrustedState(reader) }
  const resume = reader.readOption(() => ({
    source: reader.readOption(() => Uint8Array.from(reader.readByteString())),
    writesHash: reader.readOption(() => Uint8Array.from(reader.readBytes(WRITES_HASH_LENGTH))),
    wholeHash: reader.readOption(() => Uint8Array.from(reader.readBytes(WRITES_HASH_LENGTH))),
  }))
  return resume ? { ...range, resume } : range
}

function readRange(reader: ByteReader): RangeOfLedger {
  const [from, to, kept] = [reader.readU64(), reader.readU64(), reader.readU8()]
  return { from, to, kept, before: reader.readOption(() => readBytes(reader)) }
}

function readBytes(reader: ByteReader): Uint8Array {
  return Uint8Array.from(reader.readByteString())
}

function writeOptional<T>(writer: ByteWriter, value: T | undefined, write: (value: T) => void): void {
  writer.bool(value !== undefined)
  if (value !== undefined) write(value)
}
