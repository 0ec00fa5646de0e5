import { closeSync, fdatasyncSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs'
import { deserialize, serialize } from 'node:v8'
import { crc32 } from 'node:zlib'

/** Length and checksum of a record, written before it. */
const HEADER_BYTES = 8

/**
 * Records in a file, in the order of their appends. Opening cuts off an incomplete record, which a crash may leave at
 * the end.
 */
export class Journal<Entry> {
  readonly #file: number
  readonly entries: readonly Entry[]
  #length: number

  constructor(path: string) {
    this.#file = openSync(path, 'a+')
    const { entries, length } = readEntries<Entry>(readFileSync(path))
    this.entries = entries
    this.#length = length
    ftruncateSync(this.#file, length)
  }

  /** Appends a record. Returns when it is on disk; if it cannot be written whole, nothing of it is left. */
  append(entry: Entry): void {
    const body = serialize(entry)
    const header = Buffer.alloc(HEADER_BYTES)
    header.writeUInt32LE(body.length, 0)
    header.writeUInt32LE(crc32(body), 4)
    const record = Buffer.concat([header, body])
    try {
      for (let at = 0; at < record.length; ) at += writeSync(this.#file, record, at)
      fdatasyncSync(this.#file)
      this.#length += record.length
    } catch (error) {
      ftruncateSync(this.#file, this.#length)
      throw error
    }
  }

  close(): void {
    closeSync(this.#file)
  }
}

function readEntries<Entry>(content: Buffer): { entries: Entry[]; length: number } {
  const entries: Entry[] = []
  let at = 0
  while (at + HEADER_BYTES <= content.length) {
    const body = content.subarray(at + HEADER_BYTES, at + HEADER_BYTES + content.readUInt32LE(at))
    if (body.length !== content.readUInt32LE(at) || crc32(body) !== content.readUInt32LE(at + 4)) break
    entries.push(deserialize(body) as Entry)
    at += HEADER_BYTES + body.length
  }
  return { entries, length: at }
}
