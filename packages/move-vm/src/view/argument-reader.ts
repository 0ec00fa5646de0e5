import { ADDRESS_LENGTH, ByteReader, isLedgerStateError } from '@ledger-state/core'
import { bytesToHexDigits, copyBytes, decodeUtf8 } from '@ledger-state/core/bytes'
import { ABILITY } from '@ledger-state/move-module'
import { type Meter, SLOT_BYTES } from '../budget/meter.js'
import { readInteger } from '../codec/integer-codec.js'
import { STATUS } from '../faults/status.js'
import { isRetried, VmFault } from '../faults/vm-fault.js'
import type { TypeLayoutField } from '../natives/native.js'
import type { ChainSettings } from '../run/environment.js'
import type { FunctionInstance } from '../run/instances.js'
import type { Layouts } from '../run/layouts.js'
import type { World } from '../run/world.js'
import { bitsOf, integerTypeOf } from '../types/integer-type.js'
import type { StructType, Type } from '../types/type.js'
import { ByteVector } from '../values/byte-vector.js'
import { StructValue, type Value, VectorValue } from '../values/value.js'

/** A value that is not made yet: constructors have to run for some of its parts, or for the value itself. */
class UnmadeValue {
  /** Makes the value, once those constructors have run. */
  readonly make: () => Value

  constructor(make: () => Value) {
    this.make = make
  }
}

/** The parts of a value, in order. */
class Parts {
  readonly #values: Value[] = []
  readonly #unmade: { readonly at: number; readonly part: UnmadeValue }[] = []

  push(part: Value | UnmadeValue): void {
    if (part instanceof UnmadeValue) {
      this.#unmade.push({ at: this.#values.length, part })
      this.#values.push(false)
    } else this.#values.push(part)
  }

  /** Applies `make` to the parts: at once, if all of them exist. */
  toValue(make: (values: Value[]) => Value): Value | UnmadeValue {
    return this.#unmade.length === 0 ? make(this.#values) : new UnmadeValue(() => make(this.made()))
  }

  /** The values of all parts, once their constructors have run. */
  made(): Value[] {
    for (const { at, part } of this.#unmade) this.#values[at] = part.make()
    return this.#values
  }
}

/** A constructor that has to run. Those of its arguments come before it. */
export interface ConstructorCall {
  readonly callee: FunctionInstance
  readonly args: Parts
  result?: Value
}

/** An argument that was read. Its value can be made once the constructors have run, in this order. */
export interface ReadArgument {
  readonly calls: ConstructorCall[]
  readonly value: () => Value
}

const STRUCT_CONSTRUCTORS_FLAG = 15
const PUBLIC_STRUCTS_FLAG = 109
const MAX_CONSTRUCTORS = 10
const MAX_CONSTRUCTORS_WITH_STRUCTS = 32
/** Attributes of the functions that pack a public struct, or a variant of a public enum. */
const PACK_ATTRIBUTES = [3, 4] as const
const MAX_COPIED_BYTES = 1_000_000

const FRAMEWORK = '1'.padStart(64, '0')
/** Functions of the framework that make a struct from plain values, by the struct; each is in the module of its struct. */
const CONSTRUCTORS: ReadonlyMap<string, { readonly module: string; readonly name: string }> = new Map([
  ['Object', { module: 'object', name: 'address_to_object' }],
  ['Option', { module: 'option', name: 'from_vec' }],
  ['FixedPoint32', { module: 'fixed_point32', name: 'create_from_raw_value' }],
  ['FixedPoint64', { module: 'fixed_point64', name: 'create_from_raw_value' }],
])

/** Whether the bytes of an argument of the type are its value. Such arguments are decoded after all others are made. */
export function isPlainArgument({ kind }: Type): boolean {
  return kind === 'bool' || kind === 'address' || kind === 'signer' || integerTypeOf(kind) >= 0
}

/** Decodes an argument of a plain type. @throws VmFault */
export function readPlainArgument(type: Type, bytes: Uint8Array): Value {
  const short = readShortInteger(type, bytes)
  if (short !== undefined) return short
  if (type.kind === 'address' && bytes.length === ADDRESS_LENGTH) return bytesToHexDigits(bytes)
  const reader = new ByteReader(bytes)
  try {
    const value = readPlain(type, reader)
    reader.expectEnd()
    return value
  } catch (error) {
    if (isLedgerStateError(error, 'invalid_bcs')) throw undecodable()
    throw error
  }
}

/** A `u64` below 2^53, the most common argument, without a reader; undefined for all others. */
function readShortInteger({ kind }: Type, bytes: Uint8Array): number | undefined {
  if (kind !== 'u64' || bytes.length !== 8 || bytes[6]! > 0x1f || bytes[7] !== 0) return undefined
  const low = bytes[0]! | (bytes[1]! << 8) | (bytes[2]! << 16) | (bytes[3]! << 24)
  return (low >>> 0) + (bytes[4]! | (bytes[5]! << 8) | (bytes[6]! << 16)) * 0x1_0000_0000
}

function readPlain({ kind }: Type, reader: ByteReader): Value {
  switch (kind) {
    case 'bool':
      return reader.readBool()
    case 'address':
      return reader.readAddress()
    case 'signer': {
      const variant = reader.readUleb128()
      if (variant > 1) throw reader.fault(`variant ${variant} of a signer`)
      const fields = [reader.readAddress()]
      if (variant === 1) fields.push(reader.readAddress())
      return new StructValue(variant, fields)
    }
    default:
      return readInteger(reader, integerTypeOf(kind))
  }
}

function undecodable(): VmFault {
  return new VmFault(STATUS.FAILED_TO_DESERIALIZE_ARGUMENT, '[VM] failed to deserialize argument')
}

/** Work of reading a part of an argument, and of making a container for it, in instructions. */
const PART_WORK = 1
const CONTAINER_WORK = 4
/** Parts that are read at once, in a fraction of a millisecond. */
const PARTS_AT_ONCE = 2_048

/** Reading in slices. It yields after each of them, or an error after which it can continue. */
type Reading<T> = Generator<unknown, T, void>

interface ArgumentContext {
  readonly world: World
  readonly layouts: Layouts
  readonly environment: ChainSettings
}

/** Reads one argument of a type with parts, in slices. It runs no code. */
export class ArgumentReader {
  readonly #world: World
  readonly #meter: Meter
  readonly #environment: ChainSettings
  readonly #layouts: Layouts
  readonly #reader: ByteReader
  readonly #steps: Reading<ReadArgument>
  readonly #calls: ConstructorCall[] = []
  #constructors: number
  #hasBadBool = false
  #left = PARTS_AT_ONCE

