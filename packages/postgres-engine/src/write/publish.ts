import type { Client } from 'pg'
import { storeDamaged } from '../errors.js'

const WRITTEN = `
SELECT latest_version, written_version, written_rows FROM ledger_state.head
WHERE written_version > coalesce(latest_version, -1)`

const COUNT = 'SELECT count(*) AS rows FROM ledger_state.entries WHERE version > $1 AND version <= $2'

/** Without parameters, so that it may be sent together with other statements. */
export const PUBLISH = `
UPDATE ledger_state.head SET latest_version = written_version, mark = written_mark,
  latest_block = (SELECT max(first_version) FROM ledger_state.blocks WHERE first_version <= written_version)
WHERE written_version > coalesce(latest_version, -1)`

/** Workers that come back after so many attempts have got what was prepared on them. */
const ATTEMPTS = 100
const PAUSE_MS = 50

/**
 * Makes visible what the transactions before have written. On Citus, the coordinator commits before the workers do: what is
 * written is counted there, before anybody is told of it.
 */
export async function publishWritten(client: Client, server: string, isSharded: boolean): Promise<void> {
  if (isSharded) await expectWritten(client, server)
  await client.query(PUBLISH)
}

async function expectWritten(client: Client, server: string): Promise<void> {
  const { rows } = await client.query<{
    latest_version: string | null
    written_version: string
    written_rows: string
  }>(WRITTEN)
  const [written] = rows
  if (written) await expectRows(client, server, written)
}

async function expectRows(
  client: Client,
  server: string,
  written: { readonly latest_version: string | null; readonly written_version: string; readonly written_rows: string },
): Promise<void> {
  let found = ''
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const { rows } = await client.query<{ rows: string }>(COUNT, [
      written.latest_version ?? '-1',
      written.written_version,
    ])
    found = rows[0]!.rows
    if (found === written.written_rows) return
    await client.query('SELECT recover_prepared_transactions()')
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
  }
  throw storeDamaged(server, `the workers have ${found} writes of ${written.written_rows} that were committed`)
}
