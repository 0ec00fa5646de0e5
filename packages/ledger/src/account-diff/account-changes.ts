import {
  ADDRESS_LENGTH,
  ByteReader,
  bytesToHex,
  isLedgerStateError,
  type KeyedEntry,
  type LedgerStateError,
  parseAddress,
  type Steps,
  sortInSteps,
} from '@ledger-state/core'
import { beginsWith, compareBytes, keyAfter } from '@ledger-state/core/bytes'
import { type ScanOptions, type StateView, scanFrom } from '@ledger-state/engine'
import { type GroupMember, readGroupMembersInSteps } from '@ledger-state/move-module'
import { pairedMetadataAddress, primaryStoreAddress } from '@ledger-state/proof'
import {
  accountKeyPrefix,
  decodeStateKey,
  parseStructTag,
  readStructTag,
  resourceGroupKey,
  resourceKey,
  STATE_KEY_ADDRESS_AT,
  type StructTag,
  skipStructTag,
} from '@ledger-state/type-tag'
import { storedDataInvalid } from '../errors.js'
import { compareStructTags } from '../groups/compare-struct-tags.js'
import { type Listing, type ListOptions, toListing } from '../listings/listing.js'
import { type AccountModule, createAccountModule } from '../modules/account-module.js'
import { createResource, createUnreadableResource, type Resource } from '../resources/resource.js'
import { type LedgerState, pinState, viewOfOwned } from '../state/ledger-state.js'
import type { TypeResolver } from '../types/type-resolver.js'

/** A difference of an account between two versions: its old and its new value, undefined if there is none. */
export type AccountChange =
  | {
      readonly kind: 'resource'
      readonly tag: StructTag
      /** The primary store of the account that holds the member; undefined if the account itself holds it. */
      readonly store: ChangedStore | undefined
      readonly before: Resource | undefined
      readonly after: Resource | undefined
      readonly version: ChangedVersion
    }
  | {
      readonly kind: 'module'
      readonly name: string
      readonly before: AccountModule | undefined
      readonly after: AccountModule | undefined
      readonly version: ChangedVersion
    }

/** The version that last wrote the state key; a group has one version for all members. Undefined if it was deleted. */
type ChangedVersion = bigint | undefined

/** A primary store: the object that holds an account's balance of a fungible asset. */
export interface ChangedStore {
  readonly address: Uint8Array
  /** Address of the metadata of the asset. */
  readonly asset: Uint8Array
}

/** Page of the changes of an account, and further assets that count as part of it. */
export interface AccountChangesOptions extends ListOptions {
  /** Metadata addresses of further fungible assets: their primary stores are included. */
  readonly assets?: readonly Uint8Array[] | undefined
}

/** Members of a group that are compared in one step. */
const MEMBERS_AT_ONCE = 64
/** State keys that one page looks at, in about 6 ms. Most of an account stays as it is. */
const MOST_SCANNED_KEYS = 1_000

const OBJECT_GROUP = parseStructTag('0x1::object::ObjectGroup')
/** Metadata of the chain's own asset, which accounts hold without a trace at their own address. */
const NATIVE_METADATA = parseAddress('0xa')
/** Path of a coin store's key up to the number of its type arguments; the coin follows. */
const COIN_STORE_PATH = pathOf(resourceKey(NATIVE_METADATA, parseStructTag('0x1::coin::CoinStore'))).subarray(0, -1)

/**
 * Lists the changes of an account since version `from`, in the order of its state keys' bytes. Members of groups are
 * compared one by one. The primary stores of the chain's own asset and of `assets` come first; the primary store of a
 * coin follows its coin store. The state of the account does not list other fungible assets. `limit` counts state keys
 * that changed; a page ends sooner if much is unchanged. The pages of a list must have the same `assets`.
 * @throws `version_not_found` and `version_pruned` for `from`; (the iteration) `stored_data_invalid` if a group cannot
 *   be read
 */
export function listAccountChanges(
  state: LedgerState,
  address: Uint8Array,
  from: bigint,
  options: AccountChangesOptions = {},
): Listing<AccountChange> {
  return toListing(listAccountChangesInSteps(state, address, from, options))
}

