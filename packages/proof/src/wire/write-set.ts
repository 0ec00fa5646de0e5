import type { ByteReader } from '@ledger-state/core'
import { readStateKey, readValueMetadata, type ValueMetadata } from '@ledger-state/type-tag'
import { readVariant } from './variant.js'

// See docs/ledger-formats.md, "Write sets".

/** Variant with the writes of variant 0, then the keys with changed hotness, then extensions. */
const WRITE_SET_V1 = 1
const WRITE_SET_VARIANTS = 2
/** Variant 0 of an extension: native positions. */
const EXTENSION_VARIANTS = 1

/** Kinds of write ops by their variants; 3 to 5 are the kinds 0 to 2 with metadata. */
const OP_KINDS = ['creation', 'modification', 'deletion'] as const

/** One write of a transaction. */
export interface WriteOp {
  /** Key in database form. */
  readonly key: Uint8Array
  readonly kind: (typeof OP_KINDS)[number]
  /** The value, a view of the reader's bytes; null of a deletion. */
  readonly value: Uint8Array | null
  readonly metadata: ValueMetadata | undefined
}

/** Moves the reader past a write set, and passes each write on. @throws `invalid_bcs` */
export function visitWriteSet(reader: ByteReader, onWrite: (op: WriteOp) => void): void {
  const variant = readVariant(reader, 'a write set', WRITE_SET_VARIANTS)
  visitWrites(reader, onWrite)
  if (variant !== WRITE_SET_V1) return
  for (let rest = reader.readLength(); rest > 0; rest--) readStateKey(reader)
  for (let rest = reader.readLength(); rest > 0; rest--) {
    readVariant(reader, 'an extension of a write set', EXTENSION_VARIANTS)
    visitWrites(reader, onWrite)
  }
}

function visitWrites(reader: ByteReader, onWrite: (op: WriteOp) => void): void {
  for (let rest = reader.readLength(); rest > 0; rest--) onWrite(readWriteOp(reader))
}

/** Reads a key and the write op that follows it. */
function readWriteOp(reader: ByteReader): WriteOp {
  const key = readStateKey(reader)
  const variant = readVariant(reader, 'a write op', 2 * OP_KINDS.length)
  const kind = OP_KINDS[variant % OP_KINDS.length]!
  const value = kind === 'deletion' ? null : reader.readByteString()
  const metadata = variant >= OP_KINDS.length ? readValueMetadata(reader) : undefined
  return { key, kind, value, metadata }
}
