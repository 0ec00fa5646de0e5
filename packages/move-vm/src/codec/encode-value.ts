import type { ByteWriter } from '@ledger-state/core'
import type { Meter } from '../budget/meter.js'
import { malformedCode } from '../faults/vm-fault.js'
import { LAYOUT, type RuntimeLayout } from '../types/runtime-layout.js'
import { ByteVector } from '../values/byte-vector.js'
import { MAX_VALUE_DEPTH, valueTooDeep } from '../values/copy-value.js'
import { ClosureValue, StructValue, type Value, VectorValue } from '../values/value.js'
import { writeInteger } from './integer-codec.js'

/** Writes a function value as it is stored. */
export type WriteClosure = (writer: ByteWriter, closure: ClosureValue, depth: number) => void

/** Context that encoding needs in addition to a layout. */
export interface EncodeContext {
  readonly meter: Meter
  readonly writeClosure: WriteClosure
}

/**
 * Writes the BCS of a value.
 * @throws VmFault if it is too deep or does not fit the layout, or if the budget is exhausted
 */
export function writeValue(
  writer: ByteWriter,
  value: Value,
  layout: RuntimeLayout,
  context: EncodeContext,
  depth: number,
): void {
  if (depth > MAX_VALUE_DEPTH) throw valueTooDeep()
  switch (layout.kind) {
    case LAYOUT.bool:
      if (typeof value !== 'boolean') throw otherType()
      writer.bool(value)
      return
    case LAYOUT.address:
      if (typeof value !== 'string') throw otherType()
      writer.address(value)
      return
    case LAYOUT.signer: {
      const address = value instanceof StructValue ? value.fields[0] : undefined
      if (typeof address !== 'string') throw otherType()
      writer.address(address)
      return
    }
    case LAYOUT.bytes:
      if (!(value instanceof ByteVector)) throw otherType()
      context.meter.chargeBytes(value.length + 1)
      writer.byteString(value.view())
      return
    case LAYOUT.vector: {
      if (!(value instanceof VectorValue)) throw otherType()
      const { items } = value
      const element = layout.parts[0]!
      context.meter.chargeBytes(items.length + 1)
      writer.uleb128(items.length)
      for (let at = 0; at < items.length; at++) writeValue(writer, items[at]!, element, context, depth + 1)
      return
    }
    case LAYOUT.struct:
      if (!(value instanceof StructValue) || value.variant !== 0) throw otherType()
      writeAll(writer, value.fields, layout.parts, context, depth)
      return
    case LAYOUT.enum: {
      const fields = value instanceof StructValue ? layout.variants[value.variant] : undefined
      if (!fields) throw otherType()
      writer.uleb128((value as StructValue).variant)
      writeAll(writer, (value as StructValue).fields, fields, context, depth)
      return
    }
    case LAYOUT.function:
      if (!(value instanceof ClosureValue)) throw otherType()
      context.writeClosure(writer, value, depth)
      return
    default:
      if (typeof value !== 'number' && typeof value !== 'bigint') throw otherType()
      writeInteger(writer, value, layout.kind)
  }
}

function writeAll(
  writer: ByteWriter,
  values: readonly Value[],
  layouts: readonly RuntimeLayout[],
  context: EncodeContext,
  depth: number,
): void {
  if (values.length !== layouts.length) throw otherType()
  context.meter.chargeBytes(values.length)
  for (let at = 0; at < values.length; at++) writeValue(writer, values[at]!, layouts[at]!, context, depth + 1)
}

function otherType() {
  return malformedCode('a value of another type than its layout')
}
