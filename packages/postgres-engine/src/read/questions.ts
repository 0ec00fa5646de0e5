import { KEY_HEAD_BYTES } from '../schema/schema.js'

// Statements of reads. Each is read in one snapshot together with the window; see servers.ts.

/** Bytes of the largest value that a look-up answers in one statement with others. */
const MOST_TOGETHER = 32 * 1024
const SMALL_VALUE = (name: string) => `CASE WHEN octet_length(${name}) <= ${MOST_TOGETHER} THEN ${name} END AS value`

/**
 * Looks keys up. $1 hashes, $2 versions. It answers a row for each key that was written, with its place in the
 * question, counted from 1. Rows of larger values have only the version: the answers of one statement, 500 at most,
 * are held in memory, and later statements of the connection wait for them.
 */
export const LOOK_UP = `
SELECT asked.place, found.version, ${SMALL_VALUE('found.value')}
FROM unnest($1::bytea[], $2::bigint[]) WITH ORDINALITY AS asked (key_hash, version, place)
CROSS JOIN LATERAL (
  SELECT version, value FROM ledger_state.entries
  WHERE entries.key_hash = asked.key_hash AND entries.version <= asked.version
  ORDER BY entries.version DESC LIMIT 1
) found
WHERE found.value IS NOT NULL`

/**
 * Looks keys up in one shard of Citus. $1 hashes, $2 versions, $3 places; it answers the rows of `LOOK_UP`. Citus
 * accepts a limit with rows of a function only if the statement goes to one shard, which it finds by the last
 * condition.
 */
export const LOOK_UP_ON_SHARD = `
SELECT asked.place, found.version, ${SMALL_VALUE('found.value')}
FROM unnest($1::bytea[], $2::bigint[], $3::bigint[]) AS asked (key_hash, version, place)
CROSS JOIN LATERAL (
  SELECT version, value FROM ledger_state.entries
  WHERE entries.key_hash = asked.key_hash AND entries.version <= asked.version AND entries.key_hash = ANY($1)
  ORDER BY entries.version DESC LIMIT 1
) found
WHERE found.value IS NOT NULL`

/**
 * Looks one key up. $1 hash, $2 version, $3 place. Citus plans it once, for any shard. It answers the row of `LOOK_UP`,
 * even for a deletion.
 */
export const LOOK_UP_ONE = `
SELECT $3::bigint AS place, version, ${SMALL_VALUE('value')}, value IS NULL AS is_deletion FROM ledger_state.entries
WHERE key_hash = $1 AND version <= $2 ORDER BY version DESC LIMIT 1`

/** Reads a large value. $1 hash, $2 the version that wrote it. */
export const LARGE_VALUE = 'SELECT value FROM ledger_state.entries WHERE key_hash = $1 AND version = $2'

/** Finds the keys that exist at a version. $1 hashes, $2 version. It answers no values, which may be large. */
export const EXISTING_KEYS = `
SELECT keys.key_hash
FROM ledger_state.keys
CROSS JOIN LATERAL (
  SELECT value IS NULL AS is_deletion FROM ledger_state.entries
  WHERE entries.key_hash = keys.key_hash AND entries.version <= $2
  ORDER BY entries.version DESC LIMIT 1
) found
WHERE keys.key_hash = ANY($1::bytea[]) AND NOT found.is_deletion`

export interface LookUpRow {
  readonly place: string
  readonly version: string
  /** Value in its stored form; also null if it is large. */
  readonly value: Buffer | null
  readonly is_deletion?: boolean
}

/** Finds the blocks of versions, with the first version of the next block. $1 versions. */
export const BLOCKS_AT = `
SELECT asked.place, found.*, (
  SELECT min(next.first_version) FROM ledger_state.blocks next WHERE next.first_version > found.first_version
) AS next_version
FROM unnest($1::bigint[]) WITH ORDINALITY AS asked (version, place)
CROSS JOIN LATERAL (
  SELECT * FROM ledger_state.blocks WHERE first_version <= asked.version ORDER BY first_version DESC LIMIT 1
) found`

/** Condition of blocks in the window. $1 least first version, $2 greatest. */
const BLOCK_IN_WINDOW = `
SELECT 1 AS place, found.*, (
  SELECT min(next.first_version) FROM ledger_state.blocks next WHERE next.first_version > found.first_version
) AS next_version
FROM (SELECT * FROM ledger_state.blocks WHERE first_version BETWEEN $1 AND $2`

