import { addressToShortHex, clip, didYouMean, isLedgerStateError, LedgerStateError, quote } from '@ledger-state/core'
import {
  type Asset,
  type LedgerState,
  listAccountModules,
  listTableItems,
  type ModuleAbi,
  readAccountModule,
  readAssetMetadata,
  type TableItemRequest,
  type ViewRequest,
} from '@ledger-state/ledger'
import type { StructTag, TypeTag } from '@ledger-state/type-tag'
import { formatCounted } from '../terminal/amounts.js'

// Sentences about a name of the command line that a state does not have. They follow an error that says only that
// nothing was found; undefined if the names are right, or nobody can tell.

type Hint = string | undefined

/** Most modules whose names are compared. An account may have more. */
const MOST_MODULES = 1_000
/** Most characters of a list of names. */
const MOST_LISTED = 300

/**
 * Runs a read of a state. If it fails, adds to its error which name is wrong.
 * @param hint finds the wrong name in the same state
 */
export function namingAbsent<T>(read: () => T, hint: (error: LedgerStateError) => Hint): T {
  try {
    return read()
  } catch (error) {
    if (!isLedgerStateError(error)) throw error
    const found = hintIfKnown(() => hint(error))
    if (found === undefined) throw error
    throw new LedgerStateError(error.code, `${error.message}; ${found}`, error.fields, { cause: error })
  }
}

/** The hint, unless the state is a slice that may not know whether it has something. */
export function hintIfKnown(find: () => Hint): Hint {
  try {
    return find()
  } catch (error) {
    if (isLedgerStateError(error, 'version_pruned')) return undefined
    throw error
  }
}

export function hintOfModule(state: LedgerState, address: Uint8Array, name: string): Hint {
  const names = Array.from(listAccountModules(state, address, { limit: MOST_MODULES }), (module) => module.name)
  if (names.includes(name)) return undefined
  const account = addressToShortHex(address)
  if (names.length === 0) return `${account} has no modules`
  return `${account} has no module ${quote(name)}${nearestOf(name, names)}`
}

/** The first name in a type that the state does not have, or whose number of type arguments is wrong. */
export function hintOfType(state: LedgerState, tag: TypeTag): Hint {
  if (tag.kind === 'vector') return hintOfType(state, tag.element)
  if (tag.kind !== 'struct') return undefined
  const { address, module, name, typeArguments } = tag
  const absent = hintOfModule(state, address, module)
  if (absent !== undefined) return absent
  const abi = readAccountModule(state, address, module).readAbi()
  if (!abi) return undefined
  const struct = abi.structs.find((one) => one.name === name)
  if (!struct) {
    const names = abi.structs.map((one) => one.name)
    return `${nameOf(abi)} has no type ${quote(name)}${nearestOf(name, names)}`
  }
  const { length } = struct.generic_type_params
  if (length !== typeArguments.length)
    return `${nameOf(abi)}::${name} takes ${formatCounted(length, 'type argument')}, not ${typeArguments.length}`
  return firstHint(typeArguments, (one) => hintOfType(state, one))
}

/** Why an account does not have a resource. */
export function hintOfResource(state: LedgerState, address: Uint8Array, tag: StructTag): Hint {
  const hint = hintOfType(state, tag)
  if (hint !== undefined) return hint
  const abi = readAccountModule(state, tag.address, tag.module).readAbi()
  const struct = abi?.structs.find(({ name }) => name === tag.name)
  if (!abi || !struct) return undefined
  const name = `${nameOf(abi)}::${tag.name}`
  if (!struct.abilities.includes('key')) return `${name} is not the type of a resource: it lacks the ability key`
  return `the type is right, but ${addressToShortHex(address)} has no resource of it`
}

/** Why nobody holds an asset. */
export function hintOfAsset(state: LedgerState, asset: Asset): Hint {
  const isCoin = asset.kind === 'coin'
  if (readAssetMetadata(state, isCoin ? { standard: 'v1', ...asset } : { standard: 'v2', ...asset })) return undefined
  return (isCoin ? hintOfType(state, asset.coin) : undefined) ?? 'this state has no such asset'
}

/** Why a table has no item. */
export function hintOfItem(state: LedgerState, { handle, keyType, valueType }: TableItemRequest): Hint {
  const hint = firstHint([keyType, valueType], (type) => hintOfType(state, type))
  if (hint !== undefined) return hint
  const [item] = listTableItems(state, handle, {}, { limit: 1 })
  return item ? undefined : `the table ${addressToShortHex(handle)} has no items`
}

/** The first name in a call of a view function that the state does not have. */
export function hintOfFunction(state: LedgerState, call: ViewRequest): Hint {
  const { address, module, function: name, typeArguments } = call
  const absent = hintOfModule(state, address, module)
  if (absent !== undefined) return absent
  const abi = readAccountModule(state, address, module).readAbi()
  if (!abi) return undefined
  const views = abi.exposed_functions.filter(({ is_view }) => is_view).map((one) => one.name)
  if (!views.includes(name)) {
    if (abi.exposed_functions.some((one) => one.name === name))
      return `${nameOf(abi)}::${name} is not a view function${listed(views, 'its view functions')}`
    return `${nameOf(abi)} has no view function ${quote(name)}${nearestOf(name, views)}`
  }
  return firstHint(typeArguments, (one) => hintOfType(state, one))
}

function firstHint<T>(items: readonly T[], hintOf: (item: T) => Hint): Hint {
  for (const item of items) {
    const hint = hintOf(item)
    if (hint !== undefined) return hint
  }
  return undefined
}

function nameOf({ address, name }: ModuleAbi): string {
  return `${address}::${name}`
}

function nearestOf(name: string, names: readonly string[]): string {
  return didYouMean(name, names) || listed(names, 'it has')
}

function listed(names: readonly string[], introduction: string): string {
  return names.length === 0 ? '' : `; ${introduction} ${clip(names.join(', '), MOST_LISTED)}`
}
