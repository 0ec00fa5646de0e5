import type { Write } from '@ledger-state/core'
import { isSameBytes } from '@ledger-state/core/bytes'
import { endedKey, type HoldingsFamily, holdingsKey } from '../own-keys.js'
import type { CoinName } from './holding-keys.js'

// The index of holdings changes only if an object begins, moves or ends, or gains or loses its store or collection, or
// if a coin store begins or ends. A change of a balance writes nothing. A new store has two rows: an object with a store
// is found under `ownedStore`, and has no row under `ownedObject`.

const NOTHING = new Uint8Array(0)

/** The parts of an object that the index depends on. `HeldObject` has them. */
export interface IndexedObject {
  readonly owner: Uint8Array
  readonly store: { readonly asset: Uint8Array } | undefined
  readonly collection: Uint8Array | undefined
}

/**
 * Changes of the index at a version that changes an object.
 * @param before the object before the version; undefined if it did not exist
 * @param after the object after it; undefined if it has ended
 */
export function objectChanges(
  address: Uint8Array,
  version: bigint,
  before: IndexedObject | undefined,
  after: IndexedObject | undefined,
): Write[] {
  const writes: Write[] = []
  const ownerBefore = before?.store ? undefined : before?.owner
  const ownerAfter = after?.store ? undefined : after?.owner
  linkChanges(writes, 'ownedObject', address, ownerBefore, ownerAfter)
  storeChanges(writes, address, version, before, after)
  linkChanges(writes, 'storeOfAsset', address, before?.store?.asset, after?.store?.asset)
  linkChanges(writes, 'tokenOfCollection', address, before?.collection, after?.collection)
  return writes
}

type LinkFamily = Extract<HoldingsFamily, 'ownedObject' | 'storeOfAsset' | 'tokenOfCollection'>

function linkChanges(
  writes: Write[],
  family: LinkFamily,
  address: Uint8Array,
  from: Uint8Array | undefined,
  to: Uint8Array | undefined,
): void {
  if (isSameBytes(from, to)) return
  if (from) writes.push([holdingsKey(family, from, address), null])
  if (to) writes.push([holdingsKey(family, to, address), NOTHING])
}

function storeChanges(
  writes: Write[],
  address: Uint8Array,
  version: bigint,
  before: IndexedObject | undefined,
  after: IndexedObject | undefined,
): void {
  const from = before?.store && before.owner
  const to = after?.store && after.owner
  const had = before?.store?.asset
  const has = after?.store?.asset
  if (isSameBytes(from, to) && isSameBytes(had, has)) return
  if (from && had) {
    writes.push([endedKey('endedStore', from, version, address), had])
    if (!isSameBytes(from, to)) writes.push([holdingsKey('ownedStore', from, address), null])
  }
  if (to && has) writes.push([holdingsKey('ownedStore', to, address), has])
}

/** Changes of the index at a version that changes whether an account has a coin store. */
export function coinChanges(
  { name, hash, row }: CoinName,
  account: Uint8Array,
  version: bigint,
  existed: boolean,
  exists: boolean,
): Write[] {
  if (existed === exists) return []
  const [ofAccount, ofCoin] = [holdingsKey('ownedCoin', account, name), holdingsKey('accountOfCoin', hash, account)]
  if (exists) {
    return [
      [ofAccount, row],
      [ofCoin, NOTHING],
    ]
  }
  return [
    [ofAccount, null],
    [ofCoin, null],
    [endedKey('endedCoin', account, version, name), row],
  ]
}
