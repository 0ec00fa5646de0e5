import { Buffer } from 'node:buffer'
import { cannotReadToEnd, invalidBackup } from '../errors.js'
import { openContent } from './compressed-file.js'

/**
 * Most bytes of a record, which is held in memory whole. The largest known, the genesis transaction of a network, has 3
 * MB.
 */
export const MAX_RECORD_BYTES = 64 * 1024 * 1024

const LENGTH_BYTES = 4

/**
 * Records of a `.chunk` file, plain or compressed: u32 big-endian length, then that number of bytes. Yields complete
 * records, several at a time. See docs/ledger-formats.md, "Transaction backup".
 * @throws `invalid_backup` naming the file and the record at which it is damaged or cut short
 */
export async function* readRecords(path: string, onProgress?: (bytesRead: number) => void): AsyncGenerator<Buffer[]> {
  const content = await openContent(path)
  let pieces: Buffer[] = []
  let pending = 0
  /** Bytes of the next record, as far as they are known. */
  let needed = LENGTH_BYTES
  let count = 0
  try {
    for await (const piece of content.pieces()) {
      onProgress?.(content.bytesRead)
      pieces.push(piece)
      pending += piece.length
      if (pending < needed) continue
      const bytes = pieces.length === 1 ? piece : Buffer.concat(pieces)
      const records: Buffer[] = []
      let at = 0
      for (; ; at += needed) {
        needed = LENGTH_BYTES
        if (bytes.length - at < needed) break
        const length = bytes.readUInt32BE(at)
        if (length > MAX_RECORD_BYTES)
          throw invalidBackup.recordTooLong(path, count + records.length, length, MAX_RECORD_BYTES)
        needed += length
        if (bytes.length - at < needed) break
        records.push(bytes.subarray(at + LENGTH_BYTES, at + needed))
      }
      pieces = [bytes.subarray(at)]
      pending = bytes.length - at
      count += records.length
      if (records.length > 0) yield records
    }
  } catch (cause) {
    throw cannotReadToEnd(`${path}, record ${count}`, cause)
  } finally {
    content.close()
  }
  if (pending > 0) throw invalidBackup.recordCutShort(path, count)
}