  constructor({ world, layouts, environment }: ArgumentContext, type: Type, bytes: Uint8Array) {
    this.#world = world
    this.#meter = world.meter
    this.#layouts = layouts
    this.#environment = environment
    this.#constructors = environment.isFeatureOn(PUBLIC_STRUCTS_FLAG) ? MAX_CONSTRUCTORS_WITH_STRUCTS : MAX_CONSTRUCTORS
    this.#reader = new ByteReader(bytes)
    this.#steps = this.#readAll(type)
  }

  /**
   * Reads the next slice. Its charges are kept, even if it lacks something and runs again.
   * @throws VmFault without a place, which then is the view's; LackingKeys, TurnOver
   */
  continue(): { readonly result: ReadArgument } | undefined {
    const step = this.#steps.next()
    if (step.done) return { result: step.value }
    if (step.value !== undefined) throw step.value
    this.#meter.keep(this.#meter.unkeptInstructions, this.#meter.unkeptBytes)
    return undefined
  }

  *#readAll(type: Type): Reading<ReadArgument> {
    try {
      const copied = { bytes: 0 }
      const value = this.#simple(type, copied) ?? (yield* this.#part(type, copied))
      if (this.#reader.remaining > 0) throw malformedArgument()
      if (this.#hasBadBool) throw undecodable()
      return { calls: this.#calls, value: () => (value instanceof UnmadeValue ? value.make() : value) }
    } catch (error) {
      if (isLedgerStateError(error, 'invalid_bcs')) throw malformedArgument()
      throw error
    }
  }

  /** Does a step that may lack something. Earlier charges of the reading are kept. */
  *#attempt<T>(step: () => T): Reading<T> {
    const meter = this.#meter
    for (;;) {
      const { unkeptInstructions, unkeptBytes } = meter
      try {
        return step()
      } catch (error) {
        if (!isRetried(error)) throw error
        meter.keep(unkeptInstructions, unkeptBytes)
        yield error
      }
    }
  }

  #copy(length: number, copied: { bytes: number }): void {
    copied.bytes += length
    if (copied.bytes > MAX_COPIED_BYTES) throw malformedArgument()
  }

  /** Reads a value that `#simple` does not read. */
  #part(type: Type, copied: { bytes: number }): Reading<Value | UnmadeValue> {
    if (type.kind === 'vector') return this.#vector(type.element, copied)
    if (type.kind === 'struct') return this.#struct(type, copied)
    throw invalidSignature()
  }