/** Finds a block by its height, $3. */
export const BLOCK_BY_HEIGHT = `${BLOCK_IN_WINDOW} AND height = $3) found`

/** Finds the newest block at or before a time, $3. */
export const BLOCK_AT_TIME = `${BLOCK_IN_WINDOW} AND timestamp_usec <= $3
  ORDER BY timestamp_usec DESC, first_version DESC LIMIT 1) found`

export interface BlockRow {
  readonly place: string
  readonly first_version: string
  readonly height: string
  readonly epoch: string
  readonly timestamp_usec: string
  readonly next_version: string | null
}

const KEY_HEAD = `substring(keys.key FROM 1 FOR ${KEY_HEAD_BYTES})`

/** Condition of the keys of a scan. $1 start, $2 its head, $3 prefix; `bound` is the first head after those of the scan. */
const IN_SCAN = (bound: string | undefined) => `
${KEY_HEAD} >= $2 AND keys.key >= $1 ${bound ? `AND ${KEY_HEAD} < ${bound}` : ''}
AND substring(keys.key FROM 1 FOR octet_length($3::bytea)) = $3::bytea`

const VALUE_AT = (hash: string, version: string) => `
SELECT version, octet_length(value) AS length, value FROM ledger_state.entries
WHERE entries.key_hash = ${hash} AND entries.version <= ${version}
ORDER BY entries.version DESC LIMIT 1`

/** Takes those rows of `found` that fit into a page of $5 rows and $6 bytes, and one more. */
const pageOf = (columns: string, found: string) => `
SELECT ${columns}, read_count FROM (
  SELECT read.*, count(*) OVER () AS read_count,
    coalesce(sum(octet_length(key) + length) OVER (
      ORDER BY key_head, key ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS bytes_before
  FROM (${found} ORDER BY key_head, key LIMIT $5) read
) measured
WHERE bytes_before < $6 ORDER BY key_head, key`

/** Most keys that a page of a scan looks at: a version may lack most keys of a store. */
export const SCANNED_KEYS = 4_000

/**
 * Makes the statement of a page of a scan. $1 start, $2 its head, $3 prefix, $4 version, $5 entries, $6 bytes, and, if
 * `isBounded`, $7 the first head after those of the prefix. It answers the entries that fit into the bytes, and one
 * more; `read_count` is the number of those read. `place` counts the keys of the scan. The one with the place
 * `SCANNED_KEYS`, where the statement stops, is answered even if the version lacks it.
 */
export function scanQuestion(isBounded: boolean): string {
  const found = `
    SELECT key_head, key, version, length, value, place
    FROM (
      SELECT keys_of_scan.*, row_number() OVER (ORDER BY key_head, key) AS place
      FROM (
        SELECT ${KEY_HEAD} AS key_head, key, key_hash FROM ledger_state.keys
        WHERE ${IN_SCAN(isBounded ? '$7' : undefined)}
        ORDER BY key_head, key LIMIT ${SCANNED_KEYS}
      ) keys_of_scan
    ) looked_at
    LEFT JOIN LATERAL (${VALUE_AT('looked_at.key_hash', '$4')}) found ON true
    WHERE length IS NOT NULL OR place = ${SCANNED_KEYS}`
  return pageOf('key, version, length, value, place', found)
}

/**
 * Makes the statement that finds where a page of a scan on Citus stops. $1 to $3 as in `scanQuestion`, $4 the number of
 * keys before that one, and, if `isBounded`, $5 the first head after those of the prefix. It answers no row if there are
 * fewer keys.
 */
export function scanEndOnCitus(isBounded: boolean): string {
  return `
SELECT keys.key FROM ledger_state.keys WHERE ${IN_SCAN(isBounded ? '$5' : undefined)}
ORDER BY ${KEY_HEAD}, keys.key LIMIT 1 OFFSET $4`
}

/**
 * Makes the statement of a page of a scan on Citus. It differs from `scanQuestion` in two ways. It leaves the values
 * out, because each shard answers as many entries as the page may have. And it stops at the key $8 if `hasEnd`, where
 * `scanQuestion` counts, because Citus cannot join with rows that it has counted.
 */
export function scanOnCitus(isBounded: boolean, hasEnd: boolean): string {
  const found = `
    SELECT ${KEY_HEAD} AS key_head, keys.key, version, length
    FROM ledger_state.keys CROSS JOIN LATERAL (${VALUE_AT('keys.key_hash', '$4')}) found
    WHERE ${IN_SCAN(isBounded ? '$7' : undefined)} ${hasEnd ? 'AND keys.key <= $8' : ''} AND length IS NOT NULL`
  return pageOf('key, version, length', found)
}

