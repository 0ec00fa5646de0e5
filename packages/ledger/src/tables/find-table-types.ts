import { Buffer } from 'node:buffer'
import { ADDRESS_LENGTH, addressToShortHex, ByteReader, isLedgerStateError, type StateView } from '@ledger-state/core'
import type { StructTag, TypeTag } from '@ledger-state/type-tag'
import type { ModuleCache } from '../modules/module-cache.js'
import { listResources } from '../resources/list-resources.js'
import type { TypeResolver } from '../types/type-resolver.js'
import { ValueWalker } from './value-walker.js'

export interface FoundTableTypes {
  readonly keyType: TypeTag
  readonly valueType: TypeTag
  /** The type of the resource that holds the handle. */
  readonly foundIn: StructTag
}

/** State keys of the account that are looked at. */
const MOST_RESOURCES = 5_000

/**
 * The types of a table, out of the resource of an account that holds its handle. Undefined where no resource among the
 * first 5,000 state keys holds it in a place that can be reached.
 * @throws `stored_data_invalid` where a group cannot be read
 */
export function findTableTypes(
  view: StateView,
  types: TypeResolver,
  modules: ModuleCache,
  handle: Uint8Array,
  holder: Uint8Array,
): FoundTableTypes | undefined {
  for (const { tag, bytes } of listResources(view, types, holder, { limit: MOST_RESOURCES })) {
    // Most resources are left out by this, at little cost.
    if (Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).indexOf(handle) < 0) continue
    const table = findTable(view, modules, tag, bytes, handle)
    const [keyType, valueType] = table?.typeArguments ?? []
    if (keyType && valueType) return { keyType, valueType, foundIn: tag }
  }
  return undefined
}

/** The `0x1::table::Table` of a handle in a value; undefined where the walk does not reach it. */
function findTable(
  view: StateView,
  modules: ModuleCache,
  tag: StructTag,
  bytes: Uint8Array,
  handle: Uint8Array,
): StructTag | undefined {
  let found: StructTag | undefined
  const visit = (struct: StructTag, reader: ByteReader): boolean => {
    if (!isTable(struct) || reader.remaining < ADDRESS_LENGTH) return false
    if (Buffer.compare(reader.bytes.subarray(reader.offset, reader.offset + ADDRESS_LENGTH), handle) !== 0) return false
    found = struct
    return true
  }
  try {
    new ValueWalker(view, modules, visit).walk(tag, new ByteReader(bytes))
    return found
  } catch (error) {
    if (isLedgerStateError(error, 'invalid_bcs', 'invalid_module')) return undefined
    throw error
  }
}

function isTable({ address, module, name }: StructTag): boolean {
  return name === 'Table' && module === 'table' && addressToShortHex(address) === '0x1'
}
