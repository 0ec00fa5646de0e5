import type { ByteReader, Write } from '@ledger-state/core'
import { noteToAnnotation, readStateKey, readValueMetadata } from '@ledger-state/type-tag'

/** Variant with the writes of variant 0, then keys whose hotness changed, then extensions. */
const WRITE_SET_V1 = 1
const EXTENSION_NATIVE_POSITIONS = 0

/**
 * Reads the writes of a write set: keys in database form, values as views of the reader's bytes, and annotations
 * (`noteToAnnotation`). See docs/ledger-formats.md, "Write sets".
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
  for (let rest = reader.readLength(); rest > 0; rest--) writes.push(readWrite(reader))
}

/**
 * Reads a write: a key, and the value that its write op sets, or null if it deletes. Tags 0 and 3 create, 1 and 4
 * modify, 2 and 5 delete; 3 to 5 are followed by metadata.
 */
function readWrite(reader: ByteReader): Write {
  const key = readStateKey(reader)
  const start = reader.offset
  const tag = reader.readUleb128()
  if (tag > 5) throw reader.fault(`unknown kind ${tag} of write`, start)
  const value = tag === 2 || tag === 5 ? null : reader.readByteString()
  const metadata = tag >= 3 ? readValueMetadata(reader) : undefined
  if (value === null) return [key, null]
  const annotation = noteToAnnotation({ metadata, isCreation: tag === 0 || tag === 3 })
  return annotation ? [key, value, annotation] : [key, value]
}