/** The same. It also yields undefined, so that the caller can pause: a group may have 20,000 members. */
export function listAccountChangesInSteps(
  state: LedgerState,
  address: Uint8Array,
  from: bigint,
  { start, limit, isFull, assets = [] }: AccountChangesOptions = {},
): Listing<AccountChange | undefined> {
  const { types } = state.source
  const earlier = pinState(state.source, from)
  const [before, after] = [earlier.view, state.view]
  const places = placesOf(address, assets, start, (range) =>
    mergeScans(scanFrom(before, ...range), scanFrom(after, ...range)),
  )
  let cursor: Uint8Array | undefined
  function* changes(): Generator<AccountChange | undefined> {
    let scanned = 0
    let changed = 0
    for (const place of places) {
      if (scanned >= MOST_SCANNED_KEYS || (limit !== undefined && changed >= limit) || (changed > 0 && isFull?.())) {
        cursor = place.cursor()
        return
      }
      scanned++
      const { store } = place
      const pair = store
        ? keyAtTwoVersions(viewOfOwned(earlier, address), viewOfOwned(state, address), groupOf(store))
        : place.pair
      if (!pair || isSame(pair)) continue
      changed++
      yield* describeChange(before, after, types, pair, store)
    }
  }
  return {
    get cursor() {
      return cursor
    },
    [Symbol.iterator]: changes,
  }
}

/** A place in the order of changes: a key of the account, or a primary store. */
type Place =
  | { readonly cursor: () => Uint8Array; readonly store: ChangedStore }
  | { readonly cursor: () => Uint8Array; readonly store: undefined; readonly pair: KeyAtTwoVersions }

/**
 * All places since a cursor. The cursor of a place is a state key: of a primary store that comes first, the key of its
 * group; of the primary store of a coin, the key of a group with the type of the coin store, which does not exist.
 */
function* placesOf(
  owner: Uint8Array,
  assets: readonly Uint8Array[],
  start: Uint8Array | undefined,
  scan: (range: readonly [prefix: Uint8Array, options: ScanOptions]) => Iterable<KeyAtTwoVersions>,
): Generator<Place> {
  const prefix = accountKeyPrefix(owner)
  const first = new Map([NATIVE_METADATA, ...assets].map((asset) => [bytesToHex(asset), asset]))
  const placeOf = (asset: Uint8Array, cursor?: () => Uint8Array): Place => {
    const store = { address: primaryStoreAddress(owner, asset), asset }
    return { cursor: cursor ?? (() => groupOf(store)), store }
  }
  function* paired({ coin, tag }: CoinStoreKey): Generator<Place> {
    const asset = pairedMetadataAddress(coin)
    if (!first.has(bytesToHex(asset))) yield placeOf(asset, () => resourceGroupKey(owner, tag))
  }
  let next = start
  if (!start || !beginsWith(start, prefix)) {
    const leading = [...first.values()].map((asset) => placeOf(asset))
    const begin = start ? leading.findIndex(({ cursor }) => compareBytes(cursor(), start) === 0) : 0
    if (begin < 0) return
    yield* leading.slice(begin)
    next = undefined
  }
  const passed = next && coinStoreOfCursor(next)
  if (passed) {
    yield* paired(passed)
    next = keyAfter(resourceKey(owner, passed.tag))
  }
  for (const pair of scan([prefix, { start: next }])) {
    yield { cursor: () => pair.key, store: undefined, pair }
    const coinStore = coinStoreOf(pair.key)
    if (coinStore) yield* paired(coinStore)
  }
}

function groupOf({ address }: ChangedStore): Uint8Array {
  return resourceGroupKey(address, OBJECT_GROUP)
}

/** The coin store whose primary store has the cursor; undefined if it is a cursor of another place. */
function coinStoreOfCursor(cursor: Uint8Array): CoinStoreKey | undefined {
  const decoded = decodeStateKey(cursor)
  return decoded.kind === 'resourceGroup' ? coinStoreOf(resourceKey(decoded.address, decoded.tag)) : undefined
}

interface KeyAtTwoVersions {
  readonly key: Uint8Array
  readonly before: KeyedEntry | undefined
  readonly after: KeyedEntry | undefined
}

/** Reads a key at two versions; undefined if it exists at neither. */
function keyAtTwoVersions(before: StateView, after: StateView, key: Uint8Array): KeyAtTwoVersions | undefined {
  const [from, to] = [before.getEntry(key), after.getEntry(key)]
  if (!from && !to) return undefined
  return { key, before: from && { ...from, key }, after: to && { ...to, key } }
}

/** Type of a coin store, and its coin. */
interface CoinStoreKey {
  readonly tag: StructTag
  readonly coin: StructTag
}

/** Reads the key of a coin store; undefined for other keys. The first bytes decide it for most keys. */
function coinStoreOf(key: Uint8Array): CoinStoreKey | undefined {
  if (!beginsWith(pathOf(key), COIN_STORE_PATH)) return undefined
  const decoded = decodeStateKey(key)
  if (decoded.kind !== 'resource') return undefined
  const { tag } = decoded
  const [coin, ...others] = tag.typeArguments
  return coin?.kind === 'struct' && others.length === 0 ? { tag, coin } : undefined
}

