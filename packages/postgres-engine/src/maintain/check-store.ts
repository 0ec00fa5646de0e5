import type { Client } from 'pg'
import { expectLayout, NO_STATEMENT_TIMEOUT } from '../schema/create-schema.js'
import { type HeadRow, rowToHead, SELECT_HEAD } from '../schema/head.js'
import { ServerLink } from '../sql/link.js'
import type { ServerAddress } from '../sql/server-address.js'
import { toStoreError } from '../sql/server-errors.js'

/** Options of a check. */
export interface CheckOptions {
  readonly signal?: AbortSignal | undefined
}

/** Result of a check. */
export interface CheckReport {
  readonly versions: bigint
  readonly keys: number
  readonly writes: number
  /** Faults that were found, in words; empty for a sound store. */
  readonly problems: readonly string[]
}

const CONNECT_MS = 2_000
/** Time limit of each statement. The largest reads all keys. */
const STATEMENT_MS = 24 * 3_600_000

/** Statements that count faults. $1 is the oldest version, $2 the latest, $3 the version pruned to. */
const FAULTS: readonly (readonly [what: string, sql: string])[] = [
  ['writes above the latest version', 'SELECT count(*) FROM ledger_state.entries WHERE version > $2'],
  [
    'writes of keys that are not there',
    `SELECT count(*) FROM ledger_state.entries LEFT JOIN ledger_state.keys USING (key_hash) WHERE keys.key_hash IS NULL`,
  ],
  ['keys with the hash of other bytes', 'SELECT count(*) FROM ledger_state.keys WHERE sha256(key) <> key_hash'],
  [
    'superseded writes that were pruned',
    `SELECT count(*) FROM ledger_state.entries old JOIN ledger_state.entries newer USING (key_hash)
     WHERE newer.version > old.version AND newer.version <= $3`,
  ],
  [
    'blocks out of order',
    `SELECT count(*) FROM (
       SELECT height <= lag(height) OVER later OR timestamp_usec < lag(timestamp_usec) OVER later AS is_wrong
       FROM ledger_state.blocks WINDOW later AS (ORDER BY first_version)
     ) pairs WHERE is_wrong`,
  ],
  ['blocks above the latest version', 'SELECT count(*) FROM ledger_state.blocks WHERE first_version > $2'],
  [
    'oldest versions that begin no block',
    'SELECT (NOT EXISTS (SELECT FROM ledger_state.blocks WHERE first_version = $1))::int AS count',
  ],
]

/** Checks the whole store in one snapshot of the server, while its writer may commit. */
export async function checkStore(server: ServerAddress, { signal }: CheckOptions = {}): Promise<CheckReport> {
  const link = new ServerLink({ server, isPipelined: false })
  const onAbort = () => link.close()
  signal?.addEventListener('abort', onAbort, { once: true })
  try {
    signal?.throwIfAborted()
    const client = await link.connect(CONNECT_MS)
    return await link.within(STATEMENT_MS, () => check(client, server.name))
  } catch (error) {
    signal?.throwIfAborted()
    throw toStoreError(error, server.name)
  } finally {
    signal?.removeEventListener('abort', onAbort)
    link.close()
  }
}

async function check(client: Client, server: string): Promise<CheckReport> {
  await client.query(NO_STATEMENT_TIMEOUT)
  await expectLayout(client, server)
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
  const { rows } = await client.query<HeadRow>(SELECT_HEAD)
  const { ledger, prunedVersion } = rowToHead(rows[0]!)
  if (!ledger) return { versions: 0n, keys: 0, writes: 0, problems: [] }
  const values = [ledger.oldestVersion, ledger.latestVersion, prunedVersion ?? 0n].map(String)
  const problems: string[] = []
  for (const [what, sql] of FAULTS) {
    const count = await countOf(client, sql, values)
    if (count > 0) problems.push(`${count} ${what}`)
  }
  return {
    versions: ledger.latestVersion - ledger.oldestVersion + 1n,
    keys: await countOf(client, 'SELECT count(*) FROM ledger_state.keys', []),
    writes: await countOf(client, 'SELECT count(*) FROM ledger_state.entries', []),
    problems,
  }
}

/**
 * Runs a statement that counts. Its values are put into the text, because the server takes no values that a statement
 * does not use; they are numbers.
 */
async function countOf(client: Client, sql: string, values: readonly string[]): Promise<number> {
  const text = sql.replaceAll(/\$(\d)/g, (_, place) => `${BigInt(values[Number(place) - 1]!)}`)
  const { rows } = await client.query<{ count: string }>(text)
  return Number(rows[0]!.count)
}
