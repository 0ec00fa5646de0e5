import { isLedgerStateError, smaller } from '@ledger-state/core'
import { compareBytes } from '@ledger-state/core/bytes'
import { nonceKey, readSent, type SentTransaction, sequenceNumberKey } from '@ledger-state/records'
import { readAccount } from '../accounts/account.js'
import type { LedgerState } from '../state/ledger-state.js'
import { indexedVersions, versionsWithNumber } from './indexed-versions.js'
import { createTransaction, hashAt, type LedgerTransaction } from './ledger-transaction.js'
import { numberedList } from './numbered-list.js'

/** First sequence number and most transactions of a page. */
export interface AccountTransactionsOptions {
  /** By default the first of the last `limit` sequence numbers that the account has used. */
  readonly start?: bigint | undefined
  readonly limit: number
}

/**
 * The transactions of a sender that have sequence numbers from `start` to `start + limit - 1`, in order. By default,
 * those before a version whose transaction is not kept are left out.
 * @throws `version_pruned` if one of them is not kept, or may not be
 */
export function* accountTransactions(
  state: LedgerState,
  address: Uint8Array,
  { start, limit }: AccountTransactionsOptions,
): Generator<LedgerTransaction, void> {
  state.transactions.expectIndex('sender')
  state.source.sliced?.expectWholeAccount(address, state.version)
  const key = { key: sequenceNumberKey(address), hasNumbers: true }
  const first = start ?? defaultStart(state, address, BigInt(limit))
  const list = numberedList(state, key, 'transaction', start)
  const end = first + BigInt(limit)
  for (const { version, number } of versionsWithNumber(state, key, first)) {
    if (list.leavesOut(version)) continue
    list.expectNext(version, number)
    if (number >= end) return
    const sent = sentAt(state, version, address)
    if (sent?.protection.kind === 'sequence_number' && sent.protection.number === number) yield sent.transaction
  }
  list.expectEnd(() => smaller(end, sequenceNumberOf(state, address)))
}

function defaultStart(state: LedgerState, address: Uint8Array, limit: bigint): bigint {
  const next = sequenceNumberOf(state, address)
  return next < limit ? 0n : next - limit
}

function sequenceNumberOf(state: LedgerState, address: Uint8Array): bigint {
  try {
    return readAccount(state, address).readFields().sequenceNumber
  } catch (error) {
    if (isLedgerStateError(error, 'account_not_found')) return 0n
    throw error
  }
}

/** A transaction in a list of summaries. */
export interface TransactionSummary extends SentTransaction {
  readonly version: bigint
  readonly hash: Uint8Array
}

/** Part of the transactions of a sender, and the most of them. */
export interface SummariesOptions {
  /** First version. The oldest summaries since then are listed. */
  readonly startVersion?: bigint | undefined
  /** Last version, if `startVersion` is not given. The newest summaries up to there are listed. */
  readonly endVersion?: bigint | undefined
  readonly limit: number
}

/**
 * Summaries of the transactions of a sender, in the order of their versions.
 * @throws `version_pruned` if transactions since `startVersion`, or without it since `endVersion`, are not kept, or a
 * slice does not have all of them
 */
export function transactionSummaries(
  state: LedgerState,
  address: Uint8Array,
  { startVersion, endVersion, limit }: SummariesOptions,
): readonly TransactionSummary[] {
  state.transactions.expectIndex('sender')
  state.source.sliced?.expectWholeAccount(address, state.version)
  const { completeSince } = state.transactions
  state.transactions.expectSince(startVersion ?? endVersion ?? completeSince)
  const isAscending = startVersion !== undefined
  const first = startVersion ?? completeSince
  const last = isAscending || endVersion === undefined || endVersion > state.version ? state.version : endVersion
  if (first > last || limit === 0) return []
  const order = isAscending ? 'asc' : 'desc'
  const indexes = [
    { key: sequenceNumberKey(address), hasNumbers: true },
    { key: nonceKey(address), hasNumbers: false },
  ]
  const found = indexes.flatMap((index) => {
    const versions: bigint[] = []
    for (const { version } of indexedVersions(state, index, { first, last, order })) {
      if (versions.push(version) === limit) break
    }
    return versions
  })
  const ascending = found.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
  const chosen = isAscending ? ascending.slice(0, limit) : ascending.slice(-limit)
  return chosen.flatMap((version) => sentAt(state, version, address) ?? [])
}

/** The transaction of a version, if the address sent it. */
function sentAt(
  state: LedgerState,
  version: bigint,
  address: Uint8Array,
): (TransactionSummary & { readonly transaction: LedgerTransaction }) | undefined {
  const stored = state.transactions.storedAt(version)
  const sent = stored && readSent(stored.transaction)
  if (!stored || !sent || compareBytes(sent.sender, address) !== 0) return undefined
  return { ...sent, version, hash: hashAt(state, stored), transaction: createTransaction(state, version, stored) }
}
