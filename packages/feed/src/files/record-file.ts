import { Buffer } from 'node:buffer'
import { cannotReadToEnd, invalidBackup } from '../errors.js'
import { openContent } from './compressed-file.js'

/**
 * Most bytes of a record, which is held in memory whole. The largest known, the genesis transaction of a network, has 3
 * MB; the limits of a network allow events of 10 MB and writes of 10 MB.
 */
export const MAX_RECORD_BYTES = 32 * 1024 * 1024

const LENGTH_BYTES = 4

/**
 * Records of a `.chunk` file, plain or compressed: u32 big-endian length, then that number of bytes. Yields complete
 * records, several at a time. See docs/ledger-formats.md, "Transaction backup".
 * @throws `invalid_backup` naming the file and the record at which it is damaged or cut short
 */
export async function* readRecords(path: string, onProgress?: (bytesRead: number) => void): AsyncGenerator<Buffer[]> {
  const content = await openContent(path)
  const splitter = new RecordSplitter(path)
  try {
    for await (const piece of content.pieces()) {
      onProgress?.(content.bytesRead)
      const records = splitter.split(piece)
      if (records.length > 0) yield records
    }
  } catch (cause) {
    throw cannotReadToEnd(`${path}, record ${splitter.count}`, cause)
  } finally {
    content.close()
  }
  if (splitter.isWithin) throw invalidBackup.recordCutShort(path, splitter.count)
}

/** Splits the pieces of a file into its records. A record within one piece is not copied. */
class RecordSplitter {
  readonly #path: string
  /** The bytes of a length that has not ended, or nothing. */
  #begun: Buffer = Buffer.alloc(0)
  /** A record that has not ended, at its full size, so that its bytes are held once. */
  #record: Buffer | undefined
  /** Bytes of `#record` that were read. */
  #filled = 0
  #count = 0

  constructor(path: string) {
    this.#path = path
  }

  /** Number of whole records so far. */
  get count(): number {
    return this.#count
  }

  /** Whether the pieces so far end within a record. */
  get isWithin(): boolean {
    return this.#record !== undefined || this.#begun.length > 0
  }

  /** The records that end in a piece. */
  split(piece: Buffer): Buffer[] {
    const records: Buffer[] = []
    let rest = piece
    if (this.#record) {
      const taken = rest.copy(this.#record, this.#filled)
      this.#filled += taken
      if (this.#filled < this.#record.length) return records
      records.push(this.#record)
      this.#record = undefined
      rest = rest.subarray(taken)
    } else if (this.#begun.length > 0) rest = Buffer.concat([this.#begun, rest])
    let at = 0
    while (rest.length - at >= LENGTH_BYTES) {
      const length = this.#expectShort(rest.readUInt32BE(at), this.#count + records.length)
      const start = at + LENGTH_BYTES
      at = start + length
      if (at <= rest.length) records.push(rest.subarray(start, at))
      else {
        this.#record = Buffer.allocUnsafe(length)
        this.#filled = rest.copy(this.#record, 0, start)
      }
    }
    this.#begun = rest.subarray(at)
    this.#count += records.length
    return records
  }

  #expectShort(length: number, record: number): number {
    if (length > MAX_RECORD_BYTES) throw invalidBackup.recordTooLong(this.#path, record, length, MAX_RECORD_BYTES)
    return length
  }
}
