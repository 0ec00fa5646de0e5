import { ADDRESS_LENGTH, ByteReader, isLedgerStateError } from '@ledger-state/core'
import { bytesToHexDigits, copyBytes } from '@ledger-state/core/bytes'
import type { Meter } from '../budget/meter.js'
import { LAYOUT, type RuntimeLayout } from '../types/runtime-layout.js'
import { ByteVector } from '../values/byte-vector.js'
import { MAX_VALUE_DEPTH } from '../values/copy-value.js'
import { type ClosureValue, StructValue, type Value, VectorValue } from '../values/value.js'
import { readInteger } from './integer-codec.js'

/** Reads a function value as it is stored. Closures need the types of the run, which a layout does not have. */
export type ReadClosure = (reader: ByteReader, depth: number) => ClosureValue

/** Context that decoding needs in addition to a layout. */
export interface DecodeContext {
  readonly meter: Meter
  readonly readClosure: ReadClosure
}

/**
 * Decodes all of the bytes; undefined if they are not a value of the layout.
 * @throws VmFault if the budget is exhausted
 */
export function decodeValue(bytes: Uint8Array, layout: RuntimeLayout, context: DecodeContext): Value | undefined {
  const reader = new ByteReader(bytes)
  try {
    const value = readValue(reader, layout, context, 1)
    return reader.remaining === 0 ? value : undefined
  } catch (error) {
    if (isLedgerStateError(error, 'invalid_bcs')) return undefined
    throw error
  }
}

/** Reads one value. @throws `invalid_bcs`, VmFault */
export function readValue(reader: ByteReader, layout: RuntimeLayout, context: DecodeContext, depth: number): Value {
  switch (layout.kind) {
    case LAYOUT.bool:
      return reader.readBool()
    case LAYOUT.address:
      return bytesToHexDigits(reader.readBytes(ADDRESS_LENGTH))
    case LAYOUT.signer:
      return new StructValue(0, [bytesToHexDigits(reader.readBytes(ADDRESS_LENGTH))])
    case LAYOUT.bytes: {
      const bytes = reader.readByteString()
      context.meter.chargeByteVector(bytes.length)
      return new ByteVector(copyBytes(bytes))
    }
    case LAYOUT.vector: {
      const count = reader.readLength()
      const element = layout.parts[0]!
      // Charged before the allocation, so that the budget bounds it for elements of no bytes, too.
      context.meter.chargeContainer(count)
      const items: Value[] = []
      for (let at = 0; at < count; at++) items.push(readValue(reader, element, context, depth + 1))
      return new VectorValue(items)
    }
    case LAYOUT.struct:
      return new StructValue(0, readAll(reader, layout.parts, context, depth))
    case LAYOUT.enum: {
      const start = reader.offset
      const variant = reader.readUleb128()
      const fields = layout.variants[variant]
      if (!fields) throw reader.fault(`variant ${variant} of an enum of ${layout.variants.length}`, start)
      return new StructValue(variant, readAll(reader, fields, context, depth))
    }
    case LAYOUT.function:
      if (depth > MAX_VALUE_DEPTH) throw reader.fault('a value that is too deep')
      return context.readClosure(reader, depth)
    default:
      return readInteger(reader, layout.kind)
  }
}

function readAll(
  reader: ByteReader,
  layouts: readonly RuntimeLayout[],
  context: DecodeContext,
  depth: number,
): Value[] {
  context.meter.chargeContainer(layouts.length)
  const values = new Array<Value>(layouts.length)
  for (let at = 0; at < values.length; at++) values[at] = readValue(reader, layouts[at]!, context, depth + 1)
  return values
}
