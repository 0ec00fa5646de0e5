import { addressToShortHex, type Steps } from '@ledger-state/core'
import { compareBytes } from '@ledger-state/core/bytes'
import { decodeStateKey, type StructTag, structTagToBytes } from '@ledger-state/type-tag'
import { findMember } from '../resources/read-resource.js'
import { resourceTypeToText } from '../resources/resource-type-text.js'
import type { LedgerState } from '../state/ledger-state.js'
import type { TableTypes } from '../tables/list-table-items.js'
import { createTableValue } from '../tables/table-item.js'
import { changeMembers } from '../transactions/render/changes.js'
import { hexText, valueToJsonInSteps } from '../transactions/render/render-context.js'
import { isUnreadable } from '../types/unreadable.js'
import { orUnknownInSteps } from './value-printer.js'

/** A write of a version: its state key, and the value or null for a deletion. */
export interface WrittenValue {
  readonly key: Uint8Array
  readonly value: Uint8Array | null
}

/**
 * A write as the JSON of changes, in the form in which full nodes print the changes of a transaction, without the hash of
 * the state key. A group is one change for each member. A write that cannot be decoded has `state_key` and `value` in hex.
 * It is made in steps, because a group may have 20,000 members.
 * @param types types of keys and values of a table, which the `data` of its items is decoded with
 */
export function* writeToJson(
  state: LedgerState,
  write: WrittenValue,
  types: TableTypes = {},
): Steps<readonly string[]> {
  const { view, source } = state
  const item = types.keyType && types.valueType ? yield* tableItemToJson(state, write, types) : undefined
  if (item) return [item]
  const members = yield* orUnknownInSteps(state, changeMembers({ view, types: source.types }, undefined, write, ''))
  return members ? members.map((text) => `{${text}}`) : [rawWriteToJson(write)]
}

function rawWriteToJson({ key, value }: WrittenValue): string {
  const written = value ? `"value":${hexText(value)},"type":"write_state_value"` : '"type":"delete_state_value"'
  return `{"state_key":${hexText(key)},${written}}`
}

/** An item of a table of known types. Undefined if its bytes do not fit them. */
function* tableItemToJson(
  { view, source }: LedgerState,
  write: WrittenValue,
  types: TableTypes,
): Steps<string | undefined> {
  const decoded = decodeStateKey(write.key)
  if (decoded.kind !== 'tableItem' || !types.keyType || !types.valueType) return undefined
  const { value } = write
  const place = `"handle":${hexText(decoded.handle)},"key":${hexText(decoded.key)}`
  try {
    const key = createTableValue(view, source.types, types.keyType, decoded.key).toJson()
    if (!value) return `{${place},"data":{"key":${key}},"type":"delete_table_item"}`
    const data = yield* createTableValue(view, source.types, types.valueType, value).toJsonInSteps()
    return `{${place},"value":${hexText(value)},"data":{"key":${key},"value":${data}},"type":"write_table_item"}`
  } catch (error) {
    if (isUnreadable(error)) return undefined
    throw error
  }
}

/**
 * The change that a write makes to a resource of a type, also as a member of a group, in steps. Undefined if it makes none.
 * @param before the state before the version of the write
 */
export function* resourceWriteToJson(
  state: LedgerState,
  before: LedgerState,
  tag: StructTag,
  { key, value }: WrittenValue,
): Steps<string | undefined> {
  const { view, source } = state
  const decoded = decodeStateKey(key)
  if (decoded.kind !== 'resource' && decoded.kind !== 'resourceGroup') return undefined
  const name = structTagToBytes(tag)
  const isItself = decoded.kind === 'resource' && compareBytes(structTagToBytes(decoded.tag), name) === 0
  if (decoded.kind === 'resource' && !isItself) return undefined
  const resourceIn = (stored: Uint8Array | null | undefined): Uint8Array | undefined => {
    if (!stored || isItself) return stored ?? undefined
    return orUnreadable(() => findMember(stored, name))
  }
  const after = resourceIn(value)
  if (!isItself) {
    // Passing the 20,000 members of a group takes 5 ms.
    yield
    const had = resourceIn(before.storedView.get(key))
    if (had === after || (had && after && compareBytes(had, after) === 0)) return undefined
  }
  const place = `"address":"${addressToShortHex(decoded.address)}"`
  const type = JSON.stringify(resourceTypeToText(tag))
  if (!after) return `{${place},"resource":${type},"type":"delete_resource"}`
  const data = yield* orUnknownInSteps(state, valueToJsonInSteps({ view, types: source.types }, tag, after))
  if (data === undefined) return rawWriteToJson({ key, value })
  return `{${place},"data":{"type":${type},"data":${data}},"type":"write_resource"}`
}

/** The result of reading a group; undefined if it cannot be read. */
function orUnreadable<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (isUnreadable(error)) return undefined
    throw error
  }
}
