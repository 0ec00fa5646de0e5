import { Buffer } from 'node:buffer'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Client } from 'pg'
import { from as copyFrom } from 'pg-copy-streams'

// The binary format of COPY: https://www.postgresql.org/docs/18/sql-copy.html

const HEADER = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1')
const TRAILER = Buffer.from([0xff, 0xff])
/** Bytes that are sent together. */
const CHUNK = 256 * 1024
const BIGINT_LENGTH = 8

/** One column: bytes, a `bigint`, or null. */
export type Field = Uint8Array | bigint | null

/** Sends rows to a table. @throws errors of the driver and the server */
export async function copyRows(client: Client, table: string, rows: Iterable<readonly Field[]>): Promise<void> {
  const stream = client.query(copyFrom(`COPY ${table} FROM STDIN WITH (FORMAT binary)`))
  await pipeline(Readable.from(chunks(rows)), stream)
}

function* chunks(rows: Iterable<readonly Field[]>): Generator<Buffer> {
  let chunk = Buffer.allocUnsafe(CHUNK)
  let used = HEADER.copy(chunk)
  for (const row of rows) {
    const length = rowLength(row)
    if (used + length > chunk.length) {
      yield chunk.subarray(0, used)
      chunk = Buffer.allocUnsafe(Math.max(CHUNK, length))
      used = 0
    }
    used = writeRow(chunk, used, row)
  }
  yield chunk.subarray(0, used)
  yield TRAILER
}

function rowLength(row: readonly Field[]): number {
  return row.reduce((sum, field) => sum + 4 + fieldLength(field), 2)
}

function fieldLength(field: Field): number {
  return field === null ? 0 : typeof field === 'bigint' ? BIGINT_LENGTH : field.length
}

function writeRow(chunk: Buffer, start: number, row: readonly Field[]): number {
  let at = chunk.writeInt16BE(row.length, start)
  for (const field of row) {
    at = chunk.writeInt32BE(field === null ? -1 : fieldLength(field), at)
    if (typeof field === 'bigint') at = chunk.writeBigInt64BE(field, at)
    else if (field !== null) {
      chunk.set(field, at)
      at += field.length
    }
  }
  return at
}
