import { smaller, type Write } from '@ledger-state/core'
import type { AsyncStateSnapshot } from '@ledger-state/engine'
import { LedgerHasher } from '@ledger-state/proof'
import { decodeRetained, encodeRetained, RETAINED_KEY, retainedBlockKey, versionOfKey } from '@ledger-state/records'
import { decodeTransactionBlock } from '@ledger-state/records/transaction-blocks'
import { ownIndexKeys } from '@ledger-state/records/transaction-group'
import { scanPage } from '../scan-entries.js'

/** Blocks of transactions that one commit deletes at most. A commit of a full batch writes 8 to 100. */
const MOST_BLOCKS = 128

/**
 * The writes that delete retained transactions of versions below `oldest`, and record the remaining ones. A block that
 * has a later version, too, stays.
 * @param areRetained whether the store retains transactions of later versions: then the record stays even if no
 * transaction is left
 */
export async function expiredTransactions(
  held: AsyncStateSnapshot,
  oldest: bigint,
  areRetained: boolean,
): Promise<readonly Write[]> {
  const view = held.at()
  const record = (await view.load([RETAINED_KEY]))[0]?.value
  if (!record) return []
  const { oldestVersion, hashSalt } = decodeRetained(record)
  if (oldestVersion >= oldest) return []
  const hasher = new LedgerHasher(hashSalt)
  const start = retainedBlockKey(0n)
  const { entries, next } = await scanPage(view, RETAINED_KEY, { start, limit: MOST_BLOCKS + 1 })
  const recordOf = (first: bigint): Write => [RETAINED_KEY, encodeRetained(smaller(first, oldest), hashSalt)]
  const writes: Write[] = []
  for (const [at, { key, value }] of entries.entries()) {
    const first = versionOfKey(key)
    const transactions = value.length === 0 ? [] : decodeTransactionBlock(value).transactions
    const end = first + BigInt(Math.max(1, transactions.length))
    const isFollowed = at === entries.length - 1 && (next !== undefined || entries.length > MOST_BLOCKS)
    // The last row of several stays, so that the record names it. A very long block may be the only row of a scan.
    // An empty row ends the block before it, so it stays as long as that block.
    if (end > oldest || (isFollowed && at > 0)) return [...writes, recordOf(first)]
    writes.push([key, null])
    for (const index of ownIndexKeys(first, transactions, hasher)) writes.push([index, null])
  }
  const following = next && (await scanPage(view, RETAINED_KEY, { start: next, limit: 1 })).entries[0]
  if (following) return [...writes, recordOf(versionOfKey(following.key))]
  return [...writes, areRetained ? recordOf(oldest) : [RETAINED_KEY, null]]
}
