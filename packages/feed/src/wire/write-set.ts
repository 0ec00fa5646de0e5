import type { ByteReader, Write } from '@ledger-state/core'
import { readStateKey } from '@ledger-state/type-tag'

/** The writes as in variant 0, then keys whose hotness changed, then extensions. */
const WRITE_SET_V1 = 1
const EXTENSION_NATIVE_POSITIONS = 0

/**
 * Writes of a write set, keys in database form. Values are views of the reader's bytes.
 * See docs/ledger-formats.md, "Write sets".
 */
export function readWriteSet(reader: ByteReader): Write[] {
  const start = reader.offset
  const tag = reader.readUleb128()
  if (tag > WRITE_SET_V1) throw reader.fault(`unknown variant ${tag} of write set`, start)
  const writes: Write[] = []
  readWrites(reader, writes)
  if (tag === WRITE_SET_V1) {
    for (let rest = reader.readLength(); rest > 0; rest--) readStateKey(reader)
    for (let rest = reader.readLength(); rest > 0; rest--) {
      const at = reader.offset
      const extension = reader.readUleb128()
      if (extension !== EXTENSION_NATIVE_POSITIONS) {
        throw reader.fault(`unknown extension ${extension} of a write set`, at)
      }
      readWrites(reader, writes)
    }
  }
  return writes
}

function readWrites(reader: ByteReader, writes: Write[]): void {
  for (let rest = reader.readLength(); rest > 0; rest--) writes.push([readStateKey(reader), readWriteOp(reader)])
}

/** The value that a write op sets, or null where it deletes. Tags 0 to 2 are without metadata, 3 to 5 with it. */
function readWriteOp(reader: ByteReader): Uint8Array | null {
  const start = reader.offset
  const tag = reader.readUleb128()
  if (tag > 5) throw reader.fault(`unknown kind ${tag} of write`, start)
  const value = tag === 2 || tag === 5 ? null : reader.readByteString()
  if (tag >= 3) skipStateValueMetadata(reader)
  return value
}

/** Variant 0: deposit, creation time; variant 1: slot deposit, bytes deposit, creation time; all u64. */
export function skipStateValueMetadata(reader: ByteReader): void {
  const start = reader.offset
  const variant = reader.readUleb128()
  if (variant > 1) throw reader.fault(`unknown variant ${variant} of write metadata`, start)
  reader.skip(variant === 0 ? 16 : 24)
}
