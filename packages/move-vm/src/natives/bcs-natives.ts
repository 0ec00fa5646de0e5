import { FIXED_LENGTHS } from '@ledger-state/type-tag'
import { STATUS } from '../faults/status.js'
import { PartedMap } from '../parted-map.js'
import type { Type } from '../types/type.js'
import { MAX_VALUE_DEPTH } from '../values/copy-value.js'
import { StructValue, type Value, VectorValue } from '../values/value.js'
import { byteVectorOf, toVector, valueAt } from './arguments.js'
import type { Native, NativeContext, NativeExtension } from './native.js'

const UNSERIALIZABLE = 0x1c5
const INVALID_BYTES = 0x1_0001
const FRAMEWORK = '1'.padStart(64, '0')
const LAYOUT_NODE_PRICE = 5

function serialize(context: NativeContext, reference: Value | undefined): Uint8Array {
  return context.serialize(context.typeArguments[0]!, valueAt(reference)) ?? context.abort(UNSERIALIZABLE)
}

/** The size in bytes that all values of a type have; undefined if the size varies. Each type is looked at once. */
function constantSize(context: NativeContext, type: Type, depth: number): number | undefined {
  if (type.kind !== 'struct') return FIXED_LENGTHS[type.kind]
  const sizes = context.extension(SIZES)
  const known = sizes.get(type)
  if (known !== undefined) return known === NO_SIZE ? undefined : known
  expectShallow(context, depth)
  const layout = context.layout(type)
  let size: number | undefined
  if (layout.kind === 'struct') {
    size = 0
    for (const field of layout.fields) {
      const fieldSize = constantSize(context, field.type, depth + 1)
      if (fieldSize === undefined) {
        size = undefined
        break
      }
      size += fieldSize
    }
    context.chargeOnce(LAYOUT_NODE_PRICE * layout.fields.length)
  }
  context.chargeOnce(LAYOUT_NODE_PRICE)
  sizes.set(type, size ?? NO_SIZE)
  return size
}

/** Sizes of types; `NO_SIZE` of those whose values differ in size. */
const SIZES: NativeExtension<PartedMap<Type, number>> = { name: 'bcs', create: () => new PartedMap() }
const NO_SIZE = -1

function expectShallow(context: NativeContext, depth: number): void {
  if (depth > MAX_VALUE_DEPTH) context.fault(STATUS.VM_MAX_VALUE_DEPTH_REACHED)
}

/** An Option in the representation of the version: an enum, or a struct with a vector. */
function toOption(context: NativeContext, value: number | undefined): StructValue {
  // The representation is the same for every type, so that any type will do.
  const option = context.structType(FRAMEWORK, 'option', 'Option', [context.typeArguments[0]!])
  const items = value === undefined ? [] : [value]
  if (context.layout(option).kind === 'enum') return new StructValue(items.length, items)
  return new StructValue(0, [new VectorValue(items)])
}

/** Whether values of a type hold signers or functions, which are never made from bytes. */
function isUnreadable(context: NativeContext, type: Type, depth: number): boolean {
  const known = context.extension(UNREADABLE).get(type)
  if (known !== undefined) return known
  expectShallow(context, depth)
  const isOne =
    type.kind === 'signer' ||
    type.kind === 'function' ||
    partsOf(context, type).some((part) => isUnreadable(context, part, depth + 1))
  context.chargeOnce(LAYOUT_NODE_PRICE)
  context.extension(UNREADABLE).set(type, isOne)
  return isOne
}

const UNREADABLE: NativeExtension<PartedMap<Type, boolean>> = { name: 'from_bcs', create: () => new PartedMap() }

function partsOf(context: NativeContext, type: Type): readonly Type[] {
  if (type.kind === 'vector') return [type.element]
  if (type.kind !== 'struct') return []
  const layout = context.layout(type)
  if (layout.kind === 'struct') return layout.fields.map((field) => field.type)
  return layout.kind === 'enum' ? layout.variants.flatMap(({ fields }) => fields.map((field) => field.type)) : []
}

const fromBytes: Native = (context, [bytes]) => {
  const type = context.typeArguments[0]!
  if (isUnreadable(context, type, 1)) context.abort(INVALID_BYTES)
  return [context.deserialize(type, byteVectorOf(bytes)) ?? context.abort(INVALID_BYTES)]
}

export const BCS_NATIVES: Readonly<Record<string, Native>> = {
  '0x1::bcs::to_bytes': (context, [reference]) => [toVector(serialize(context, reference))],
  '0x1::bcs::serialized_size': (context, [reference]) => [serialize(context, reference).length],
  '0x1::bcs::constant_serialized_size': (context) => [
    toOption(context, constantSize(context, context.typeArguments[0]!, 1)),
  ],
  '0x1::from_bcs::from_bytes': fromBytes,
  '0x1::util::from_bytes': fromBytes,
}
