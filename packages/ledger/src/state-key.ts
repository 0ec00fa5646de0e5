import { ByteWriter } from '@ledger-state/core'
import { type StructTag, writeStructTag } from '@ledger-state/type-tag'

// State keys in database form; see ledger-formats.md, section 1.4.

const ACCESS_PATH = 0
/** Where the account stands in keys of its modules and resources. */
export const KEY_ADDRESS_AT = 1
const TABLE_ITEM = 1
const PATH_MODULE = 0
const PATH_RESOURCE = 1
const PATH_RESOURCE_GROUP = 2

/** `handle` is 32 bytes, `key` the BCS bytes of the table's key. */
export function tableItemKey(handle: Uint8Array, key: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(1 + handle.length + key.length)
  bytes[0] = TABLE_ITEM
  bytes.set(handle, 1)
  bytes.set(key, 1 + handle.length)
  return bytes
}

export function moduleKey(address: Uint8Array, name: string): Uint8Array {
  return accessPathKey(address, new ByteWriter().u8(PATH_MODULE).bytes(address).string(name).toBytes())
}

export function resourceKey(address: Uint8Array, tag: StructTag): Uint8Array {
  return accessPathKey(address, structPath(PATH_RESOURCE, tag))
}

export function resourceGroupKey(address: Uint8Array, group: StructTag): Uint8Array {
  return accessPathKey(address, structPath(PATH_RESOURCE_GROUP, group))
}

function accessPathKey(address: Uint8Array, path: Uint8Array): Uint8Array {
  return new ByteWriter().u8(ACCESS_PATH).bytes(address).byteString(path).toBytes()
}

function structPath(kind: number, tag: StructTag): Uint8Array {
  const writer = new ByteWriter().u8(kind)
  writeStructTag(writer, tag)
  return writer.toBytes()
}
