import { isSameBytes } from '@ledger-state/core/bytes'
import {
  coinStoreValue,
  primaryStoreBalance,
  resourceGroupKey,
  resourceKey,
  type StructTag,
  structTagToBytes,
} from '@ledger-state/type-tag'
import type { BalanceKeys } from '../assets/balance-keys.js'
import { sumOfBalances } from '../balances/sum-of-balances.js'
import { findMember } from '../resources/read-resource.js'
import type { Observation } from './history.js'

/** The balance of an owner. Its coin store and its primary store are written independently. */
export function observeBalance(owner: Uint8Array, { coinStore, primaryStore }: BalanceKeys): Observation<bigint> {
  return {
    keys: coinStore ? [primaryStore, coinStore] : [primaryStore],
    read([group, coins]) {
      const fungible = group ? primaryStoreBalance(primaryStore, group) : 0n
      return coins ? sumOfBalances(owner, coinStoreValue(owner, coins), fungible) : fungible
    },
    isEqual: (a, b) => a === b,
  }
}

/** The bytes of a key; null if it does not exist. */
export function observeKey(key: Uint8Array): Observation<Uint8Array | null> {
  return { keys: [key], read: ([value]) => value ?? null, isEqual: isSameBytes }
}

/** The bytes of a resource, which is stored in a group or by itself. */
export function observeResource(
  address: Uint8Array,
  tag: StructTag,
  group: StructTag | undefined,
): Observation<Uint8Array | null> {
  if (!group) return observeKey(resourceKey(address, tag))
  const member = structTagToBytes(tag)
  return {
    keys: [resourceGroupKey(address, group)],
    read: ([stored]) => (stored && findMember(stored, member)) ?? null,
    isEqual: isSameBytes,
  }
}
