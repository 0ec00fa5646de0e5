import { branchOf, type TruncateOptions } from '@ledger-state/engine'
import {
  addTruncation,
  expectKept,
  expectLedger,
  nextTruncation,
  validateTruncation,
} from '@ledger-state/engine/authoring'
import type { KnownKeys } from './known-keys.js'
import type { WriterSession } from './writer-session.js'

/** Deletes the keys all of whose writes are cut off. $1 is the newest version that is left. */
const CUT_KEYS = `
DELETE FROM ledger_state.keys
WHERE key_hash IN (SELECT entries.key_hash FROM ledger_state.entries WHERE entries.version > $1)
  AND NOT EXISTS (
    SELECT FROM ledger_state.entries kept WHERE kept.key_hash = keys.key_hash AND kept.version <= $1
  )`

const CUT_ENTRIES = 'DELETE FROM ledger_state.entries WHERE version > $1'

const CUT_BLOCKS = 'DELETE FROM ledger_state.blocks WHERE first_version > $1'

const CUT_HEAD = `
UPDATE ledger_state.head SET latest_version = $1, mark = $2, written_version = $1, written_mark = $2,
  latest_block = (SELECT max(first_version) FROM ledger_state.blocks), branch = $3, truncations = $4`

/** Time limit of the transaction: it takes minutes to delete millions of writes. */
const TRUNCATION_MS = 24 * 3_600_000

/** Cuts off all versions above `version`, in one transaction. Called within `inTurn` of the session. */
export async function truncateStore(
  session: WriterSession,
  known: KnownKeys,
  version: bigint,
  options: TruncateOptions = {},
): Promise<void> {
  validateTruncation(options)
  const { ledger } = session.head
  expectLedger(ledger)
  expectKept(version, ledger)
  const truncation = nextTruncation(ledger, version)
  const list = addTruncation(ledger.truncations ?? [], truncation)
  const numbers = list.flatMap((one) => [String(one.number), String(one.version)])
  const mark = options.mark ? Buffer.from(options.mark) : null
  // Also if nobody can tell whether the keys are gone.
  known.clear()
  await session.transact(
    async (client) => {
      for (const sql of [CUT_KEYS, CUT_ENTRIES, CUT_BLOCKS]) await client.query(sql, [String(version)])
      await client.query(CUT_HEAD, [String(version), mark, String(truncation.number), numbers])
    },
    (head) => branchOf(head.ledger!) >= truncation.number,
    TRUNCATION_MS,
  )
}
