import { addressToShortHex, ByteReader, bytesToHex, type Steps, sortInSteps } from '@ledger-state/core'
import { compareBytes } from '@ledger-state/core/bytes'
import { visitWriteSet, type WriteOp } from '@ledger-state/proof/transactions'
import { decodeStateKey, STATE_KEY_ADDRESS_AT, type StateKey } from '@ledger-state/type-tag'
import { shownMembersInSteps } from '../../groups/shown-members.js'
import { abiToJson } from '../../modules/account-module.js'
import { moveTypeToText, resourceTypeToText } from '../../resources/resource-type-text.js'
import {
  hexText,
  jsonListInSteps,
  orUndefinedInSteps,
  type RenderContext,
  type ValueContext,
  valueToJson,
  valueToJsonInSteps,
} from './render-context.js'
import { type TableTypes, WrittenTables } from './written-tables.js'

const ADDRESS_END = STATE_KEY_ADDRESS_AT + 32

interface Change extends Pick<WriteOp, 'key' | 'value'> {
  /** Path of an access path, without its length; else nothing. */
  readonly path: Uint8Array
}

/**
 * The changes of a write set as JSON, in the order of the reference: by address and path, whose bytes it compares
 * without the length, then by table and key. A write that cannot be printed is left out.
 * @throws `invalid_bcs`
 */
export function* changesToJson(context: RenderContext, writeSet: Uint8Array): Steps<string> {
  const changes: Change[] = []
  visitWriteSet(new ByteReader(writeSet), ({ key, value }) => {
    changes.push({ key, value, path: pathOf(key) })
  })
  const sorted = yield* sortInSteps(changes, compareChanges)
  const tables = new WrittenTables(context, sorted)
  const texts: string[] = []
  for (const change of sorted) {
    yield
    const hash = `"state_key_hash":${hexText(context.hasher.hash('StateKey', change.key))},`
    const members = yield* orUndefinedInSteps(changeMembers(context, tables, change, hash))
    if (members) for (const text of members) texts.push(`{${text}}`)
  }
  return yield* jsonListInSteps(texts)
}

function pathOf(key: Uint8Array): Uint8Array {
  if (key[0] !== 0) return key.subarray(key.length)
  const reader = new ByteReader(key, ADDRESS_END)
  reader.readLength()
  return key.subarray(reader.offset)
}

function compareChanges(a: Change, b: Change): number {
  const isPath = a.key[0] === 0 && b.key[0] === 0
  if (!isPath) return compareBytes(a.key, b.key)
  return compareBytes(a.key.subarray(0, ADDRESS_END), b.key.subarray(0, ADDRESS_END)) || compareBytes(a.path, b.path)
}

/**
 * Members of the changes that a write makes, in steps: a group of 20,000 members takes a second. Undefined if one of them
 * cannot be printed.
 * @param tables the types of tables whose items are decoded
 * @param hash the member with the hash of the key, and a comma; or nothing
 * @throws an error of a type that cannot be resolved, `invalid_bcs`
 */
export function* changeMembers(
  context: ValueContext,
  tables: WrittenTables | undefined,
  { key, value }: Pick<WriteOp, 'key' | 'value'>,
  hash: string,
): Steps<readonly string[] | undefined> {
  const decoded = decodeStateKey(key)
  switch (decoded.kind) {
    case 'tableItem':
      return [yield* tableItemMembers(context, tables, decoded, hash, value)]
    case 'module':
    case 'resource':
    case 'resourceGroup': {
      const place = `"address":"${addressToShortHex(decoded.address)}",${hash}`
      if (!value) return [`${place}${deletedMembers(decoded)}`]
      const written = yield* writtenData(context, decoded, value)
      return written?.map((data) => {
        return `${place}"data":${data},"type":"${decoded.kind === 'module' ? 'write_module' : 'write_resource'}"`
      })
    }
    default:
      return undefined
  }
}

type AccountKey = Exclude<StateKey, { readonly kind: 'tableItem' | 'nativePosition' | 'raw' }>

function deletedMembers(key: AccountKey): string {
  if (key.kind !== 'module') {
    return `"resource":${JSON.stringify(resourceTypeToText(key.tag))},"type":"delete_resource"`
  }
  return `"module":${JSON.stringify(`${addressToShortHex(key.address)}::${key.name}`)},"type":"delete_module"`
}

/** The written module or resource, or each member of a written group. Yields before each. */
function* writtenData(context: ValueContext, key: AccountKey, value: Uint8Array): Steps<readonly string[] | undefined> {
  if (key.kind === 'module') return [yield* moduleData(value)]
  const members = key.kind === 'resource' ? [{ name: key.tag, bytes: value }] : yield* shownMembersInSteps(value)
  const texts: string[] = []
  for (const { name, bytes } of members) {
    yield
    const data = yield* valueToJsonInSteps(context, name, bytes)
    if (data === undefined) return undefined
    texts.push(`{"type":${JSON.stringify(resourceTypeToText(name))},"data":${data}}`)
  }
  return texts
}

function* moduleData(bytes: Uint8Array): Steps<string> {
  return `{"bytecode":"${bytesToHex(bytes)}","abi":${yield* abiToJson(bytes)}}`
}

function* tableItemMembers(
  context: ValueContext,
  tables: WrittenTables | undefined,
  { handle, key }: Extract<StateKey, { readonly kind: 'tableItem' }>,
  hash: string,
  value: Uint8Array | null,
): Steps<string> {
  const place = `${hash}"handle":${hexText(handle)},"key":${hexText(key)}`
  const data = (yield* tableItemData(context, tables && (yield* tables.typesOf(handle)), key, value)) ?? 'null'
  if (!value) return `${place},"data":${data},"type":"delete_table_item"`
  return `${place},"value":${hexText(value)},"data":${data},"type":"write_table_item"`
}

/** The decoded key and value of an item; undefined if the types are not known, or the bytes do not fit them. */
function* tableItemData(
  context: ValueContext,
  types: TableTypes | undefined,
  key: Uint8Array,
  value: Uint8Array | null,
): Steps<string | undefined> {
  if (!types) return undefined
  const keyJson = valueToJson(context, types.keyType, key)
  const valueJson = value ? yield* valueToJsonInSteps(context, types.valueType, value) : undefined
  if (keyJson === undefined || (value && valueJson === undefined)) return undefined
  const keyMembers = `"key":${keyJson},"key_type":${JSON.stringify(moveTypeToText(types.keyType))}`
  if (!value) return `{${keyMembers}}`
  return `{${keyMembers},"value":${valueJson},"value_type":${JSON.stringify(moveTypeToText(types.valueType))}}`
}
