import { Buffer } from 'node:buffer'
import { checksum } from '../bytes/checksum.js'
import { CHECKSUM_LENGTH, corrupt } from '../bytes/record.js'
import type { ReadOptions, Table } from './table.js'

/**
 * A record where LMDB put it: in the one buffer into which it copies whatever is read next, in this thread, from any
 * store. Of lmdb's own object for it only `length` tells how much counts, and most methods do not keep to that; here it
 * is read as plain bytes.
 */
export class SharedRecord {
  bytes: Uint8Array = new Uint8Array(0)
  view: DataView = new DataView(new ArrayBuffer(0))
  length = 0
  #source: Buffer | undefined

  /** Whether there is such a record. What was loaded before is then gone. */
  load<K>(table: Table<K>, key: K, options: ReadOptions): boolean {
    const source = table.getBinaryFast(key, options)
    if (source === undefined) return false
    if (source !== this.#source) {
      this.#source = source
      this.bytes = new Uint8Array(source.buffer, source.byteOffset, source.byteLength)
      this.view = new DataView(source.buffer, source.byteOffset, source.byteLength)
    }
    this.length = source.length
    return true
  }

  /** @throws `store_corrupt` where it does not agree with its checksum */
  verify(seed: number): void {
    const end = this.length - CHECKSUM_LENGTH
    if (end >= 0 && this.view.getUint32(end) === checksum(this.bytes, 0, end, seed)) return
    throw corrupt('a record does not agree with its checksum')
  }

  /** From Node's pool of memory: a typed array of its own costs ten times as much. */
  copy(start: number, end: number): Buffer {
    const copy = Buffer.allocUnsafe(end - start)
    copy.set(new Uint8Array(this.bytes.buffer, this.bytes.byteOffset + start, end - start))
    return copy
  }

  /** Six bytes. */
  u48(at: number): number {
    return this.view.getUint16(at) * 2 ** 32 + this.view.getUint32(at + 2)
  }
}
