import { hash } from 'node:crypto'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { VersionWrites } from '@ledger-state/core'
import pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'

// Peer of the engine: tables with the same columns and indexes, and the driver, with nothing around them.

/** A batch as the bytes of two COPYs, which are made before the measurement. */
export interface BareBatch {
  readonly rows: number
  readonly entries: Buffer
  readonly keys: Buffer
}

export interface BareQuestion {
  readonly hash: Buffer
  readonly version: bigint
}

export function hashKey(key: Uint8Array): Buffer {
  return hash('sha256', key, 'buffer')
}

// The binary format of COPY: https://www.postgresql.org/docs/18/sql-copy.html
const HEADER = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1')
const TRAILER = Buffer.from([0xff, 0xff])

type Field = Uint8Array | bigint | null

function rowToBytes(fields: readonly Field[]): Buffer {
  const parts: Uint8Array[] = [Buffer.from([0, fields.length])]
  for (const field of fields) {
    const bytes = typeof field === 'bigint' ? bigintToBytes(field) : field
    const length = Buffer.alloc(4)
    length.writeInt32BE(bytes?.length ?? -1)
    parts.push(length)
    if (bytes) parts.push(bytes)
  }
  return Buffer.concat(parts)
}

function bigintToBytes(value: bigint): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigInt64BE(value)
  return bytes
}

/** Turns batches into the rows that the engine writes for them: each new key once, and no deletion of an absent key. */
export function createBatchEncoder(): (batch: readonly VersionWrites[]) => BareBatch {
  const keys = new Map<string, boolean>()
  return (batch) => {
    const [entryRows, keyRows]: [Buffer[], Buffer[]] = [[], []]
    for (const { version, writes } of batch) {
      for (const [key, value] of writes) {
        const keyHash = hashKey(key)
        const name = keyHash.toString('latin1')
        if (value === null && !keys.get(name)) continue
        if (!keys.has(name)) keyRows.push(rowToBytes([keyHash, key]))
        keys.set(name, value !== null)
        entryRows.push(rowToBytes([keyHash, version, value]))
      }
    }
    return {
      rows: entryRows.length,
      entries: Buffer.concat([HEADER, ...entryRows, TRAILER]),
      keys: Buffer.concat([HEADER, ...keyRows, TRAILER]),
    }
  }
}

const CREATE = [
  'CREATE SCHEMA bare',
  'CREATE TABLE bare.entries (LIKE ledger_state.entries INCLUDING ALL)',
  'CREATE TABLE bare.keys (LIKE ledger_state.keys INCLUDING ALL)',
]
const DISTRIBUTE = [
  "SELECT create_distributed_table('bare.entries', 'key_hash', colocate_with => 'ledger_state.entries')",
  "SELECT create_distributed_table('bare.keys', 'key_hash', colocate_with => 'ledger_state.entries')",
]

const READ_ONE =
  'SELECT version, value FROM bare.entries WHERE key_hash = $1 AND version <= $2 ORDER BY version DESC LIMIT 1'
const READ_MANY = `
SELECT found.key_hash, found.version, found.value
FROM unnest($1::bytea[]) AS asked (key_hash)
CROSS JOIN LATERAL (
  SELECT * FROM bare.entries
  WHERE entries.key_hash = asked.key_hash AND entries.version <= $2 ORDER BY entries.version DESC LIMIT 1
) found`
/** Reads many keys on Citus, which cannot send its workers a `LIMIT` for each row of a function. */
const READ_MANY_SHARDED = `
SELECT DISTINCT ON (key_hash) key_hash, version, value FROM bare.entries
WHERE key_hash = ANY($1::bytea[]) AND version <= $2 ORDER BY key_hash, version DESC`

interface BareRow {
  readonly version: string
  readonly value: Buffer | null
}

export class BareTables {
  readonly #writer: pg.Client
  readonly #reader: pg.Client
  readonly #isSharded: boolean

  /** Opens the tables in a database that has the store of an engine. */
  static async open(url: string, isSharded: boolean): Promise<BareTables> {
    const writer = await connect(url, false)
    for (const sql of [...CREATE, ...(isSharded ? DISTRIBUTE : [])]) await writer.query(sql)
    const reader = await connect(url, true)
    // The engine has this setting for the same reason: plans must not depend on the keys that are asked for.
    if (!isSharded) await reader.query("SET plan_cache_mode = 'force_generic_plan'")
    return new BareTables(writer, reader, isSharded)
  }

  private constructor(writer: pg.Client, reader: pg.Client, isSharded: boolean) {
    this.#writer = writer
    this.#reader = reader
    this.#isSharded = isSharded
  }

  async copy({ entries, keys }: BareBatch): Promise<void> {
    await this.#writer.query('BEGIN')
    await this.#copyInto('bare.entries (key_hash, version, value)', entries)
    await this.#copyInto('bare.keys (key_hash, key)', keys)
    await this.#writer.query('COMMIT')
  }

  async #copyInto(table: string, bytes: Buffer): Promise<void> {
    const stream = this.#writer.query(copyFrom(`COPY ${table} FROM STDIN WITH (FORMAT binary)`))
    await pipeline(Readable.from([bytes]), stream)
  }

  async readOne({ hash: keyHash, version }: BareQuestion): Promise<Buffer | undefined> {
    const { rows } = await this.#reader.query<BareRow>({
      name: 'one',
      text: READ_ONE,
      values: [keyHash, String(version)],
    })
    return rows[0]?.value ?? undefined
  }

  /** Number of the keys that exist. */
  async readMany(hashes: readonly Buffer[], version: bigint): Promise<number> {
    const { rows } = await this.#reader.query<BareRow>({
      name: 'many',
      text: this.#isSharded ? READ_MANY_SHARDED : READ_MANY,
      values: [hashes, String(version)],
    })
    return rows.filter(({ value }) => value !== null).length
  }

  async close(): Promise<void> {
    await this.#writer.end()
    await this.#reader.end()
  }
}

export async function connect(url: string, pipeline: boolean): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, pipeline } as pg.ClientConfig)
  // When the server ends, the running query rejects with the same error.
  client.on('error', () => {})
  await client.connect()
  return client
}
