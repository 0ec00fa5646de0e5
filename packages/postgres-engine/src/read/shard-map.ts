import type { Buffer } from 'node:buffer'
import { partitionPoint } from '@ledger-state/core'
import type { Client } from 'pg'

/**
 * Finds the shard of Citus that has the rows of a hash. The result only groups look-ups: if it is wrong, the server
 * refuses the statement and never answers a wrong value.
 */
export type ShardMap = (keyHash: Buffer) => number

// Tables that were made before the extension are not distributed.
const SHARDS = `
SELECT shardminvalue::int AS least FROM pg_dist_shard
WHERE logicalrelid = 'ledger_state.entries'::regclass ORDER BY least`

/** Reads the map of shards of a server with the extension citus. Undefined if the store is not distributed. */
export async function readShardMap(client: Client): Promise<ShardMap | undefined> {
  const { rows } = await client.query<{ least: number }>(SHARDS)
  const leasts = rows.map(({ least }) => least)
  return leasts.length === 0 ? undefined : (keyHash) => lastAtMost(leasts, hashBytea(keyHash))
}

/** Index of the last number that is at most `most`; the first number counts as the least of all. */
function lastAtMost(sorted: readonly number[], most: number): number {
  return Math.max(0, partitionPoint(sorted, (least) => least <= most) - 1)
}

/** Same as `hashbytea` of PostgreSQL for 32 bytes: lookup3 of Bob Jenkins, https://burtleburtle.net/bob/c/lookup3.c */
function hashBytea(bytes: Buffer): number {
  // Start of lookup3: 0x9e3779b9 + length + 3923095.
  let a = (0x9e3779b9 + 32 + 3923095) | 0
  let [b, c] = [a, a]
  for (let at = 0; at < 24; at += 12) {
    a = (a + bytes.readInt32LE(at)) | 0
    b = (b + bytes.readInt32LE(at + 4)) | 0
    c = (c + bytes.readInt32LE(at + 8)) | 0
    a = ((a - c) | 0) ^ rotate(c, 4)
    c = (c + b) | 0
    b = ((b - a) | 0) ^ rotate(a, 6)
    a = (a + c) | 0
    c = ((c - b) | 0) ^ rotate(b, 8)
    b = (b + a) | 0
    a = ((a - c) | 0) ^ rotate(c, 16)
    c = (c + b) | 0
    b = ((b - a) | 0) ^ rotate(a, 19)
    a = (a + c) | 0
    c = ((c - b) | 0) ^ rotate(b, 4)
    b = (b + a) | 0
  }
  a = (a + bytes.readInt32LE(24)) | 0
  b = (b + bytes.readInt32LE(28)) | 0
  c = ((c ^ b) - rotate(b, 14)) | 0
  a = ((a ^ c) - rotate(c, 11)) | 0
  b = ((b ^ a) - rotate(a, 25)) | 0
  c = ((c ^ b) - rotate(b, 16)) | 0
  a = ((a ^ c) - rotate(c, 4)) | 0
  b = ((b ^ a) - rotate(a, 14)) | 0
  return ((c ^ b) - rotate(b, 24)) | 0
}

function rotate(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits))
}
