import { ADDRESS_LENGTH, ByteReader, isLedgerStateError } from '@ledger-state/core'
import { bytesToHexDigits, copyBytes, decodeUtf8 } from '@ledger-state/core/bytes'
import { ABILITY } from '@ledger-state/move-module'
import { readInteger } from '../codec/integer-codec.js'
import { STATUS } from '../faults/status.js'
import { VmFault } from '../faults/vm-fault.js'
import type { TypeLayoutField } from '../natives/native.js'
import type { ChainSettings } from '../run/environment.js'
import type { FunctionInstance } from '../run/instances.js'
import type { Layouts } from '../run/layouts.js'
import { moduleNameOf, type World } from '../run/world.js'
import { bitsOf, integerTypeOf } from '../types/integer-type.js'
import type { StructType, Type } from '../types/type.js'
import { ByteVector } from '../values/byte-vector.js'
import { StructValue, type Value, VectorValue } from '../values/value.js'

/**
 * A value that was read, or the way to make it: a vector of nodes, a struct of nodes, or a constructor that runs on
 * nodes.
 */
export type ArgumentNode =
  | { readonly kind: 'value'; value: Value }
  | { readonly kind: 'vector'; readonly items: readonly ArgumentNode[] }
  | { readonly kind: 'struct'; readonly variant: number; readonly items: readonly ArgumentNode[] }
  | { readonly kind: 'call'; readonly callee: FunctionInstance; readonly args: readonly ArgumentNode[]; result?: Value }

const STRUCT_CONSTRUCTORS_FLAG = 15
const PUBLIC_STRUCTS_FLAG = 109
const MAX_CONSTRUCTORS = 10
const MAX_CONSTRUCTORS_WITH_STRUCTS = 32
/** Attributes of the functions that pack a public struct, or a variant of a public enum. */
const PACK_ATTRIBUTES = [3, 4] as const
const MAX_COPIED_BYTES = 1_000_000

const FRAMEWORK = '1'.padStart(64, '0')
/** Functions of the framework that make a struct from plain values; each is in the module of its struct. */
const CONSTRUCTORS: ReadonlyMap<string, string> = new Map([
  ['object::Object', 'address_to_object'],
  ['option::Option', 'from_vec'],
  ['fixed_point32::FixedPoint32', 'create_from_raw_value'],
  ['fixed_point64::FixedPoint64', 'create_from_raw_value'],
])

/** Whether the bytes of an argument of the type are its value. Such arguments are decoded after all others are made. */
export function isPlainArgument({ kind }: Type): boolean {
  return kind === 'bool' || kind === 'address' || kind === 'signer' || integerTypeOf(kind) >= 0
}

