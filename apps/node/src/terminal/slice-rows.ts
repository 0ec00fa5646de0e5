import { addressToShortHex } from '@ledger-state/core'
import { leftOutFacts } from '@ledger-state/http/formats'
import type { SliceLeftOut } from '@ledger-state/records'
import { OUTSIDE_OF_SLICE, type SliceStatus } from '@ledger-state/slices'
import { formatBytes, formatCount, formatCounted } from './amounts.js'

/** One line about the kept part of a slice. */
export function describeSlice({ asked, accounts, tables, joinedLate }: SliceStatus): string {
  const types = asked.types.length > 0 ? ` and resources of ${formatCounted(asked.types.length, 'type')}` : ''
  const late = joinedLate > 0 ? `; ${formatCount(joinedLate)} of them joined later and are known since then` : ''
  return `a slice: ${formatCounted(accounts, 'account or object', 'accounts and objects')} (${formatCount(asked.accounts)} asked for), ${formatCounted(tables, 'table')} (${formatCount(asked.tables)} asked for)${types}${late}; the framework and all modules`
}

/** One line about the data that a slice leaves out. */
export function describeLeftOut({ keys, bytes, writes, writtenBytes }: SliceLeftOut): string {
  const state =
    keys > 0 ? `${formatCounted(keys, 'key')} (${formatBytes(bytes)}) of the state that the store began with, and ` : ''
  return `${state}${formatCounted(writes, 'write')} (${formatBytes(writtenBytes)}) of transactions`
}

/** Facts of a slice for JSON, in which u64 values are strings. */
export function sliceFacts({ asked, accounts, tables, joinedLate, newest, leftOut }: SliceStatus) {
  return {
    asked_accounts: asked.accounts,
    asked_tables: asked.tables,
    types: asked.types,
    accounts,
    tables,
    joined_late: joinedLate,
    outside: OUTSIDE_OF_SLICE,
    left_out: leftOutFacts(leftOut),
    newest: newest.map(({ kind, id, reason, since }) => ({
      kind,
      [kind === 'table' ? 'handle' : 'address']: addressToShortHex(id),
      joined_by: reason,
      since_version: String(since),
    })),
  }
}
