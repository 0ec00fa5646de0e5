import { Buffer } from 'node:buffer'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Client } from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { HASH_BYTES } from '../schema/key-hash.js'

// The binary format of COPY: https://www.postgresql.org/docs/18/sql-copy.html

const HEADER = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1')
const TRAILER = Buffer.from([0xff, 0xff])
/** Bytes that are sent at a time. */
const CHUNK = 256 * 1024
const BIGINT_BYTES = 8
/** Length of the head of a row, which is the number of its fields; each field has its length before it. */
const ROW_HEAD = 2
const FIELD_HEAD = 4
const NULL_LENGTH = -1

/** A key with the text of its hash. */
export interface KeyRow {
  readonly hashText: string
  readonly key: Uint8Array
}

/** A write with its key and version. */
export interface EntryRow extends KeyRow {
  readonly version: bigint
  /** Value in its stored form, with its annotation; null for a deletion. */
  readonly value: Uint8Array | null
}

/** Encodes the rows of a table. */
interface RowFormat<T> {
  readonly table: string
  lengthOf(row: T): number
  /** Writes a row, and returns the offset of its end. */
  write(chunk: Buffer, at: number, row: T): number
}

const KEYS: RowFormat<KeyRow> = {
  table: 'ledger_state.keys (key_hash, key)',
  lengthOf: ({ key }) => ROW_HEAD + FIELD_HEAD + HASH_BYTES + FIELD_HEAD + key.length,
  write(chunk, at, { hashText, key }) {
    const next = writeHash(chunk, chunk.writeInt16BE(2, at), hashText)
    return writeBytes(chunk, next, key)
  },
}

const ENTRIES: RowFormat<EntryRow> = {
  table: 'ledger_state.entries (key_hash, version, value)',
  lengthOf: ({ value }) =>
    ROW_HEAD + FIELD_HEAD + HASH_BYTES + FIELD_HEAD + BIGINT_BYTES + FIELD_HEAD + (value?.length ?? 0),
  write(chunk, at, { hashText, version, value }) {
    let next = writeHash(chunk, chunk.writeInt16BE(3, at), hashText)
    next = chunk.writeInt32BE(BIGINT_BYTES, next)
    next = chunk.writeBigInt64BE(version, next)
    return value === null ? chunk.writeInt32BE(NULL_LENGTH, next) : writeBytes(chunk, next, value)
  },
}

function writeHash(chunk: Buffer, at: number, hashText: string): number {
  const next = chunk.writeInt32BE(HASH_BYTES, at)
  return next + chunk.write(hashText, next, HASH_BYTES, 'latin1')
}

function writeBytes(chunk: Buffer, at: number, bytes: Uint8Array): number {
  const next = chunk.writeInt32BE(bytes.length, at)
  chunk.set(bytes, next)
  return next + bytes.length
}

/** Inserts new keys by COPY. @throws errors of the driver and the server */
export async function copyKeys(client: Client, rows: Iterable<KeyRow>): Promise<void> {
  await copyRows(client, KEYS, rows)
}

/** Inserts writes by COPY. @throws errors of the driver and the server */
export async function copyEntries(client: Client, rows: Iterable<EntryRow>): Promise<void> {
  await copyRows(client, ENTRIES, rows)
}

async function copyRows<T>(client: Client, format: RowFormat<T>, rows: Iterable<T>): Promise<void> {
  const stream = client.query(copyFrom(`COPY ${format.table} FROM STDIN WITH (FORMAT binary)`))
  await pipeline(Readable.from(chunksOf(format, rows)), stream)
}

function* chunksOf<T>(format: RowFormat<T>, rows: Iterable<T>): Generator<Buffer> {
  let chunk = Buffer.allocUnsafe(CHUNK)
  let used = HEADER.copy(chunk)
  for (const row of rows) {
    const length = format.lengthOf(row)
    if (used + length > chunk.length) {
      yield chunk.subarray(0, used)
      chunk = Buffer.allocUnsafe(Math.max(CHUNK, length))
      used = 0
    }
    used = format.write(chunk, used, row)
  }
  yield chunk.subarray(0, used)
  yield TRAILER
}
