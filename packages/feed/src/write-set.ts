import { Buffer } from 'node:buffer'
import { ADDRESS_LENGTH, type ByteReader, type Write } from '@ledger-state/core'

/** The writes, as in variant 0, then keys whose hotness changed, then extensions. */
const WRITE_SET_V1 = 1
const EXTENSION_NATIVE_POSITIONS = 0

const ACCESS_PATH = 0
const TABLE_ITEM = 1
const RAW = 2
const NATIVE_POSITION = 3
const NATIVE_POSITION_LENGTH = 1 + 3 * ADDRESS_LENGTH
const DATABASE_NATIVE_POSITION = 2
const DATABASE_RAW = 0xff

/** Writes of a write set, keys in database form. Values are views of the reader's bytes. See ledger-formats.md, section 1. */
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

/** A state key in BCS, in the form in which databases keep it and hashes see it: a table item without its length. */
export function readStateKey(reader: ByteReader): Uint8Array {
  const start = reader.offset
  const kind = reader.readU8()
  switch (kind) {
    case ACCESS_PATH:
      reader.skip(ADDRESS_LENGTH)
      reader.skip(reader.readLength())
      return reader.bytes.subarray(start, reader.offset)
    case TABLE_ITEM: {
      const handle = reader.skip(ADDRESS_LENGTH)
      const length = reader.readLength()
      const keyAt = reader.skip(length)
      const key = Buffer.allocUnsafe(1 + ADDRESS_LENGTH + length)
      key[0] = TABLE_ITEM
      reader.bytes.copy(key, 1, handle, handle + ADDRESS_LENGTH)
      reader.bytes.copy(key, 1 + ADDRESS_LENGTH, keyAt, keyAt + length)
      return key
    }
    case RAW:
      return Buffer.concat([Buffer.of(DATABASE_RAW), reader.readByteString()])
    case NATIVE_POSITION: {
      const position = reader.readBytes(NATIVE_POSITION_LENGTH)
      if (position[0] !== 0) throw reader.fault(`unknown variant ${position[0]} of native position`, start + 1)
      return Buffer.concat([Buffer.of(DATABASE_NATIVE_POSITION), position])
    }
    default:
      throw reader.fault(`unknown kind ${kind} of state key`, start)
  }
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