/** Decodes an argument of a plain type. @throws VmFault */
export function readPlainArgument(type: Type, bytes: Uint8Array): Value {
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

function readPlain({ kind }: Type, reader: ByteReader): Value {
  switch (kind) {
    case 'bool':
      return reader.readBool()
    case 'address':
      return bytesToHexDigits(reader.readBytes(ADDRESS_LENGTH))
    case 'signer': {
      const variant = reader.readUleb128()
      if (variant > 1) throw reader.fault(`variant ${variant} of a signer`)
      const fields = [bytesToHexDigits(reader.readBytes(ADDRESS_LENGTH))]
      if (variant === 1) fields.push(bytesToHexDigits(reader.readBytes(ADDRESS_LENGTH)))
      return new StructValue(variant, fields)
    }
    default:
      return readInteger(reader, integerTypeOf(kind))
  }
}

function undecodable(): VmFault {
  return new VmFault(STATUS.FAILED_TO_DESERIALIZE_ARGUMENT, '[VM] failed to deserialize argument')
}

/** Reads one argument of a type with parts. It runs no code, and may begin again. */
export class ArgumentReader {
  readonly #world: World
  readonly #environment: ChainSettings
  readonly #layouts: Layouts
  readonly #reader: ByteReader
  #constructors: number
  #hasBadBool = false

  constructor(world: World, layouts: Layouts, environment: ChainSettings, bytes: Uint8Array) {
    this.#world = world
    this.#layouts = layouts
    this.#environment = environment
    this.#constructors = environment.isFeatureOn(PUBLIC_STRUCTS_FLAG) ? MAX_CONSTRUCTORS_WITH_STRUCTS : MAX_CONSTRUCTORS
    this.#reader = new ByteReader(bytes)
  }

  /**
   * Reads the argument.
   * @throws VmFault without a place, which then is the view's; LackingKeys
   */
  read(type: Type): ArgumentNode {
    try {
      const node = this.#node(type, { bytes: 0 })
      if (this.#reader.remaining > 0) throw malformedArgument()
      if (this.#hasBadBool) throw undecodable()
      return node
    } catch (error) {
      if (isLedgerStateError(error, 'invalid_bcs')) throw malformedArgument()
      throw error
    }
  }

  #copy(length: number, copied: { bytes: number }): void {
    copied.bytes += length
    if (copied.bytes > MAX_COPIED_BYTES) throw malformedArgument()
  }

  #node(type: Type, copied: { bytes: number }): ArgumentNode {
    switch (type.kind) {
      case 'vector':
        return type.element.kind === 'u8' ? this.#bytes(copied) : this.#vector(type.element, copied)
      case 'struct':
        return this.#struct(type, copied)
      case 'signer':
      case 'reference':
      case 'function':
        throw invalidSignature()
      default:
        return { kind: 'value', value: this.#plain(type, copied) }
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

  #bytes(copied: { bytes: number }): ArgumentNode {
    const bytes = this.#reader.readByteString()
    this.#copy(bytes.length, copied)
    return { kind: 'value', value: new ByteVector(copyBytes(bytes)) }
  }

  #vector(element: Type, copied: { bytes: number }): ArgumentNode {
    const items: ArgumentNode[] = []
    for (let count = this.#reader.readLength(); count > 0; count--) {
      const start = this.#reader.offset
      items.push(this.#node(element, copied))
      // A struct may have no fields, and then counts as a byte.
      if (this.#reader.offset === start) this.#copy(1, copied)
    }
    if (items.some(({ kind }) => kind !== 'value')) return { kind: 'vector', items }
    const values = items.map((item) => (item as ArgumentNode & { kind: 'value' }).value)
    return { kind: 'value', value: new VectorValue(values) }
  }

  #struct(type: StructType, copied: { bytes: number }): ArgumentNode {
    const name = type.address === FRAMEWORK ? `${type.module}::${type.name}` : ''
    if (name === 'string::String') return this.#string()
    const constructorName = CONSTRUCTORS.get(name)
    if (constructorName === undefined) return this.#publicStruct(type, copied)
    if (!this.#environment.isFeatureOn(STRUCT_CONSTRUCTORS_FLAG)) throw invalidSignature()
    if (--this.#constructors < 0) throw malformedArgument()
    const module = this.#world.module(moduleNameOf(type.address, type.module))
    const callee = this.#world.function(module, constructorName, type.typeArguments)
    const parameters = this.#world.signatureTypes(callee, callee.definition.parameters)
    const args = parameters.map((parameter) => this.#node(parameter, { bytes: copied.bytes }))
    return { kind: 'call', callee, args }
  }

  /** The fields, in order, of a struct or enum that its module lets everyone pack. */
  #publicStruct(type: StructType, copied: { bytes: number }): ArgumentNode {
    if (!this.#environment.isFeatureOn(PUBLIC_STRUCTS_FLAG)) throw invalidSignature()
    const { abilities } = this.#world.structOf(type).definition
    if ((abilities & ABILITY.copy) === 0 || (abilities & ABILITY.key) !== 0) throw invalidSignature()
    const layout = this.#layouts.typeLayout(type)
    if (layout.kind === 'struct') return this.#packed(type, type.name, 0, layout.fields, copied)
    if (layout.kind !== 'enum') throw invalidSignature()
    const index = this.#reader.readUleb128()
    const variant = layout.variants[index]
    if (!variant) throw malformedArgument()
    return this.#packed(type, `${type.name}$${variant.name}`, index, variant.fields, copied)
  }

  #packed(
    type: StructType,
    name: string,
    variant: number,
    fields: readonly TypeLayoutField[],
    copied: { bytes: number },
  ): ArgumentNode {
    const pack = this.#world.moduleOf(type).loaded.functions.get(`pack$${name}`)?.definition
    const isPublic = pack?.visibility === 'public' && PACK_ATTRIBUTES.some((one) => pack.attributes.includes(one))
    if (!isPublic) throw invalidSignature()
    if (--this.#constructors < 0) throw malformedArgument()
    return { kind: 'struct', variant, items: fields.map((field) => this.#node(field.type, copied)) }
  }

  #string(): ArgumentNode {
    const bytes = this.#reader.readByteString()
    this.#copy(bytes.length, { bytes: 0 })
    if (decodeUtf8(bytes) === undefined) {
      const isConstructed = this.#environment.isFeatureOn(STRUCT_CONSTRUCTORS_FLAG)
      throw new VmFault(isConstructed ? STATUS.ABORTED : STATUS.FAILED_TO_DESERIALIZE_ARGUMENT)
    }
    return { kind: 'value', value: new StructValue(0, [new ByteVector(copyBytes(bytes))]) }
  }
}

/** The next constructor to run: one whose arguments are made. */
export function nextConstructor(node: ArgumentNode): (ArgumentNode & { kind: 'call' }) | undefined {
  if (node.kind === 'value') return undefined
  if (node.kind === 'call' && node.result !== undefined) return undefined
  for (const part of node.kind === 'call' ? node.args : node.items) {
    const found = nextConstructor(part)
    if (found) return found
  }
  return node.kind === 'call' ? node : undefined
}

/** The value of a node, after its constructors have run. */
export function argumentValue(node: ArgumentNode): Value {
  switch (node.kind) {
    case 'value':
      return node.value
    case 'vector':
      return new VectorValue(node.items.map(argumentValue))
    case 'struct':
      return new StructValue(node.variant, node.items.map(argumentValue))
    case 'call':
      return node.result!
  }
}

export function invalidSignature(): VmFault {
  return new VmFault(STATUS.INVALID_MAIN_FUNCTION_SIGNATURE)
}

function malformedArgument(): VmFault {
  return new VmFault(STATUS.FAILED_TO_DESERIALIZE_ARGUMENT)
}
