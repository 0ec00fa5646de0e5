import type { VersionWrites } from '@ledger-state/core'
import type { CommitOptions } from '@ledger-state/state-engine'
import { validateBatch } from '@ledger-state/state-engine/engine-kit'
import type { Client } from 'pg'
import { batchToRows, type EntryRow, expectSmallNumbers, insertKeys, withoutEmptyDeletions } from './batch-rows.js'
import { copyRows } from './copy-rows.js'
import type { KnownKeys } from './known-keys.js'
import type { WriterSession } from './writer-session.js'

// The first commit also says what the store began with.
const WRITE_HEAD = `
UPDATE ledger_state.head SET written_version = $1, written_rows = $2, written_mark = $3, chain_id = $4,
  base_version = coalesce(base_version, $5), base_complete = coalesce(base_complete, $5 = 0),
  oldest_version = coalesce(oldest_version, $5), oldest_block = coalesce(oldest_block, $5),
  pruned_version = coalesce(pruned_version, $5),
  import_version = NULL, import_mark = NULL, import_count = 0`

/** Commits a batch, in one transaction. Within the turn of the session. */
export async function commitBatch(
  session: WriterSession,
  known: KnownKeys,
  versions: readonly VersionWrites[],
  options: CommitOptions,
): Promise<void> {
  const chainId = validateBatch(versions, options, session.head.ledger)
  expectSmallNumbers(versions)
  const rows = batchToRows(versions)
  const [first, last] = [versions[0], versions.at(-1)]
  if (!first || !last) return
  const { mark } = options
  let fresh: readonly EntryRow[] = []
  await session.transact(
    async (client) => {
      if (session.head.importVersion !== undefined) await discardImport(client, known)
      const written = await withoutEmptyDeletions(client, rows)
      fresh = await insertFreshKeys(client, known, written)
      await copyRows(
        client,
        'ledger_state.entries (key_hash, version, value)',
        mapped(written, ({ hash, version, value }) => [hash, version, value]),
      )
      await copyBlocks(client, versions)
      const values = [last.version, written.length, mark ?? null, chainId, first.version]
      await client.query(
        WRITE_HEAD,
        values.map((value) =>
          value instanceof Uint8Array ? Buffer.from(value) : value === null ? null : String(value),
        ),
      )
    },
    (head) => head.ledger?.latestVersion === last.version,
  )
  known.add(fresh.map(({ hash }) => hash))
}

async function insertFreshKeys(client: Client, known: KnownKeys, rows: readonly EntryRow[]): Promise<EntryRow[]> {
  const fresh = new Map<string, EntryRow>()
  for (const row of rows) if (!known.has(row.hash)) fresh.set(row.hash.toString('latin1'), row)
  const all = [...fresh.values()]
  await insertKeys(client, all)
  return all
}

async function copyBlocks(client: Client, versions: readonly VersionWrites[]): Promise<void> {
  const begun = versions.filter(({ block }) => block)
  if (begun.length === 0) return
  await copyRows(
    client,
    'ledger_state.blocks (first_version, height, epoch, timestamp_usec)',
    mapped(begun, ({ version, block }) => [version, block!.height, block!.epoch, block!.timestampUsec]),
  )
}

export async function discardImport(client: Client, known: KnownKeys): Promise<void> {
  known.clear()
  await client.query('TRUNCATE ledger_state.entries, ledger_state.keys')
}

function* mapped<T, R>(items: Iterable<T>, change: (item: T) => R): Generator<R> {
  for (const item of items) yield change(item)
}
