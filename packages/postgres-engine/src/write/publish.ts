import { Backoff, pauseFor } from '@ledger-state/core'
import type { Client } from 'pg'
import { unavailable } from '../errors.js'

const IS_WRITTEN = 'SELECT FROM ledger_state.head WHERE written_version > coalesce(latest_version, -1)'

/** Publishes the written version. The statement has no parameters, so it can be sent together with others. */
export const PUBLISH = `
UPDATE ledger_state.head SET latest_version = written_version, mark = written_mark,
  latest_block = (SELECT max(first_version) FROM ledger_state.blocks WHERE first_version <= written_version)
WHERE written_version > coalesce(latest_version, -1)`

/** Transactions that a coordinator (group 0) prepared in this database, for each worker. */
const PREPARED = `
SELECT success, result FROM run_command_on_workers($command$
  SELECT coalesce(string_agg(gid, ' '), '') FROM pg_prepared_xacts
  WHERE database = current_database() AND gid LIKE 'citus\\_0\\_%'
$command$)`

const MAY_RECOVER = "SELECT has_function_privilege('recover_prepared_transactions()', 'EXECUTE') AS may"

/** Time in which a worker that has come back finishes the transactions that were prepared on it. */
const PREPARED_PATIENCE_MS = 10_000
const PAUSES = { firstMs: 20, longestMs: 500 }

/**
 * Makes the writes of the previous transactions visible.
 *
 * A commit of Citus is prepared on each worker, committed on the coordinator, then on one worker after the other: for a
 * while, or until a worker that was killed has come back, the coordinator and some workers show it and others do not.
 * So one transaction is not enough: a second one announces the version. It begins when no worker has a transaction any
 * more that was prepared before. A reader that takes a version from the head then finds its rows on all workers. (Citus
 * prepares nothing for a transaction whose only rows of workers are in one shard, and does not go through COPY; a
 * commit goes through COPY.)
 * @param mayBePrepared whether a worker may still have a prepared part of those transactions
 */
export async function publishWritten(client: Client, server: string, mayBePrepared: boolean): Promise<void> {
  if (mayBePrepared) {
    const { rowCount } = await client.query(IS_WRITTEN)
    if (rowCount === 0) return
    await expectNonePrepared(client, server)
  }
  await client.query(PUBLISH)
}

/**
 * Commits on the coordinator and the workers. Returns whether a worker may still have a prepared part: Citus warns of
 * each worker that has not confirmed its commit. Asking all workers each time would take a connection to each.
 */
export async function commitOnWorkers(client: Client): Promise<boolean> {
  let isWarned = false
  const onNotice = () => {
    isWarned = true
  }
  client.on('notice', onNotice)
  try {
    await client.query('COMMIT')
  } finally {
    client.off('notice', onNotice)
  }
  return isWarned
}

/**
 * Makes workers finish their prepared transactions. If the user lacks the right to it, Citus does that by itself each
 * minute.
 */
export async function recoverPrepared(client: Client): Promise<void> {
  const { rows } = await client.query<{ may: boolean }>(MAY_RECOVER)
  if (rows[0]!.may) await client.query('SELECT recover_prepared_transactions()')
}

/** Waits until the transactions that were prepared before on any worker are finished. @throws `unavailable` */
export async function expectNonePrepared(client: Client, server: string): Promise<void> {
  let waitedFor: ReadonlySet<string> | undefined
  const backoff = new Backoff(PAUSES)
  for (const began = performance.now(); performance.now() - began < PREPARED_PATIENCE_MS; ) {
    const { rows } = await client.query<{ success: boolean; result: string }>(PREPARED)
    if (rows.every(({ success }) => success)) {
      const prepared = rows.flatMap(({ result }) => result.split(' ')).filter((gid) => gid !== '')
      // Transactions that were prepared since are not ours, and are not waited for.
      waitedFor = new Set(prepared.filter((gid) => waitedFor?.has(gid) ?? true))
      if (waitedFor.size === 0) return
    }
    await recoverPrepared(client)
    await pauseFor(backoff.next())
  }
  throw unavailable(server, 'a worker has not finished a commit')
}
