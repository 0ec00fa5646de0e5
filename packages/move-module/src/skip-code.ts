import type { ByteReader } from '@ledger-state/core'
import { LIMIT } from './binary-format.js'
import { readBounded } from './module-tables.js'

// Instructions have no lengths: to step over code, the operands of each must be known.
// See docs/ledger-formats.md, section "Module binaries".

/** Instructions with the same operands: so many ULEB128 numbers, then so many bytes. */
interface InstructionRange {
  readonly first: number
  readonly last: number
  readonly numbers: number
  readonly bytes: number
  /** The first version that may hold them. */
  readonly since: number
}

function range(first: number, last: number, numbers: number, bytes = 0, since = 5): InstructionRange {
  return { first, last, numbers, bytes, since }
}

const RANGES: readonly InstructionRange[] = [
  range(0x01, 0x02, 0),
  range(0x03, 0x05, 1),
  range(0x06, 0x06, 0, 8),
  range(0x07, 0x07, 1),
  range(0x08, 0x09, 0),
  range(0x0a, 0x13, 1),
  range(0x14, 0x28, 0),
  range(0x29, 0x2d, 1),
  range(0x2e, 0x30, 0),
  range(0x31, 0x31, 0, 1),
  range(0x32, 0x32, 0, 16),
  range(0x33, 0x35, 0),
  range(0x36, 0x3f, 1),
  range(0x40, 0x40, 1, 8),
  range(0x41, 0x45, 1),
  range(0x46, 0x46, 1, 8),
  range(0x47, 0x47, 1),
  range(0x48, 0x48, 0, 2, 6),
  range(0x49, 0x49, 0, 4, 6),
  range(0x4a, 0x4a, 0, 32, 6),
  range(0x4b, 0x4d, 0, 0, 6),
  range(0x4e, 0x57, 1, 0, 7),
  range(0x58, 0x59, 2, 0, 8),
  range(0x5a, 0x5a, 1, 0, 8),
  range(0x5b, 0x5b, 0, 1, 9),
  range(0x5c, 0x5c, 0, 2, 9),
  range(0x5d, 0x5d, 0, 4, 9),
  range(0x5e, 0x5e, 0, 8, 9),
  range(0x5f, 0x5f, 0, 16, 9),
  range(0x60, 0x60, 0, 32, 9),
  range(0x61, 0x67, 0, 0, 9),
]

const RANGE_OF: ReadonlyMap<number, InstructionRange> = new Map(
  RANGES.flatMap((one) => Array.from({ length: one.last - one.first + 1 }, (_, at) => [one.first + at, one] as const)),
)

/** Moves the reader over the code of a function. @throws `invalid_bcs` at an instruction that the version does not have */
export function skipCode(reader: ByteReader, version: number): void {
  for (let count = readBounded(reader, LIMIT.instructions, 'instructions'); count > 0; count--) {
    const start = reader.offset
    const instruction = reader.readU8()
    const operands = RANGE_OF.get(instruction)
    if (operands === undefined || operands.since > version) {
      throw reader.fault(`unknown instruction 0x${instruction.toString(16)}`, start)
    }
    for (let number = operands.numbers; number > 0; number--) skipUleb128(reader)
    reader.skip(operands.bytes)
  }
}

/** Numbers have at most 64 bits. */
function skipUleb128(reader: ByteReader): void {
  const start = reader.offset
  for (let length = 1; length <= 10; length++) if (reader.readU8() < 0x80) return
  throw reader.fault('a number of more than 64 bits', start)
}
