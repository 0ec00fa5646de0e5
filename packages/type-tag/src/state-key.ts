import { ADDRESS_LENGTH, ByteReader, ByteWriter, isLedgerStateError } from '@ledger-state/core'
import { allocateBytes, allocatePooled, compareBytes, writeHexBytes } from '@ledger-state/core/bytes'
import type { StructTag } from './type-tag.js'
import { readName, readStructTag, skipStructTag, writeStructTag } from './type-tag-bcs.js'

// State keys in database form, in which they are stored and hashed; see docs/ledger-formats.md, section "State keys".

const ACCESS_PATH = 0
const TABLE_ITEM = 1
const NATIVE_POSITION = 2
const RAW = 0xff

const PATH_MODULE = 0
const PATH_RESOURCE = 1
const PATH_RESOURCE_GROUP = 2

/** Variants of state keys in BCS, if they differ from the database form. */
const BCS_RAW = 2
const BCS_NATIVE_POSITION = 3
const NATIVE_POSITION_LENGTH = 1 + 3 * ADDRESS_LENGTH

/** Offset of the account's address in the keys of its modules, resources and resource groups. */
export const STATE_KEY_ADDRESS_AT = 1
const PATH_LENGTH_AT = STATE_KEY_ADDRESS_AT + ADDRESS_LENGTH

/** A decoded state key. Addresses and handles are 32 bytes. */
export type StateKey =
  | { readonly kind: 'module'; readonly address: Uint8Array; readonly name: string }
  | { readonly kind: 'resource'; readonly address: Uint8Array; readonly tag: StructTag }
  | { readonly kind: 'resourceGroup'; readonly address: Uint8Array; readonly tag: StructTag }
  /** An item of a table. `key` is the BCS of the table's key. */
  | { readonly kind: 'tableItem'; readonly handle: Uint8Array; readonly key: Uint8Array }
  | { readonly kind: 'nativePosition'; readonly position: Uint8Array }
  | { readonly kind: 'raw'; readonly bytes: Uint8Array }

/**
 * Key of a table item. `handle` has 32 bytes, `key` is the BCS of the table's key.
 * @example
 * ```ts
 * import { parseAddress } from '@ledger-state/core'
 * import { decodeStateKey, tableItemKey } from '@ledger-state/type-tag'
 *
 * const key = tableItemKey(parseAddress('0x7ab1e'), Uint8Array.of(1))
 * const named = decodeStateKey(key)
 * if (named.kind === 'tableItem') console.log(named.key) // Uint8Array(1) [ 1 ]
 * ```
 */
export function tableItemKey(handle: Uint8Array, key: Uint8Array): Uint8Array {
  const bytes = allocatePooled(1 + handle.length + key.length)
  bytes[0] = TABLE_ITEM
  bytes.set(handle, 1)
  bytes.set(key, 1 + handle.length)
  return bytes
}

/** Up to this number of bytes, a loop is faster than the runtime's copy. */
const SHORT_COPY = 64

/** Same as `tableItemKey`, for a handle of 64 hex digits. */
export function tableItemKeyOf(handle: string, key: Uint8Array): Uint8Array {
  const start = 1 + ADDRESS_LENGTH
  const { length } = key
  const bytes = allocateBytes(start + length)
  bytes[0] = TABLE_ITEM
  writeHexBytes(bytes, 1, handle, 0)
  if (length > SHORT_COPY) bytes.set(key, start)
  else for (let at = 0; at < length; at++) bytes[start + at] = key[at]!
  return bytes
}

/** The key of the same resource or resource group of another account. `address` has 64 hex digits. */
export function stateKeyAt(key: Uint8Array, address: string): Uint8Array {
  const bytes = allocateBytes(key.length)
  bytes.set(key)
  writeHexBytes(bytes, STATE_KEY_ADDRESS_AT, address, 0)
  return bytes
}

/** The key of the code of a module. */
export function moduleKey(address: Uint8Array, name: string): Uint8Array {
  const writer = beginAccessPath(address, PATH_MODULE).bytes(address).string(name)
  return endAccessPath(writer)
}

/** The key of a resource that is not in a group. */
export function resourceKey(address: Uint8Array, tag: StructTag): Uint8Array {
  return structKey(address, PATH_RESOURCE, tag)
}

/** The key of a resource group. Its value holds the members. */
export function resourceGroupKey(address: Uint8Array, group: StructTag): Uint8Array {
  return structKey(address, PATH_RESOURCE_GROUP, group)
}

/** Whether a well-formed key is a module's key. */
export function isModuleKey(key: Uint8Array): boolean {
  if (key[0] !== ACCESS_PATH || key.length <= PATH_LENGTH_AT) return false
  const reader = new ByteReader(key, PATH_LENGTH_AT)
  reader.readLength()
  return key[reader.offset] === PATH_MODULE
}

/** Prefix of all keys of modules, resources and resource groups of an account. No other key begins with it. */
export function accountKeyPrefix(address: Uint8Array): Uint8Array {
  return new ByteWriter().u8(ACCESS_PATH).bytes(address).toBytes()
}

/** Prefix of the keys of all items of a table. No other key begins with it. */
export function tableKeyPrefix(handle: Uint8Array): Uint8Array {
  return new ByteWriter().u8(TABLE_ITEM).bytes(handle).toBytes()
}

