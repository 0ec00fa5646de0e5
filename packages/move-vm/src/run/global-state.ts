import { ByteReader } from '@ledger-state/core'
import { stateKeyAt, tableItemKeyOf } from '@ledger-state/type-tag'
import type { Meter } from '../budget/meter.js'
import { STATUS } from '../faults/status.js'
import { VmFault } from '../faults/vm-fault.js'
import type { Globals } from '../natives/native.js'
import type { SlicedWork } from '../sliced-work.js'
import type { StructType, Type } from '../types/type.js'
import { Reference, type Slot, type Value } from '../values/value.js'
import { GroupMembers, GroupReading } from './group-members.js'
import { ItemMap } from './item-map.js'
import { PlaceMap } from './place-map.js'
import { areSameBytes } from './same-bytes.js'
import type { Serializer } from './serializer.js'
import { SlicedWorks } from './sliced-works.js'
import type { StateAccess } from './state-access.js'
import type { StoredType } from './stored-type.js'
import type { World } from './world.js'

/** A place for one value; empty if there is none. */
type Cell = Slot[]

const NO_GROUP: SlicedWork<GroupMembers> = { continue: () => ({ result: NO_MEMBERS }) }
const NO_MEMBERS = new GroupMembers(new Uint8Array(0))
/** Stands for the bytes of a value that is being decoded. */
const READ_BEFORE = new ByteReader(new Uint8Array(0))

/** A place of the state. */
interface Place {
  /** Type of the resource or item, or text of the group. */
  readonly kind: Type | string
  /** Address of the resource or group, or handle of the table. */
  readonly address: string
  /** BCS of the key of an item. */
  readonly key: Uint8Array | undefined
}

interface GlobalStateParts {
  readonly state: StateAccess
  readonly world: World
  readonly serializer: Serializer
  readonly meter: Meter
}

/** Resources and table items as one run sees them: see `Globals`. */
export class GlobalState implements Globals {
  readonly #state: StateAccess
  readonly #world: World
  readonly #serializer: Serializer
  /** Resources by type and address. */
  readonly #resources = new PlaceMap<Type, Cell>()
  /** Members of groups, by the text of the group and the address. */
  readonly #groups = new PlaceMap<string, GroupMembers>()
  readonly #items = new ItemMap<Cell>()

  readonly #meter: Meter
  readonly #decoding: SlicedWorks
  /** The place that is being decoded, or was the last one. */
  #decoded: Place | undefined

  constructor({ state, world, serializer, meter }: GlobalStateParts) {
    this.#meter = meter
    this.#decoding = new SlicedWorks(meter)
    this.#state = state
    this.#world = world
    this.#serializer = serializer
  }

  /**
   * The place of a resource, read at its first use.
   * @throws VmFault, LackingKeys
   */
  resource(address: string, type: Type): Cell {
    const known = this.#resources.get(type, address)
    if (known) return known
    const cell = [this.#readResource(address, type as StructType)]
    this.#resources.add(type, address, cell)
    return cell
  }

  #readResource(address: string, type: StructType): Value | undefined {
    // Steps that may lack modules come first, so that the value is read once.
    this.#serializer.prepare(type)
    const stored = this.#world.storedType(type)
    const reader =
      stored.group !== undefined
        ? this.#readGroup(stored, stored.group, address).get(stored.member)
        : this.#read(type, address, undefined, stateKeyAt(stored.key, address))
    if (!reader) return undefined
    const value = this.#decode(type, address, undefined, reader)
    if (value !== undefined) return value
    const text = `Failed to deserialize resource ${stored.text} at ${address}!`
    throw new VmFault(STATUS.FAILED_TO_DESERIALIZE_RESOURCE, text)
  }

  #readGroup(stored: StoredType, group: string, address: string): GroupMembers {
    const known = this.#groups.get(group, address)
    if (known) return known
    const place = { kind: group, address, key: undefined }
    const members = this.#inSlices<GroupMembers | undefined>(place, () => {
      const bytes = this.#state.read(stateKeyAt(stored.key, address))
      return bytes ? new GroupReading(bytes, this.#meter) : NO_GROUP
    })
    if (!members) {
      throw new VmFault(
        STATUS.FAILED_TO_DESERIALIZE_RESOURCE,
        `Failed to deserialize the resource group at ${address}!`,
      )
    }
    this.#groups.add(group, address, members)
    return members
  }

  /** A reader of the value of a place; undefined if there is none. A place that is being decoded is not read again. */
  #read(type: Type, address: string, key: Uint8Array | undefined, stateKey: Uint8Array): ByteReader | undefined {
    if (this.#isContinued(type, address, key)) return READ_BEFORE
    const bytes = this.#state.read(stateKey)
    return bytes && new ByteReader(bytes)
  }

  /**
   * The value of a place; undefined if its bytes are not a value of the type.
   * @throws as `#inSlices`
   */
  #decode(type: Type, address: string, key: Uint8Array | undefined, reader: ByteReader): Value | undefined {
    return (
      this.#serializer.fixedToValue(type, reader) ?? this.#decodeInSlices(type, { kind: type, address, key }, reader)
    )
  }

  #decodeInSlices(type: Type, place: Place, reader: ByteReader): Value | undefined {
    return this.#inSlices(place, () => this.#serializer.beginToValue(type, reader))
  }

  #isContinued(kind: Type | string, address: string, key: Uint8Array | undefined): boolean {
    const last = this.#decoded
    if (!this.#decoding.isUnfinished || last === undefined) return false
    if (last.kind !== kind || last.address !== address) return false
    return last.key === key || (last.key !== undefined && key !== undefined && areSameBytes(last.key, key))
  }

  /**
   * Reads the value stored at a place.
   * @throws VmFault; TurnOver, after which the same place continues
   */
  #inSlices<T>(place: Place, begin: () => SlicedWork<T>): T {
    if (!this.#isContinued(place.kind, place.address, place.key)) this.#decoding.clear()
    this.#decoded = place
    this.#decoding.restart()
    const result = this.#decoding.do(begin)
    this.#decoding.clear()
    return result
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
    return this.#state.read(tableItemKeyOf(handle, key))
  }

  #item(handle: string, key: Uint8Array, type: Type): Cell {
    const known = this.#items.get(type, handle, key)
    if (known) return known
    const cell = [this.#readItem(handle, key, type)]
    this.#items.add(type, handle, key, cell)
    return cell
  }

  #readItem(handle: string, key: Uint8Array, type: Type): Value | undefined {
    this.#serializer.prepare(type)
    const reader = this.#read(type, handle, key, tableItemKeyOf(handle, key))
    if (!reader) return undefined
    const value = this.#decode(type, handle, key, reader)
    if (value === undefined) {
      throw new VmFault(STATUS.VM_EXTENSION_ERROR, `cannot deserialize table value of table ${handle}`)
    }
    return value
  }
}

function referenceTo(cell: Cell): Reference | undefined {
  return cell[0] === undefined ? undefined : new Reference(cell, 0)
}
