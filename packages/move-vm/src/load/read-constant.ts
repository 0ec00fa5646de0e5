import { ByteReader, isLedgerStateError } from '@ledger-state/core'
import { copyBytes } from '@ledger-state/core/bytes'
import type { Constant, SignatureToken } from '@ledger-state/move-module'
import { readInteger } from '../codec/integer-codec.js'
import { malformedCode } from '../faults/vm-fault.js'
import { integerTypeOf } from '../types/integer-type.js'
import { ByteVector } from '../values/byte-vector.js'
import { type Value, VectorValue } from '../values/value.js'

/** Bytes of a constant that are read at once, in a fraction of a millisecond. */
const BYTES_AT_ONCE = 2_048

/** Heap bytes of the value of any constant, and for each of its bytes: a plain one, a vector of plain values, and a vector of vectors. */
const CONSTANT_BYTES = 320
const CONSTANT_GROWTH = [1, 8, 272] as const

/** Most heap bytes that the value of a constant takes. */
export function heapBytesOf({ type, bytes }: Constant): number {
  const levels = type.kind !== 'vector' || type.element.kind === 'u8' ? 0 : type.element.kind === 'vector' ? 2 : 1
  return CONSTANT_BYTES + CONSTANT_GROWTH[levels] * bytes.length
}

/** Reading in steps. It yields the number of bytes that each step has read, apart from the last one. */
export type ConstantReading = Generator<number, Value, void>

/** Reads the value of a constant. Each step throws a fault if the constant does not decode. */
export function* readConstant({ type, bytes }: Constant): ConstantReading {
  expectConstantType(type)
  const reader = new ByteReader(bytes)
  try {
    const value = yield* readParts(type, new SteppedReader(reader))
    reader.expectEnd()
    return value
  } catch (error) {
    if (isLedgerStateError(error, 'invalid_bcs')) throw malformedCode('a constant that does not decode')
    throw error
  }
}

function expectConstantType(type: SignatureToken): void {
  let plain = type
  while (plain.kind === 'vector') plain = plain.element
  if (plain.kind === 'bool' || plain.kind === 'address' || integerTypeOf(plain.kind) >= 0) return
  throw malformedCode(`a constant of type ${plain.kind}`)
}

/** A reader, and the place at which the current step began. */
class SteppedReader {
  readonly bytes: ByteReader
  #start = 0

  constructor(bytes: ByteReader) {
    this.bytes = bytes
  }

  get isStepOver(): boolean {
    return this.bytes.offset - this.#start >= BYTES_AT_ONCE
  }

  /** Ends the step. Returns the number of bytes that it has read. */
  endStep(): number {
    const read = this.bytes.offset - this.#start
    this.#start = this.bytes.offset
    return read
  }
}

function* readParts(type: SignatureToken, reader: SteppedReader): ConstantReading {
  if (type.kind !== 'vector' || type.element.kind === 'u8') return readWhole(type, reader.bytes)
  const { element } = type
  const isNested = element.kind === 'vector' && element.element.kind !== 'u8'
  const items: Value[] = []
  for (let count = reader.bytes.readLength(); count > 0; count--) {
    if (reader.isStepOver) yield reader.endStep()
    items.push(isNested ? yield* readParts(element, reader) : readWhole(element, reader.bytes))
  }
  return new VectorValue(items)
}

/** Reads a value that takes no steps. Each takes a byte at least. */
function readWhole(type: SignatureToken, reader: ByteReader): Value {
  switch (type.kind) {
    case 'bool':
      return reader.readBool()
    case 'address':
      return reader.readAddress()
    case 'vector':
      return new ByteVector(copyBytes(reader.readByteString()))
    default:
      return readInteger(reader, integerTypeOf(type.kind))
  }
}
