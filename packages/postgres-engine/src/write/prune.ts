import type { PruneOptions, PruneResult } from '@ledger-state/engine'
import { expectCount, expectLedger, expectObject, windowStart } from '@ledger-state/engine/authoring'
import type { KnownKeys } from './known-keys.js'
import type { WriterSession } from './writer-session.js'

/** Writes of a step. Each supersedes at most one, and may itself be a deletion that no version sees. */
const STEP_WRITES = 1_000

const RAISE = `
UPDATE ledger_state.head SET oldest_version = raised.first_version, oldest_block = raised.first_version
FROM (
  SELECT first_version FROM ledger_state.blocks WHERE first_version <= $1 ORDER BY first_version DESC LIMIT 1
) raised
WHERE raised.first_version > head.oldest_version`

/** Finds the last of the first STEP_WRITES writes, and their number. $1 and $2 bound the versions. */
const STEP_END = `
SELECT max(version) AS last, count(*) AS writes FROM (
  SELECT version FROM ledger_state.entries WHERE version > $1 AND version <= $2 ORDER BY version LIMIT ${STEP_WRITES + 1}
) read`

const DROP = `
DELETE FROM ledger_state.entries old USING ledger_state.entries newer
WHERE newer.version > $1 AND newer.version <= $2 AND old.key_hash = newer.key_hash
  AND (old.version < newer.version OR (old.version = newer.version AND newer.value IS NULL))`

const DELETED = 'SELECT key_hash FROM ledger_state.entries WHERE version > $1 AND version <= $2 AND value IS NULL'

const DROP_KEYS = `
DELETE FROM ledger_state.keys WHERE key_hash = ANY($1)
  AND NOT EXISTS (SELECT FROM ledger_state.entries WHERE entries.key_hash = keys.key_hash)`

/** Prunes step by step. Each step is a turn of the session, so commits take place between them. */
export async function pruneStore(
  session: WriterSession,
  known: KnownKeys,
  retainVersions: bigint,
  options: PruneOptions = {},
): Promise<PruneResult> {
  expectObject('the options of the prune', options)
  const { maxEntries = Number.POSITIVE_INFINITY } = options
  expectCount('maxEntries', maxEntries, 1)
  const oldestVersion = await session.inTurn(() => raiseOldest(session, retainVersions))
  let droppedEntries = 0
  for (;;) {
    const step = await session.inTurn(() => dropStep(session, known, oldestVersion))
    droppedEntries += step.dropped
    if (step.isLast || droppedEntries >= maxEntries) return { oldestVersion, droppedEntries, done: step.isLast }
  }
}

/** Raises the oldest version, so that readers are refused versions below it before anything of them is dropped. */
async function raiseOldest(session: WriterSession, retainVersions: bigint): Promise<bigint> {
  const { ledger } = session.head
  expectLedger(ledger)
  const start = windowStart(ledger, retainVersions)
  if (start > ledger.oldestVersion) {
    await session.transact(
      async (client) => {
        await client.query(RAISE, [String(start)])
      },
      (head) => head.ledger!.oldestVersion > ledger.oldestVersion,
    )
  }
  return session.head.ledger!.oldestVersion
}

async function dropStep(
  session: WriterSession,
  known: KnownKeys,
  oldestVersion: bigint,
): Promise<{ readonly dropped: number; readonly isLast: boolean }> {
  const from = session.head.prunedVersion!
  if (from >= oldestVersion) return { dropped: 0, isLast: true }
  const end = await stepEnd(session, from, oldestVersion)
  const range = [String(from), String(end)]
  let dropped = 0
  await session.transact(
    async (client) => {
      const { rows } = await client.query<{ key_hash: Buffer }>(DELETED, range)
      dropped = (await client.query(DROP, range)).rowCount ?? 0
      if (rows.length > 0) {
        await client.query(DROP_KEYS, [rows.map(({ key_hash }) => key_hash)])
        known.clear()
      }
      await client.query('DELETE FROM ledger_state.blocks WHERE first_version <= $1 AND first_version < $2', [
        String(end),
        String(oldestVersion),
      ])
      await client.query('UPDATE ledger_state.head SET pruned_version = $1', [String(end)])
    },
    (head) => head.prunedVersion! >= end,
  )
  return { dropped, isLast: end >= oldestVersion }
}

/**
 * Last version of a step: `oldestVersion` if the writes up to it are few enough. Otherwise the step ends before the
 * version with whose writes it would become too large, unless that version is its first.
 */
async function stepEnd(session: WriterSession, from: bigint, oldestVersion: bigint): Promise<bigint> {
  const [read] = await session.query<{ last: string | null; writes: string }>(STEP_END, [
    String(from),
    String(oldestVersion),
  ])
  if (Number(read!.writes) <= STEP_WRITES) return oldestVersion
  const last = BigInt(read!.last!)
  return last - 1n > from ? last - 1n : last
}
