import type { RuntimeLayout } from '../types/runtime-layout.js'
import type { Type } from '../types/type.js'
import type { ByteVector } from './byte-vector.js'

// Values of a running function. They carry no types: code, natives and codecs know the types of their values. A run
// changes only values that it owns. Literals of compiled code, arguments, values of the state and results of tasks
// belong to others: they are copied before they become values of the run, or, as bytes of the state, before it changes
// them.

/**
 * A value on the stack, in a local, or in a container.
 * - Integers of all twelve types: a `number` while it is safe (magnitude at most 2^53 - 1), else a `bigint`. Each integer
 *   has one form, so that `===` compares.
 * - `bool`: a boolean.
 * - `address`: 64 lower-case hex digits without `0x`; `===` compares, `<` orders as the bytes do.
 * - `vector<u8>`: a `ByteVector`; other vectors: a `VectorValue`.
 * - Structs and enums: a `StructValue`. A `signer` is one, too: variant 0, whose only field is the address, or variant 1
 *   (permissioned), whose fields are the address and that of the permissions.
 */
export type Value =
  | number
  | bigint
  | boolean
  | string
  | ByteVector
  | VectorValue
  | StructValue
  | ClosureValue
  | Reference
  | ByteReference

/** A place for one value. It holds nothing after a local was moved out of it. */
export type Slot = Value | undefined

/** A vector of anything but u8. The array belongs to the vector. */
export class VectorValue {
  readonly items: Value[]
  /** Number of elements that the array has room for, as it is charged. */
  room: number

  constructor(items: Value[], room = items.length) {
    this.items = items
    this.room = room
  }

  /** Counts room for elements that are appended. Returns by how many elements the room grew. */
  reserve(count: number): number {
    const needed = this.items.length + count
    if (needed <= this.room) return 0
    const before = this.room
    this.room = roomAfterPush(needed)
    return this.room - before
  }
}

/** Room of an array that pushes make `length` elements long: V8 grows arrays by a half and 16 elements. */
export function roomAfterPush(length: number): number {
  return length === 0 ? 0 : length + (length >> 1) + 16
}

/** The fields of a stored struct, of which only those are decoded that code looks at. All are checked and charged. */
export interface UnreadFields {
  /** All fields. */
  readAll(): Value[]
  /** The array of all fields, of which this one and those that were read before are decoded. */
  read(index: number): Value[]
}

/**
 * A struct (variant 0) or an enum, with its fields in the order of their definition. The array belongs to the value.
 */
export class StructValue {
  readonly variant: number
  #fields: Value[] | UnreadFields

  constructor(variant: number, fields: Value[] | UnreadFields) {
    this.variant = variant
    this.#fields = fields
  }

  get fields(): Value[] {
    const fields = this.#fields
    return Array.isArray(fields) ? fields : this.#readAll(fields)
  }

  #readAll(unread: UnreadFields): Value[] {
    const fields = unread.readAll()
    this.#fields = fields
    return fields
  }

  /** The array of the fields, of which only the one at an index may be used. */
  fieldsFor(index: number): Value[] {
    const fields = this.#fields
    return Array.isArray(fields) ? fields : fields.read(index)
  }
}

/** The function that a closure calls. */
export interface ClosureTarget {
  /** 64 hex digits. */
  readonly address: string
  readonly module: string
  readonly name: string
  readonly typeArguments: readonly Type[]
}

/** A function value. Captured values are in the order of their parameters. */
export class ClosureValue {
  readonly target: ClosureTarget
  /** Bit i says whether parameter i of the target is captured. */
  readonly mask: bigint
  readonly captured: Value[]
  /**
   * Layouts of the captured values. They are worked out when the closure is packed, and are stored with it; undefined if
   * the closure has no BCS.
   */
  readonly layouts: readonly RuntimeLayout[] | undefined

  constructor(target: ClosureTarget, mask: bigint, captured: Value[], layouts: readonly RuntimeLayout[] | undefined) {
    this.target = target
    this.mask = mask
    this.captured = captured
    this.layouts = layouts
  }
}

/**
 * A reference to a place in an array: a local, a field, an element, or (in an array of one) a resource or table item.
 * `&` and `&mut` do not differ.
 */
export class Reference {
  readonly slots: Slot[]
  readonly index: number
  /** The locals of the frame that it points into, at any depth; undefined if it points into none. */
  readonly origin: Slot[] | undefined

  constructor(slots: Slot[], index: number, origin?: Slot[]) {
    this.slots = slots
    this.index = index
    this.origin = origin
  }
}

/** A reference to an element of a `vector<u8>`. */
export class ByteReference {
  readonly vector: ByteVector
  readonly index: number
  /** The same as in `Reference`. */
  readonly origin: Slot[] | undefined

  constructor(vector: ByteVector, index: number, origin?: Slot[]) {
    this.vector = vector
    this.index = index
    this.origin = origin
  }
}
