import type { Write } from '@ledger-state/core'
import { decodeUtf8 } from '@ledger-state/core/bytes'
import type { AsyncStateSnapshot } from '@ledger-state/engine'
import { LedgerHasher } from '@ledger-state/proof'
import { decodeRetained, encodeRetained, RETAINED_KEY, retainedBlockKey, versionOfKey } from '@ledger-state/records'
import { decodeTransactionBlock } from '@ledger-state/records/transaction-blocks'
import { ownIndexKeys } from '@ledger-state/records/transaction-group'
import { scanEntries } from '../scan-entries.js'

/** Blocks of transactions that one commit deletes at most. A commit of a full batch writes 8 to 100. */
const MOST_BLOCKS = 128

/**
 * The writes that delete retained transactions of versions below `oldest`, and record the remaining ones. A block that
 * has a later version, too, stays.
 */
export async function expiredTransactions(held: AsyncStateSnapshot, oldest: bigint): Promise<readonly Write[]> {
  const view = held.at()
  const record = (await view.load([RETAINED_KEY]))[0]?.value
  if (!record) return []
  const { oldestVersion, hashSalt } = decodeRetained(record)
  if (oldestVersion >= oldest) return []
  const hasher = new LedgerHasher(decodeUtf8(hashSalt) ?? '')
  const start = retainedBlockKey(0n)
  const entries = await scanEntries(view, RETAINED_KEY, { start, limit: MOST_BLOCKS + 1 })
  const writes: Write[] = []
  let left = oldestVersion
  for (const [at, { key, value }] of entries.entries()) {
    const first = versionOfKey(key)
    const transactions = value.length === 0 ? [] : decodeTransactionBlock(value).transactions
    const end = first + BigInt(Math.max(1, transactions.length))
    const isLast = at === entries.length - 1
    // An empty row ends the block before it, so it stays as long as that block.
    if (end > oldest || (isLast && entries.length > MOST_BLOCKS)) {
      left = first > oldest ? oldest : first
      return [...writes, [RETAINED_KEY, encodeRetained(left, hashSalt)]]
    }
    writes.push([key, null])
    for (const index of ownIndexKeys(first, transactions, hasher)) writes.push([index, null])
  }
  return [...writes, [RETAINED_KEY, null]]
}
