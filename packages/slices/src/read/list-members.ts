import type { KeyedEntry } from '@ledger-state/core'
import { type StateView, scanFrom } from '@ledger-state/engine'
import {
  decodeMember,
  decodeValueType,
  memberIdOf,
  memberKindOf,
  SLICE_ACCOUNT_PREFIX,
  SLICE_KEY,
  SLICE_TABLE_PREFIX,
  sliceTypeKey,
} from '@ledger-state/records'
import { accountKeyPrefix, type TypeTag, tableKeyPrefix } from '@ledger-state/type-tag'
import { decodeSliceRecord, type SliceMember, type SliceRecord } from '../spec/slice-record.js'

/** A member of a slice, with its size in a state. */
export interface ListedMember extends SliceMember {
  /** Type of a table's values, if it is known. */
  readonly valueType: TypeTag | undefined
  /** Number of state keys of the member, and bytes of these and their values; undefined if it has more than 32 keys. */
  readonly size: { readonly keys: number; readonly bytes: number } | undefined
}

/** One page of the members of a slice. */
export interface MemberListing extends Iterable<ListedMember> {
  /** Start of the next page, known at the end of the iteration; undefined if nothing follows. */
  readonly cursor: Uint8Array | undefined
  /** Number of members that were looked at. */
  readonly scanned: number
}

/** Start and end of a page of members, and the members to list. */
export interface ListMembersOptions {
  /** Key of the member at which the page begins: the `cursor` of the page before. */
  readonly start?: Uint8Array | undefined
  /** Most members of the page; all by default. */
  readonly limit?: number | undefined
  /** Called before each member except the first. If it returns true, the page ends there. */
  readonly isFull?: (() => boolean) | undefined
  /** Lists only members with writes kept since this version or a later one. There is no index: see `MemberListing`. */
  readonly since?: bigint | undefined
}

/** Most keys of a member that are counted. */
const MOST_COUNTED_KEYS = 32
/** Most members that one page looks at. */
const MOST_SCANNED = 1_000

/** The store's record of its slice; undefined if it keeps everything. */
export function readSlice(view: StateView): SliceRecord | undefined {
  const record = view.get(SLICE_KEY)
  return record && decodeSliceRecord(record)
}

/**
 * The members of a slice, accounts before tables, each in the order of their bytes. A page may be empty and yet have a
 * cursor.
 * @param stored view of the store itself, without the rules of the slice
 */
export function listMembers(
  stored: StateView,
  { since = 0n, start, limit, isFull }: ListMembersOptions = {},
): MemberListing {
  let cursor: Uint8Array | undefined
  let scanned = 0
  function* members(): Generator<ListedMember> {
    let found = 0
    // One more than the page looks at, for the cursor.
    const atOnce = 1 + (since > 0n || limit === undefined ? MOST_SCANNED : Math.min(limit, MOST_SCANNED))
    for (const entry of scanMembers(stored, start, atOnce)) {
      if (scanned === MOST_SCANNED || found === limit || (found > 0 && isFull?.())) {
        cursor = entry.key
        return
      }
      scanned++
      const record = decodeMember(entry.value)
      if (record.since < since) continue
      found++
      const kind = memberKindOf(entry.key)!
      const id = memberIdOf(entry.key)
      yield {
        reason: record.reason,
        since: record.since,
        isWhole: record.isWhole,
        kind,
        id,
        valueType: record.valueType === undefined ? undefined : typeOf(stored, record.valueType),
        size: sizeOf(stored, kind === 'table' ? tableKeyPrefix(id) : accountKeyPrefix(id)),
      }
    }
  }
  return {
    get cursor() {
      return cursor
    },
    get scanned() {
      return scanned
    },
    [Symbol.iterator]: members,
  }
}

function* scanMembers(view: StateView, start: Uint8Array | undefined, limit: number): Generator<KeyedEntry> {
  let count = 0
  if (!start || memberKindOf(start) !== 'table') {
    for (const entry of scanFrom(view, SLICE_ACCOUNT_PREFIX, { start, limit })) {
      count++
      yield entry
    }
    if (count === limit) return
    yield* scanFrom(view, SLICE_TABLE_PREFIX, { limit: limit - count })
  } else yield* scanFrom(view, SLICE_TABLE_PREFIX, { start, limit })
}

function typeOf(view: StateView, number: number): TypeTag | undefined {
  const bytes = view.get(sliceTypeKey(number))
  return bytes && decodeValueType(bytes)
}

function sizeOf(view: StateView, prefix: Uint8Array): ListedMember['size'] {
  let keys = 0
  let bytes = 0
  for (const { key, value } of view.scan(prefix, { limit: MOST_COUNTED_KEYS + 1 })) {
    if (keys === MOST_COUNTED_KEYS) return undefined
    keys++
    bytes += key.length + value.length
  }
  return { keys, bytes }
}
