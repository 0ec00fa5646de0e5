import type { ByteReader, ByteWriter } from '@ledger-state/core'
import type { Meter } from '../budget/meter.js'
import { type ClosureReader, ValueDecoder } from '../codec/decode-value.js'
import { type ClosureWriter, encodePlain, ValueEncoder } from '../codec/encode-value.js'
import { decodeFixedStruct } from '../codec/fixed-struct.js'
import type { SlicedWork } from '../sliced-work.js'
import type { RuntimeLayout } from '../types/runtime-layout.js'
import type { Type } from '../types/type.js'
import type { ClosureValue, Value } from '../values/value.js'
import { readCapturedLayout, readClosureHead, writeCapturedLayout, writeClosureHead } from './closures.js'
import type { Layouts } from './layouts.js'
import type { TypeTable } from './type-table.js'

/** Converts values of a run to BCS and back. */
export class Serializer implements ClosureReader, ClosureWriter {
  readonly #meter: Meter
  readonly #types: TypeTable
  readonly #layouts: Layouts
  #encoder: ValueEncoder | undefined

  constructor(meter: Meter, types: TypeTable, layouts: Layouts) {
    this.#meter = meter
    this.#types = types
    this.#layouts = layouts
  }

  readHead(reader: ByteReader) {
    return readClosureHead(reader, this.#types, this.#meter)
  }

  readLayout(reader: ByteReader, depth: number): RuntimeLayout {
    return readCapturedLayout(reader, depth, this.#meter)
  }

  writeHead(writer: ByteWriter, closure: ClosureValue): void {
    writeClosureHead(writer, closure, this.#types, this.#meter)
  }

  writeLayout(writer: ByteWriter, layout: RuntimeLayout): void {
    writeCapturedLayout(writer, layout, this.#meter)
  }

  /**
   * Works out the layout of a type, so that later conversions lack nothing.
   * @throws VmFault, LackingKeys, StaleWorld
   */
  prepare(type: Type): void {
    this.#layouts.layoutOf(type)
  }

  /**
   * The BCS of a value of a type without parts; undefined if the type has parts.
   * @throws VmFault for the layout; LackingKeys
   */
  plainToBytes(type: Type, value: Value): Uint8Array | undefined {
    return encodePlain(value, this.#layouts.layoutOf(type))
  }

  /**
   * Begins to make the BCS of a value.
   * @throws VmFault for the layout; LackingKeys
   */
  beginToBytes(type: Type, value: Value): SlicedWork<Uint8Array> {
    const layout = this.#layouts.layoutOf(type)
    // An encoder that has not come to its end belongs to work that continues.
    const encoder = this.#encoder ?? new ValueEncoder(this.#meter, this)
    this.#encoder = undefined
    encoder.begin(value, layout)
    return {
      continue: () => {
        const end = encoder.continue()
        if (end) this.#encoder = encoder
        return end
      },
    }
  }

  /**
   * The value of all bytes of a reader, if it is a struct of a fixed length; undefined for other types and other bytes.
   * @throws VmFault for the layout; LackingKeys
   */
  fixedToValue(type: Type, reader: ByteReader): Value | undefined {
    return decodeFixedStruct(reader, this.#layouts.layoutOf(type), this.#meter)
  }

  /**
   * Begins to make the value of all bytes of a reader. The result is undefined if they are not a value of the type.
   * @throws VmFault for the layout; LackingKeys
   */
  beginToValue(type: Type, reader: ByteReader): SlicedWork<Value | undefined> {
    return new ValueDecoder(reader, this.#layouts.layoutOf(type), this.#meter, this)
  }
}
