import { Buffer } from 'node:buffer'
import { storeCorrupt } from '@ledger-state/engine/authoring'
import { checksum } from '../bytes/checksum.js'
import { CHECKSUM_LENGTH } from '../bytes/record.js'
import { toReadError } from './damage-errors.js'
import type { ReadOptions, Table } from './table.js'

/**
 * A record in the buffer of lmdb-js that all reads of a thread share. The next read, from any store, overwrites it.
 * Only the property `length` of that buffer says how long the record is, and most methods of the buffer ignore it, so
 * this class reads it as plain bytes.
 */
export class SharedRecord {
  bytes: Uint8Array = new Uint8Array(0)
  view: DataView = new DataView(new ArrayBuffer(0))
  length = 0
  #source: Buffer | undefined

  /** Makes a record in a separate buffer, with room for a checksum. */
  static over(bytes: Uint8Array): SharedRecord {
    const record = new SharedRecord()
    record.bytes = bytes
    record.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    record.length = bytes.length
    return record
  }

  /** Loads a record, which overwrites the one loaded before. Returns whether there is such a record. */
  load<K>(table: Table<K>, key: K, options: ReadOptions): boolean {
    const source = readFast(table, key, options)
    if (source === undefined) return false
    if (source !== this.#source) {
      this.#source = source
      this.bytes = new Uint8Array(source.buffer, source.byteOffset, source.byteLength)
      this.view = new DataView(source.buffer, source.byteOffset, source.byteLength)
    }
    this.length = source.length
    return true
  }

  /** Copies the record, so that no other read overwrites it. */
  detach(): SharedRecord {
    return SharedRecord.over(this.copy(0, this.length))
  }

  /** Compares the record with its checksum. @throws `store_corrupt` if they do not match */
  verify(seed: number): void {
    const end = this.length - CHECKSUM_LENGTH
    if (end >= 0 && this.view.getUint32(end) === checksum(this.bytes, 0, end, seed)) return
    throw storeCorrupt('a record does not match its checksum')
  }

  /** Copies a part of the record into Node's pool of memory: a separate typed array costs ten times as much. */
  copy(start: number, end: number): Buffer {
    const copy = Buffer.allocUnsafe(end - start)
    copy.set(new Uint8Array(this.bytes.buffer, this.bytes.byteOffset + start, end - start))
    return copy
  }

  /** Reads a number of six bytes. */
  u48(at: number): number {
    return this.view.getUint16(at) * 2 ** 32 + this.view.getUint32(at + 2)
  }
}

function readFast<K>(table: Table<K>, key: K, options: ReadOptions): Buffer | undefined {
  try {
    return table.getBinaryFast(key, options)
  } catch (cause) {
    throw toReadError(cause)
  }
}
