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
    const members = stored.group === undefined ? undefined : this.#readGroup(stored, stored.group, address)
    const place = { kind: type, address, key: undefined }
    const read = () => (members ? members.get(stored.member) : this.#read(stateKeyAt(stored.key, address)))
    return this.#decode(place, type, read, () => {
      const text = `Failed to deserialize resource ${stored.text} at ${address}!`
      return new VmFault(STATUS.FAILED_TO_DESERIALIZE_RESOURCE, text)
    })
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

  /**
   * The value of a place; undefined if there is none. A place that continues is not read again.
   * @throws as `#inSlices`; the fault for bytes that are not a value of the type
   */
  #decode(place: Place, type: Type, read: () => ByteReader | undefined, unreadable: () => VmFault): Value | undefined {
    const reader = this.#isContinued(place) ? READ_BEFORE : read()
    if (reader === undefined) return undefined
    const value =
      this.#serializer.fixedToValue(type, reader) ??
      this.#inSlices(place, () => this.#serializer.beginToValue(type, reader))
    if (value === undefined) throw unreadable()
    return value
  }

  #read(key: Uint8Array): ByteReader | undefined {
    const bytes = this.#state.read(key)
    return bytes && new ByteReader(bytes)
  }

  #isContinued({ kind, address, key }: Place): boolean {
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
    if (!this.#isContinued(place)) this.#decoding.clear()
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
    this.#serializer.prepare(type)
    const read = () => this.#read(tableItemKeyOf(handle, key))
    const value = this.#decode({ kind: type, address: handle, key }, type, read, () => {
      const text = `cannot deserialize table value of table ${handle}`
      return new VmFault(STATUS.VM_EXTENSION_ERROR, text)
    })
    const cell = [value]
    this.#items.add(type, handle, key, cell)
    return cell
  }
}

function referenceTo(cell: Cell): Reference | undefined {
  return cell[0] === undefined ? undefined : new Reference(cell, 0)
}