/** Encodes a key in its stored form, which `decodeStateKey` reads. */
export function encodeStateKey(key: StateKey): Uint8Array {
  switch (key.kind) {
    case 'module':
      return moduleKey(key.address, key.name)
    case 'resource':
      return resourceKey(key.address, key.tag)
    case 'resourceGroup':
      return resourceGroupKey(key.address, key.tag)
    case 'tableItem':
      return tableItemKey(key.handle, key.key)
    case 'nativePosition':
      return withKind(NATIVE_POSITION, key.position)
    case 'raw':
      return withKind(RAW, key.bytes)
  }
}

/** Begins a key with a path. The path's length comes before it, but is known only at its end. */
function beginAccessPath(address: Uint8Array, kind: number): ByteWriter {
  return new ByteWriter().u8(ACCESS_PATH).bytes(address).u8(kind)
}

function endAccessPath(writer: ByteWriter): Uint8Array {
  return writer.insertUleb128(PATH_LENGTH_AT, writer.length - PATH_LENGTH_AT).toBytes()
}

function structKey(address: Uint8Array, kind: number, tag: StructTag): Uint8Array {
  const writer = beginAccessPath(address, kind)
  writeStructTag(writer, tag)
  return endAccessPath(writer)
}

/**
 * Decodes a stored key. Byte strings in the result are copies.
 * @throws `invalid_bcs` if the bytes are not a state key
 * @example
 * ```ts
 * import { parseAddress } from '@ledger-state/core'
 * import { decodeStateKey, encodeStateKey } from '@ledger-state/type-tag'
 *
 * const key = encodeStateKey({ kind: 'module', address: parseAddress('0x1'), name: 'coin' })
 * const named = decodeStateKey(key)
 * console.log(named.kind === 'module' && named.name) // coin
 * ```
 */
export function decodeStateKey(key: Uint8Array): StateKey {
  const reader = new ByteReader(key)
  const kind = reader.readU8()
  switch (kind) {
    case ACCESS_PATH: {
      const address = new Uint8Array(reader.readBytes(ADDRESS_LENGTH))
      const path = new ByteReader(reader.readByteString())
      reader.expectEnd()
      return decodePath(address, path)
    }
    case TABLE_ITEM: {
      const handle = new Uint8Array(reader.readBytes(ADDRESS_LENGTH))
      return { kind: 'tableItem', handle, key: new Uint8Array(reader.readBytes(reader.remaining)) }
    }
    case NATIVE_POSITION:
      return { kind: 'nativePosition', position: new Uint8Array(reader.readBytes(reader.remaining)) }
    case RAW:
      return { kind: 'raw', bytes: new Uint8Array(reader.readBytes(reader.remaining)) }
    default:
      throw reader.fault(`unknown kind ${kind} of a state key`, 0)
  }
}

/**
 * The BCS of the tag in the key of a resource, as a view; undefined for any other key, and for one that `decodeStateKey`
 * refuses.
 */
export function tagOfResourceKey(key: Uint8Array): Uint8Array | undefined {
  if (key[0] !== ACCESS_PATH || key.length <= PATH_LENGTH_AT) return undefined
  const reader = new ByteReader(key, PATH_LENGTH_AT)
  try {
    const length = reader.readLength()
    const start = reader.offset + 1
    if (length !== reader.remaining || reader.readU8() !== PATH_RESOURCE) return undefined
    skipStructTag(reader)
    return reader.remaining === 0 ? key.subarray(start) : undefined
  } catch (error) {
    if (isLedgerStateError(error, 'invalid_bcs')) return undefined
    throw error
  }
}

function decodePath(address: Uint8Array, path: ByteReader): StateKey {
  const kind = path.readU8()
  switch (kind) {
    case PATH_MODULE: {
      const home = path.readBytes(ADDRESS_LENGTH)
      if (compareBytes(home, address) !== 0) throw path.fault('the path of a module names another address', 1)
      const name = readName(path)
      path.expectEnd()
      return { kind: 'module', address, name }
    }
    case PATH_RESOURCE:
    case PATH_RESOURCE_GROUP: {
      const tag = readStructTag(path)
      path.expectEnd()
      return { kind: kind === PATH_RESOURCE ? 'resource' : 'resourceGroup', address, tag }
    }
    default:
      throw path.fault(`unknown kind ${kind} of an access path`, 0)
  }
}

/**
 * Reads a state key in BCS form, as write sets have it, and returns its database form. The result is a view of the
 * reader's bytes if both forms are the same.
 * @throws `invalid_bcs`
 */
export function readStateKey(reader: ByteReader): Uint8Array {
  const start = reader.offset
  const kind = reader.readU8()
  switch (kind) {
    case ACCESS_PATH:
      reader.skip(ADDRESS_LENGTH)
      reader.skip(reader.readLength())
      return reader.bytes.subarray(start, reader.offset)
    case TABLE_ITEM: {
      const handle = reader.readBytes(ADDRESS_LENGTH)
      return tableItemKey(handle, reader.readByteString())
    }
    case BCS_RAW:
      return withKind(RAW, reader.readByteString())
    case BCS_NATIVE_POSITION: {
      const position = reader.readBytes(NATIVE_POSITION_LENGTH)
      if (position[0] !== 0) throw reader.fault(`unknown variant ${position[0]} of a native position`, start + 1)
      return withKind(NATIVE_POSITION, position)
    }
    default:
      throw reader.fault(`unknown kind ${kind} of a state key`, start)
  }
}

function withKind(kind: number, bytes: Uint8Array): Uint8Array {
  const key = new Uint8Array(1 + bytes.length)
  key[0] = kind
  key.set(bytes, 1)
  return key
}
