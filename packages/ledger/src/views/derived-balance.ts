import { ADDRESS_LENGTH, addressToShortHex, ByteReader, isLedgerStateError } from '@ledger-state/core'
import type { StateView } from '@ledger-state/engine'
import { parseStructTag, readName, resourceGroupKey } from '@ledger-state/type-tag'
import { findGroupMember } from '../groups/resource-group.js'
import { structTagToBytes } from '../resources/read-resource.js'

const OBJECT_GROUP = parseStructTag('0x1::object::ObjectGroup')
const FUNGIBLE_STORE = structTagToBytes(parseStructTag('0x1::fungible_asset::FungibleStore'))
const DISPATCH_FUNCTIONS = structTagToBytes(parseStructTag('0x1::fungible_asset::DispatchFunctionStore'))

/**
 * The function that the asset of a store computes balances with, as `0x1::module::name`; undefined where the balance is
 * what is stored. The framework calls it from `dispatchable_fungible_asset::derived_balance`.
 */
export function derivedBalanceFunction(view: StateView, storeKey: Uint8Array): string | undefined {
  const store = readMember(view, storeKey, FUNGIBLE_STORE)
  if (!store || store.length < ADDRESS_LENGTH) return undefined
  const metadata = store.subarray(0, ADDRESS_LENGTH)
  const functions = readMember(view, resourceGroupKey(metadata, OBJECT_GROUP), DISPATCH_FUNCTIONS)
  return functions && unlessUnreadable(() => readDerivedBalance(new ByteReader(functions)))
}

/** `DispatchFunctionStore`: three options of functions, to withdraw, to deposit, to derive the balance. */
function readDerivedBalance(reader: ByteReader): string | undefined {
  readFunction(reader)
  readFunction(reader)
  return readFunction(reader)
}

/** Option of `FunctionInfo`: address, name of the module, name of the function. */
function readFunction(reader: ByteReader): string | undefined {
  if (!reader.readBool()) return undefined
  const address = addressToShortHex(reader.readBytes(ADDRESS_LENGTH))
  return `${address}::${readName(reader)}::${readName(reader)}`
}

function readMember(view: StateView, groupKey: Uint8Array, tag: Uint8Array): Uint8Array | undefined {
  const group = view.get(groupKey)
  return group && unlessUnreadable(() => findGroupMember(group, tag))
}

/** What does not decode counts as absent, as in the read of a balance. */
function unlessUnreadable<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (isLedgerStateError(error, 'invalid_bcs')) return undefined
    throw error
  }
}
