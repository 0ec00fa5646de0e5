import { type ByteReader, ByteWriter } from '@ledger-state/core'
import type { Meter } from '../budget/meter.js'
import { type DecodeContext, decodeValue } from '../codec/decode-value.js'
import { type EncodeContext, writeValue } from '../codec/encode-value.js'
import type { Type } from '../types/type.js'
import type { ClosureValue, Value } from '../values/value.js'
import { readClosure, writeClosure } from './closures.js'
import type { Layouts } from './layouts.js'
import type { TypeTable } from './type-table.js'

/** Converts values of a run to BCS and back. */
export class Serializer implements DecodeContext, EncodeContext {
  readonly meter: Meter
  readonly #types: TypeTable
  readonly #layouts: Layouts
  readonly #writer = new ByteWriter()

  constructor(meter: Meter, types: TypeTable, layouts: Layouts) {
    this.meter = meter
    this.#types = types
    this.#layouts = layouts
  }

  readonly readClosure = (reader: ByteReader, depth: number): ClosureValue =>
    readClosure(reader, this.#types, this, depth)

  readonly writeClosure = (writer: ByteWriter, closure: ClosureValue, depth: number): void =>
    writeClosure(writer, closure, this.#types, this, depth)

  /**
   * Works out the layout of a type, so that later conversions lack nothing.
   * @throws VmFault, LackingKeys, StaleWorld
   */
  prepare(type: Type): void {
    this.#layouts.layoutOf(type)
  }

  /**
   * The BCS of a value.
   * @throws VmFault for the layout, the depth or the budget; LackingKeys
   */
  toBytes(type: Type, value: Value): Uint8Array {
    const layout = this.#layouts.layoutOf(type)
    this.#writer.reset()
    writeValue(this.#writer, value, layout, this, 1)
    return this.#writer.toBytes()
  }

  /**
   * The value of BCS bytes; undefined if they are not a value of the type.
   * @throws VmFault for the layout or the budget; LackingKeys
   */
  toValue(type: Type, bytes: Uint8Array): Value | undefined {
    const layout = this.#layouts.layoutOf(type)
    this.meter.chargeBytes(bytes.length)
    return decodeValue(bytes, layout, this)
  }
}