  /** Reads a value that is read at once; undefined if values of the type are not. */
  #simple(type: Type, copied: { bytes: number }): Value | undefined {
    switch (type.kind) {
      case 'vector':
        return type.element.kind === 'u8' ? this.#bytes(copied) : undefined
      case 'struct':
        return type.name === 'String' && isOfFramework(type, 'string') ? this.#string() : undefined
      case 'signer':
      case 'reference':
      case 'function':
        return undefined
      default:
        return this.#plain(type, copied)
    }
  }

  #plain(type: Type, copied: { bytes: number }): Value {
    const reader = this.#reader
    const { kind } = type
    this.#copy(kind === 'bool' ? 1 : kind === 'address' ? ADDRESS_LENGTH : bitsOf(integerTypeOf(kind)) / 8, copied)
    if (kind !== 'bool') return readPlain(type, reader)
    const byte = reader.readU8()
    // Reported only after all faults of lengths.
    if (byte > 1) this.#hasBadBool = true
    return byte === 1
  }

  #bytes(copied: { bytes: number }): ByteVector {
    const bytes = this.#reader.readByteString()
    this.#copy(bytes.length, copied)
    this.#meter.chargeInstructions(CONTAINER_WORK)
    this.#meter.chargeByteVector(bytes.length)
    return new ByteVector(copyBytes(bytes))
  }

  *#vector(element: Type, copied: { bytes: number }): Reading<Value | UnmadeValue> {
    const reader = this.#reader
    this.#meter.chargeInstructions(CONTAINER_WORK)
    this.#meter.chargeContainer(0)
    const parts = new Parts()
    for (let count = reader.readLength(); count > 0; count--) {
      if (--this.#left < 0) {
        this.#left = PARTS_AT_ONCE
        yield
      }
      const start = reader.offset
      this.#meter.chargeInstructions(PART_WORK)
      this.#meter.chargeBytes(SLOT_BYTES)
      parts.push(this.#simple(element, copied) ?? (yield* this.#part(element, copied)))
      // A struct may have no fields, and then counts as a byte.
      if (reader.offset === start) this.#copy(1, copied)
    }
    return parts.toValue((values) => new VectorValue(values))
  }

  *#struct(type: StructType, copied: { bytes: number }): Reading<Value | UnmadeValue> {
    const known = CONSTRUCTORS.get(type.name)
    if (!known || !isOfFramework(type, known.module)) return yield* this.#publicStruct(type, copied)
    if (!this.#environment.isFeatureOn(STRUCT_CONSTRUCTORS_FLAG)) throw invalidSignature()
    if (--this.#constructors < 0) throw malformedArgument()
    const world = this.#world
    const { callee, parameters } = yield* this.#attempt(() => {
      const module = world.moduleNamedBy(type)
      const callee = world.function(module, known.name, type.typeArguments)
      return { callee, parameters: world.parameterTypes(callee) }
    })
    const args = new Parts()
    for (const parameter of parameters) {
      const own = { bytes: copied.bytes }
      args.push(this.#simple(parameter, own) ?? (yield* this.#part(parameter, own)))
    }
    const call: ConstructorCall = { callee, args }
    this.#calls.push(call)
    return new UnmadeValue(() => call.result!)
  }

  /** The fields, in order, of a struct or enum that its module lets everyone pack. */
  *#publicStruct(type: StructType, copied: { bytes: number }): Reading<Value | UnmadeValue> {
    if (!this.#environment.isFeatureOn(PUBLIC_STRUCTS_FLAG)) throw invalidSignature()
    const layout = yield* this.#attempt(() => {
      const { abilities } = this.#world.structOf(type).definition
      if ((abilities & ABILITY.copy) === 0 || (abilities & ABILITY.key) !== 0) throw invalidSignature()
      return this.#layouts.typeLayout(type)
    })
    if (layout.kind === 'struct') return yield* this.#packed(type, type.name, 0, layout.fields, copied)
    if (layout.kind !== 'enum') throw invalidSignature()
    const index = this.#reader.readUleb128()
    const variant = layout.variants[index]
    if (!variant) throw malformedArgument()
    return yield* this.#packed(type, `${type.name}$${variant.name}`, index, variant.fields, copied)
  }

  *#packed(
    type: StructType,
    name: string,
    variant: number,
    fields: readonly TypeLayoutField[],
    copied: { bytes: number },
  ): Reading<Value | UnmadeValue> {
    const { loaded } = yield* this.#attempt(() => this.#world.moduleOf(type))
    const pack = loaded.functions.get(`pack$${name}`)?.definition
    const isPublic = pack?.visibility === 'public' && PACK_ATTRIBUTES.some((one) => pack.attributes.includes(one))
    if (!isPublic) throw invalidSignature()
    if (--this.#constructors < 0) throw malformedArgument()
    this.#meter.chargeContainer(fields.length)
    const parts = new Parts()
    for (const { type: part } of fields) parts.push(this.#simple(part, copied) ?? (yield* this.#part(part, copied)))
    return parts.toValue((values) => new StructValue(variant, values))
  }

  #string(): Value {
    const bytes = this.#reader.readByteString()
    this.#copy(bytes.length, { bytes: 0 })
    this.#meter.chargeContainer(1)
    this.#meter.chargeByteVector(bytes.length)
    if (decodeUtf8(bytes) === undefined) {
      const isConstructed = this.#environment.isFeatureOn(STRUCT_CONSTRUCTORS_FLAG)
      throw new VmFault(isConstructed ? STATUS.ABORTED : STATUS.FAILED_TO_DESERIALIZE_ARGUMENT)
    }
    return new StructValue(0, [new ByteVector(copyBytes(bytes))])
  }
}

/** Whether a struct is of a module of the framework. */
function isOfFramework({ address, module }: StructType, name: string): boolean {
  return module === name && address === FRAMEWORK
}

export function invalidSignature(): VmFault {
  return new VmFault(STATUS.INVALID_MAIN_FUNCTION_SIGNATURE)
}

function malformedArgument(): VmFault {
  return new VmFault(STATUS.FAILED_TO_DESERIALIZE_ARGUMENT)
}
