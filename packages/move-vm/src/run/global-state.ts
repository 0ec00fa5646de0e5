import { ByteReader, hexToBytes, isLedgerStateError } from '@ledger-state/core'
import { bytesToHexDigits } from '@ledger-state/core/bytes'
import {
  readStructTag,
  resourceGroupKey,
  resourceKey,
  type StructTag,
  tableItemKey,
  typeTagSize,
  typeTagToText,
} from '@ledger-state/type-tag'
import { STATUS } from '../faults/status.js'
import { VmFault } from '../faults/vm-fault.js'
import type { Globals } from '../natives/native.js'
import type { StructType, Type } from '../types/type.js'
import { Reference, type Slot, type Value } from '../values/value.js'
import type { Serializer } from './serializer.js'
import type { StateAccess } from './state-access.js'
import type { World } from './world.js'

/** A place for one value, empty where there is none. */
type Cell = Slot[]

interface GlobalStateParts {
  readonly state: StateAccess
  readonly world: World
  readonly serializer: Serializer
}

/** Cost of a type tag, and what it may be. */
const TAG_COST = { node: 100, most: 5_000 } as const

/** Resources and table items as one run sees them: see `Globals`. */
export class GlobalState implements Globals {
  readonly #state: StateAccess
  readonly #world: World
  readonly #serializer: Serializer
  /** Resources by type and address. */
  readonly #resources = new Map<Type, Map<string, Cell>>()
  /** Members of a group by their types' texts, by the address and the text of the group. */
  readonly #groups = new Map<string, ReadonlyMap<string, Uint8Array>>()
  /** Items by handle and key. */
  readonly #items = new Map<string, Cell>()
  readonly #tags = new Map<Type, StructTag>()

  constructor({ state, world, serializer }: GlobalStateParts) {
    this.#state = state
    this.#world = world
    this.#serializer = serializer
  }

  /** The place of a resource, read at its first use. @throws VmFault, LackingKeys */
  resource(address: string, type: Type): Cell {
    let byAddress = this.#resources.get(type)
    if (!byAddress) {
      byAddress = new Map()
      this.#resources.set(type, byAddress)
    }
    const known = byAddress.get(address)
    if (known) return known
    const cell = [this.#readResource(address, type as StructType)]
    byAddress.set(address, cell)
    return cell
  }

  #readResource(address: string, type: StructType): Value | undefined {
    // What may lack modules comes first: a value is read once.
    this.#serializer.prepare(type)
    const { definition } = this.#world.structOf(type)
    const tag = this.#tagOf(type)
    const owner = hexToBytes(address)
    const { resourceGroup } = definition
    const bytes = resourceGroup
      ? this.#readGroup(owner, address, resourceGroup).get(typeTagToText(tag))
      : this.#state.read(resourceKey(owner, tag))
    if (bytes === undefined) return undefined
    const value = this.#serializer.toValue(type, bytes)
    if (value !== undefined) return value
    const text = `Failed to deserialize resource ${typeTagToText(tag)} at ${address}!`
    throw new VmFault(STATUS.FAILED_TO_DESERIALIZE_RESOURCE, text)
  }

  #readGroup(owner: Uint8Array, address: string, group: StructTag): ReadonlyMap<string, Uint8Array> {
    const name = `${address} ${typeTagToText(group)}`
    const known = this.#groups.get(name)
    if (known) return known
    const bytes = this.#state.read(resourceGroupKey(owner, group))
    const members = bytes ? readGroup(bytes) : new Map<string, Uint8Array>()
    if (!members) {
      throw new VmFault(
        STATUS.FAILED_TO_DESERIALIZE_RESOURCE,
        `Failed to deserialize the resource group at ${address}!`,
      )
    }
    this.#groups.set(name, members)
    return members
  }

  #tagOf(type: StructType): StructTag {
    const known = this.#tags.get(type)
    if (known) return known
    const tag = this.#world.types.tagOf(type) as StructTag
    const cost = TAG_COST.node * typeTagSize(tag) + typeTagToText(tag).length
    if (cost > TAG_COST.most) throw new VmFault(STATUS.TYPE_TAG_LIMIT_EXCEEDED)
    this.#tags.set(type, tag)
    return tag
  }

  borrowResource(address: string, type: Type): Reference | undefined {
    return referenceTo(this.resource(address, type))
  }

  borrowItem(handle: string, key: Uint8Array, type: Type): Reference | undefined {
    return referenceTo(this.#item(handle, key, type))
  }

  addItem(handle: string, key: Uint8Array, type: Type, value: Value): boolean {
    const cell = this.#item(handle, key, type)
    if (cell[0] !== undefined) return false
    cell[0] = value
    return true
  }

  removeItem(handle: string, key: Uint8Array, type: Type): Value | undefined {
    const cell = this.#item(handle, key, type)
    const value = cell[0]
    cell[0] = undefined
    return value
  }

  readItemBytes(handle: string, key: Uint8Array): Uint8Array | undefined {
    return this.#state.read(tableItemKey(hexToBytes(handle), key))
  }

  #item(handle: string, key: Uint8Array, type: Type): Cell {
    // The type is part of the name: a hostile module may read one item as two types.
    const name = `${handle}${type.id}/${bytesToHexDigits(key)}`
    const known = this.#items.get(name)
    if (known) return known
    this.#serializer.prepare(type)
    const bytes = this.readItemBytes(handle, key)
    const value = bytes === undefined ? undefined : this.#serializer.toValue(type, bytes)
    if (bytes !== undefined && value === undefined) {
      throw new VmFault(STATUS.VM_EXTENSION_ERROR, `cannot deserialize table value of table ${handle}`)
    }
    const cell = [value]
    this.#items.set(name, cell)
    return cell
  }
}

function referenceTo(cell: Cell): Reference | undefined {
  return cell[0] === undefined ? undefined : new Reference(cell, 0)
}

/** The members of a stored group by the texts of their types; undefined where the bytes are no group. */
function readGroup(bytes: Uint8Array): Map<string, Uint8Array> | undefined {
  const reader = new ByteReader(bytes)
  const members = new Map<string, Uint8Array>()
  try {
    for (let count = reader.readLength(); count > 0; count--) {
      const tag = readStructTag(reader)
      members.set(typeTagToText(tag), reader.readByteString())
    }
    reader.expectEnd()
    return members
  } catch (error) {
    if (isLedgerStateError(error, 'invalid_bcs')) return undefined
    throw error
  }
}
