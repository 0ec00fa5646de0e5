import { isLedgerStateError, type KeyedEntry, type StateView } from '@ledger-state/core'
import { compareBytes } from '@ledger-state/core/bytes'
import { accountKeyPrefix, decodeStateKey, type StructTag, typeTagToText } from '@ledger-state/type-tag'
import { listedResourceUnreadable } from '../errors.js'
import { compareStructTags } from '../groups/compare-struct-tags.js'
import { readResourceGroup } from '../groups/resource-group.js'
import type { Listing, ListOptions } from '../listings/listing.js'
import { scanFrom } from '../listings/scan-from.js'
import { type AccountModule, createAccountModule } from '../modules/account-module.js'
import { createResource, type Resource } from '../resources/resource.js'
import type { TypeResolver } from '../types/type-resolver.js'

/** What of an account is not the same at two versions: as it was and as it is, undefined where it is not there. */
export type AccountChange =
  | {
      readonly kind: 'resource'
      readonly tag: StructTag
      readonly before: Resource | undefined
      readonly after: Resource | undefined
    }
  | {
      readonly kind: 'module'
      readonly name: string
      readonly before: AccountModule | undefined
      readonly after: AccountModule | undefined
    }

/** State keys that one page looks at, in some 6 ms: most of an account stays as it is. */
const MOST_SCANNED_KEYS = 1_000

/**
 * What of an account changed between two versions, in the order of its state keys' bytes. Members of groups are told
 * apart. `limit` counts state keys that changed; a page ends sooner where much is unchanged.
 */
export function listAccountChanges(
  before: StateView,
  after: StateView,
  types: TypeResolver,
  address: Uint8Array,
  { start, limit, isFull }: ListOptions,
): Listing<AccountChange> {
  const prefix = accountKeyPrefix(address)
  let cursor: Uint8Array | undefined
  function* changes(): Generator<AccountChange> {
    let scanned = 0
    let changed = 0
    for (const pair of mergeScans(scanFrom(before, prefix, { start }), scanFrom(after, prefix, { start }))) {
      if (scanned === MOST_SCANNED_KEYS || changed === limit || (changed > 0 && isFull?.())) {
        cursor = pair.key
        return
      }
      scanned++
      if (isSame(pair)) continue
      changed++
      yield* describeChange(before, after, types, pair)
    }
  }
  return {
    get cursor() {
      return cursor
    },
    [Symbol.iterator]: changes,
  }
}

interface KeyAtTwoVersions {
  readonly key: Uint8Array
  readonly before: KeyedEntry | undefined
  readonly after: KeyedEntry | undefined
}

function isSame({ before, after }: KeyAtTwoVersions): boolean {
  if (!before || !after) return false
  return before.version === after.version || compareBytes(before.value, after.value) === 0
}

function* describeChange(
  viewBefore: StateView,
  viewAfter: StateView,
  types: TypeResolver,
  { key, before, after }: KeyAtTwoVersions,
): Generator<AccountChange> {
  const decoded = decodeStateKey(key)
  if (decoded.kind === 'module') {
    const { address, name } = decoded
    const moduleOf = (entry: KeyedEntry | undefined) => entry && createAccountModule(address, name, entry.value)
    yield { kind: 'module', name, before: moduleOf(before), after: moduleOf(after) }
    return
  }
  const resourceOf = (view: StateView, tag: StructTag, bytes: Uint8Array | undefined) =>
    bytes && createResource(view, types, tag, bytes, listedResourceUnreadable)
  const change = (tag: StructTag, from: Uint8Array | undefined, to: Uint8Array | undefined): AccountChange => {
    return { kind: 'resource', tag, before: resourceOf(viewBefore, tag, from), after: resourceOf(viewAfter, tag, to) }
  }
  if (decoded.kind === 'resource') {
    yield change(decoded.tag, before?.value, after?.value)
    return
  }
  for (const { tag, from, to } of compareGroups(before?.value, after?.value)) yield change(tag, from, to)
}

interface MemberAtTwoVersions {
  readonly tag: StructTag
  readonly from: Uint8Array | undefined
  readonly to: Uint8Array | undefined
}

/** The members that differ, in the order in which members are listed. */
function compareGroups(before: Uint8Array | undefined, after: Uint8Array | undefined): readonly MemberAtTwoVersions[] {
  const members = new Map<string, MemberAtTwoVersions>()
  for (const { name, bytes } of membersOf(before)) {
    members.set(typeTagToText(name), { tag: name, from: bytes, to: undefined })
  }
  for (const { name, bytes } of membersOf(after)) {
    const text = typeTagToText(name)
    members.set(text, { tag: name, from: members.get(text)?.from, to: bytes })
  }
  return [...members.values()]
    .filter(({ from, to }) => !from || !to || compareBytes(from, to) !== 0)
    .sort((a, b) => compareStructTags(a.tag, b.tag))
}

function membersOf(group: Uint8Array | undefined): ReturnType<typeof readResourceGroup> {
  if (!group) return []
  try {
    return readResourceGroup(group)
  } catch (error) {
    if (!isLedgerStateError(error, 'invalid_bcs')) throw error
    throw listedResourceUnreadable(error)
  }
}

/** Two scans of ascending keys as one. */
function* mergeScans(before: Iterable<KeyedEntry>, after: Iterable<KeyedEntry>): Generator<KeyAtTwoVersions> {
  const left = before[Symbol.iterator]()
  const right = after[Symbol.iterator]()
  try {
    let a = take(left)
    let b = take(right)
    while (a || b) {
      const order = !a ? 1 : !b ? -1 : compareBytes(a.key, b.key)
      const pair = { before: order <= 0 ? a : undefined, after: order >= 0 ? b : undefined }
      yield { key: (pair.before ?? pair.after)!.key, ...pair }
      if (order <= 0) a = take(left)
      if (order >= 0) b = take(right)
    }
  } finally {
    left.return?.()
    right.return?.()
  }
}

function take(stream: Iterator<KeyedEntry>): KeyedEntry | undefined {
  const { done, value } = stream.next()
  return done ? undefined : value
}
