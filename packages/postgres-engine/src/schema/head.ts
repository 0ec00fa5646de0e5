import type { BlockInfo } from '@ledger-state/core'
import { branchOf, type LedgerSummary, type StoreBase, type Truncation } from '@ledger-state/engine'

/** The row of the table `head`, with its blocks. */
export interface Head {
  readonly ledger: LedgerSummary | undefined
  readonly base: StoreBase | undefined
  readonly mark: Uint8Array | undefined
  /** How often the mark was replaced without a commit. */
  readonly markNumber: bigint
  /** Version of a commit that is not published yet, above the latest version of the ledger. */
  readonly writtenVersion: bigint | undefined
  readonly prunedVersion: bigint | undefined
  readonly importVersion: bigint | undefined
  readonly importNumber: bigint
  readonly importCount: number
  readonly importMark: Uint8Array | undefined
}

const BLOCK_COLUMNS = (name: string) =>
  `${name}.height AS ${name}_height, ${name}.epoch AS ${name}_epoch, ${name}.timestamp_usec AS ${name}_time`

export const SELECT_HEAD = `
SELECT head.*, ${BLOCK_COLUMNS('newest')}, ${BLOCK_COLUMNS('first')}
FROM ledger_state.head
LEFT JOIN ledger_state.blocks newest ON newest.first_version = head.latest_block
LEFT JOIN ledger_state.blocks first ON first.first_version = head.oldest_block`

/** The row as the driver returns it: numbers are texts. */
export interface HeadRow {
  readonly writer_epoch: string
  readonly chain_id: string | null
  readonly base_version: string | null
  readonly base_complete: boolean | null
  readonly latest_version: string | null
  readonly oldest_version: string | null
  readonly newest_height: string | null
  readonly newest_epoch: string | null
  readonly newest_time: string | null
  readonly first_height: string | null
  readonly first_epoch: string | null
  readonly first_time: string | null
  readonly mark: Buffer | null
  readonly mark_number: string
  readonly truncations: readonly string[]
  readonly written_version: string | null
  readonly pruned_version: string | null
  readonly import_version: string | null
  readonly import_number: string
  readonly import_count: string
  readonly import_mark: Buffer | null
}

export function rowToHead(row: HeadRow): Head {
  return {
    ledger: rowToLedger(row),
    base:
      row.latest_version === null
        ? undefined
        : { version: BigInt(row.base_version!), complete: row.base_complete === true },
    mark: row.mark ?? undefined,
    markNumber: BigInt(row.mark_number),
    writtenVersion: toBigint(row.written_version),
    prunedVersion: toBigint(row.pruned_version),
    importVersion: toBigint(row.import_version),
    importNumber: BigInt(row.import_number),
    importCount: Number(row.import_count),
    importMark: row.import_mark ?? undefined,
  }
}

/** Whether a head is older than a known one. Heads go back only by a truncation, whichever server reports them. */
export function isOlder({ ledger: head, markNumber }: Head, { ledger: known, markNumber: knownNumber }: Head): boolean {
  if (!known) return false
  if (!head || markNumber < knownNumber) return true
  if (branchOf(head) !== branchOf(known)) return branchOf(head) < branchOf(known)
  return head.latestVersion < known.latestVersion || head.oldestVersion < known.oldestVersion
}

/**
 * Whether a store lost work that it had at a known head, as if a standby that lagged behind had taken over: versions,
 * marks, steps of a prune, or parts of an import.
 */
export function hasLostWork(head: Head, known: Head): boolean {
  if (isOlder(head, known) || (head.prunedVersion ?? 0n) < (known.prunedVersion ?? 0n)) return true
  if (head.importNumber !== known.importNumber) return head.importNumber < known.importNumber
  return !head.ledger && head.importCount < known.importCount
}

function rowToLedger(row: HeadRow): LedgerSummary | undefined {
  if (row.latest_version === null) return undefined
  return {
    chainId: BigInt(row.chain_id!),
    latestVersion: BigInt(row.latest_version),
    latestBlock: toBlock(row.newest_height, row.newest_epoch, row.newest_time),
    oldestVersion: BigInt(row.oldest_version!),
    oldestBlock: toBlock(row.first_height, row.first_epoch, row.first_time),
    ...(row.truncations.length > 0 && { truncations: toTruncations(row.truncations) }),
  }
}

/** Decodes the column `truncations`. */
export function toTruncations(numbers: readonly string[]): Truncation[] {
  return Array.from({ length: numbers.length / 2 }, (_, at) => ({
    number: Number(numbers[2 * at]),
    version: BigInt(numbers[2 * at + 1]!),
  }))
}

function toBlock(height: string | null, epoch: string | null, time: string | null): BlockInfo {
  return { height: BigInt(height!), epoch: BigInt(epoch!), timestampUsec: BigInt(time!) }
}

function toBigint(text: string | null): bigint | undefined {
  return text === null ? undefined : BigInt(text)
}