export interface ScanRow {
  readonly key: Buffer
  /** Null, as the length and the value, for a key that was never written at the version. */
  readonly version: string | null
  /** Null for a key that the version lacks. */
  readonly length: number | null
  readonly value?: Buffer | null
  readonly place?: string
  readonly read_count: string
}

/**
 * Makes the statement of a page of a history. $1 hash, $2 first, $3 last, $4 oldest version of the window, $5
 * revisions, $6 bytes.
 */
export function historyQuestion(isNewestFirst: boolean): string {
  const order = isNewestFirst ? 'DESC' : 'ASC'
  return `
SELECT version, value, read_count FROM (
  SELECT read.*, count(*) OVER () AS read_count,
    coalesce(sum(octet_length(value)) OVER (
      ORDER BY version ${order} ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS bytes_before
  FROM (
    SELECT version, value FROM ledger_state.entries
    WHERE key_hash = $1 AND version BETWEEN $2 AND $3 AND NOT (version <= $4 AND value IS NULL)
      AND version >= coalesce((
        SELECT max(seen.version) FROM ledger_state.entries seen WHERE seen.key_hash = $1 AND seen.version <= $4
      ), 0)
    ORDER BY version ${order} LIMIT $5
  ) read
) measured
WHERE bytes_before < $6 ORDER BY version ${order}`
}

export interface HistoryRow {
  readonly version: string
  readonly value: Buffer | null
  readonly read_count: string
}

function nearestWrites(asked: string, condition: string, isUpward: boolean): string {
  return `
SELECT asked.place, found.version
FROM ${asked}
CROSS JOIN LATERAL (
  SELECT version, value IS NULL AS is_deletion FROM ledger_state.entries
  WHERE entries.key_hash = asked.key_hash AND entries.version BETWEEN $2 AND $3 ${condition}
  ORDER BY entries.version ${isUpward ? 'ASC' : 'DESC'} LIMIT 1
) found
WHERE NOT (found.version <= $4 AND found.is_deletion)`
}

/**
 * Makes the statement of nearest writes. $1 hashes, $2 first version, $3 last, $4 oldest version of the window. It
 * answers a row for each key with a write, with its place, counted from 1.
 */
export function nearestWritesQuestion(isUpward: boolean): string {
  return nearestWrites('unnest($1::bytea[]) WITH ORDINALITY AS asked (key_hash, place)', '', isUpward)
}

/**
 * Makes the statement of nearest writes in one shard of Citus. $1 hashes, $2 to $4 as in `nearestWritesQuestion`, $5
 * places. See `LOOK_UP_ON_SHARD` for the last condition.
 */
export function nearestWritesOnShard(isUpward: boolean): string {
  const asked = 'unnest($1::bytea[], $5::bigint[]) AS asked (key_hash, place)'
  return nearestWrites(asked, 'AND entries.key_hash = ANY($1)', isUpward)
}

export interface NearestWriteRow {
  readonly place: string
  readonly version: string
}

/**
 * Finds the versions of the first $3 writes, with the number and the bytes of the writes of each. $1 first version, $2
 * last.
 */
export const SIZES_OF_VERSIONS = `
SELECT version, count(*) AS writes, coalesce(sum(length), 0) AS bytes
FROM (
  SELECT version, octet_length(value) AS length FROM ledger_state.entries
  WHERE version BETWEEN $1 AND $2 ORDER BY version LIMIT $3
) read
GROUP BY version ORDER BY version`

export interface SizeRow {
  readonly version: string
  readonly writes: string
  readonly bytes: string
}

/** Reads the writes of versions. $1 first version, $2 last. */
export const WRITES_OF_VERSIONS = `
SELECT entries.version, keys.key, entries.value
FROM ledger_state.entries JOIN ledger_state.keys ON keys.key_hash = entries.key_hash
WHERE entries.version BETWEEN $1 AND $2
ORDER BY entries.version, keys.key`

export interface WriteRow {
  readonly version: string
  readonly key: Buffer
  readonly value: Buffer | null
}

/** Reads the blocks that begin with versions. $1 first version, $2 last. */
export const BLOCKS_BETWEEN = `
SELECT first_version, height, epoch, timestamp_usec FROM ledger_state.blocks WHERE first_version BETWEEN $1 AND $2`