/** The part of a key after the address and the length of the path, a ULEB128. */
function pathOf(key: Uint8Array): Uint8Array {
  let at = STATE_KEY_ADDRESS_AT + ADDRESS_LENGTH
  while (key[at]! >= 0x80) at++
  return key.subarray(at + 1)
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
  store: ChangedStore | undefined,
): Generator<AccountChange | undefined> {
  const decoded = decodeStateKey(key)
  if (decoded.kind === 'module') {
    const { address, name } = decoded
    const moduleOf = (entry: KeyedEntry | undefined) => entry && createAccountModule(address, name, entry.value)
    yield { kind: 'module', name, before: moduleOf(before), after: moduleOf(after), version: after?.version }
    return
  }
  if (decoded.kind === 'resource') {
    const { tag } = decoded
    const resourceOf = (view: StateView, entry: KeyedEntry | undefined) =>
      entry && readChanged(view, types, tag, entry.value)
    const [from, to] = [resourceOf(viewBefore, before), resourceOf(viewAfter, after)]
    yield { kind: 'resource', tag, store, before: from, after: to, version: after?.version }
    return
  }
  // An account has no other kinds of keys.
  if (decoded.kind !== 'resourceGroup') return
  const groups = [yield* readGroup(before?.value), yield* readGroup(after?.value)] as const
  const memberOf = (view: StateView, { bytes, error }: Group, tag: StructTag, member: Uint8Array | undefined) => {
    if (error) return createUnreadableResource(tag, bytes, error)
    return member && readChanged(view, types, tag, member)
  }
  for (const { tag, from, to } of yield* changedMembers(...groups, decoded.tag)) {
    yield {
      kind: 'resource',
      tag,
      store,
      before: memberOf(viewBefore, groups[0], tag, from),
      after: memberOf(viewAfter, groups[1], tag, to),
      version: after?.version,
    }
  }
}

function readChanged(view: StateView, types: TypeResolver, tag: StructTag, bytes: Uint8Array): Resource {
  return createResource(view, types, tag, bytes, storedDataInvalid.listedResourceUnreadable)
}

/** The members of a group at one version, with the bytes of their types, which ascend. */
interface Group {
  readonly members: readonly GroupMember<Uint8Array>[]
  readonly bytes: Uint8Array
  /** Reason why the group cannot be read; undefined if it can. */
  readonly error: LedgerStateError | undefined
}

function* readGroup(bytes: Uint8Array = new Uint8Array(0)): Steps<Group> {
  if (bytes.length === 0) return { members: [], bytes, error: undefined }
  try {
    return { members: yield* readGroupMembersInSteps(bytes, readTagBytes), bytes, error: undefined }
  } catch (error) {
    if (!isLedgerStateError(error, 'invalid_bcs')) throw error
    return { members: [], bytes, error: storedDataInvalid.listedResourceUnreadable(error) }
  }
}

function readTagBytes(reader: ByteReader): Uint8Array {
  const start = reader.offset
  skipStructTag(reader)
  return reader.bytes.subarray(start, reader.offset)
}

/** A member that differs, with its bytes before and after. */
interface ChangedMember {
  readonly tag: StructTag
  readonly from: Uint8Array | undefined
  readonly to: Uint8Array | undefined
}

/**
 * The members that differ, in the order of listings. If the group cannot be read at one version, these are all members
 * of the other; if no member is known, the group represents them. A group may have 20,000 members, so only the types of
 * those that differ are read.
 */
function* changedMembers(before: Group, after: Group, group: StructTag): Steps<readonly ChangedMember[]> {
  const isUnreadable = before.error !== undefined || after.error !== undefined
  if (isUnreadable && before.members.length + after.members.length === 0) {
    return [{ tag: group, from: undefined, to: undefined }]
  }
  const changed: ChangedMember[] = []
  const note = (name: Uint8Array, from: Uint8Array | undefined, to: Uint8Array | undefined): void => {
    changed.push({ tag: readStructTag(new ByteReader(name)), from, to })
  }
  let [left, right] = [0, 0]
  for (let steps = 1; left < before.members.length || right < after.members.length; steps++) {
    if (steps % MEMBERS_AT_ONCE === 0) yield
    const [a, b] = [before.members[left], after.members[right]]
    const order = !a ? 1 : !b ? -1 : compareBytes(a.name, b.name)
    if (order <= 0) left++
    if (order >= 0) right++
    if (order < 0) note(a!.name, a!.bytes, undefined)
    else if (order > 0) note(b!.name, undefined, b!.bytes)
    else if (compareBytes(a!.bytes, b!.bytes) !== 0) note(a!.name, a!.bytes, b!.bytes)
  }
  return yield* sortInSteps(changed, (a, b) => compareStructTags(a.tag, b.tag))
}

/** Merges two scans of ascending keys. */
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
