import { ADDRESS_LENGTH } from '@ledger-state/core'
import { compareBytes } from '@ledger-state/core/bytes'
import type { StateView } from '@ledger-state/engine'
import { primaryStoreAddress } from '@ledger-state/proof'
import { coinStoreKey, type HeldObject, objectKey, readCoinStore, readHeldObject } from '@ledger-state/records'
import type { TypeTag } from '@ledger-state/type-tag'
import type { LedgerState } from '../state/ledger-state.js'

/** An asset that is held: a coin type, or the address of the metadata of a fungible asset. */
export type HeldAsset =
  | { readonly standard: 'v1'; readonly coin: TypeTag }
  | { readonly standard: 'v2'; readonly metadata: Uint8Array }

/** The holding of a store: a coin store of an account, or a fungible store. */
export interface Holding {
  readonly asset: HeldAsset
  readonly owner: Uint8Array
  /** Address of the fungible store; of a coin store, its account. */
  readonly storage: Uint8Array
  /** Whether it is the store that the owner has by default for the asset. */
  readonly isPrimary: boolean
  readonly isFrozen: boolean
  readonly amount: bigint
  /** Version that last wrote the store. */
  readonly version: bigint
}

/** An object, as it is read by its address. */
export interface StoredObject {
  readonly object: HeldObject
  /** The resource group of the object. */
  readonly group: Uint8Array
  /** Version that last wrote the group. */
  readonly version: bigint
}

/** Reads an object; undefined if there is none. */
export function readObject(view: StateView, address: Uint8Array): StoredObject | undefined {
  if (address.length !== ADDRESS_LENGTH) return undefined
  const entry = view.getEntry(objectKey(address))
  const object = entry && readHeldObject(entry.value)
  return object && { object, group: entry.value, version: entry.version }
}

/** The holding of a fungible store; undefined if the address has none. */
export function holdingOfStore(view: StateView, storage: Uint8Array): Holding | undefined {
  const stored = readObject(view, storage)
  if (!stored?.object.store) return undefined
  const { owner, store } = stored.object
  return {
    asset: { standard: 'v2', metadata: store.asset },
    owner,
    storage,
    isPrimary: compareBytes(primaryStoreAddress(owner, store.asset), storage) === 0,
    isFrozen: store.isFrozen,
    amount: store.amount,
    version: stored.version,
  }
}

/**
 * Reads the holding of one fungible store; undefined if the address has none.
 * @throws `version_pruned` if a slice does not keep it
 */
export function readHolding({ view }: LedgerState, storage: Uint8Array): Holding | undefined {
  return holdingOfStore(view, storage)
}

/** The holding of the coin store of an account; undefined if it has none. */
export function holdingOfCoin(view: StateView, account: Uint8Array, coin: TypeTag): Holding | undefined {
  const entry = view.getEntry(coinStoreKey(account, coin))
  const store = entry && readCoinStore(entry.value)
  return (
    store && {
      asset: { standard: 'v1', coin },
      owner: account,
      storage: account,
      isPrimary: true,
      isFrozen: store.isFrozen,
      amount: store.amount,
      version: entry.version,
    }
  )
}
