import type { ByteReader } from '@ledger-state/core'
import { LIMIT } from './binary-format.js'
import type { Instructions } from './module-code.js'
import { readBounded } from './module-tables.js'

// Instructions have no lengths, so the operands of each must be known even to step over code. See
// docs/ledger-formats.md, section "Module binaries".

/**
 * Operand of an instruction: an index, a local or an offset in code (`index`), an index and eight bytes
 * (`indexAndCount`), an index and a ULEB128 number of 64 bits (`indexAndMask`), or a number with that many bytes.
 */
interface Operand {
  readonly kind: 'none' | 'index' | 'indexAndCount' | 'indexAndMask' | 'unsigned' | 'signed'
  readonly bytes: number
}

/** Consecutive opcodes with the same operand. */
interface InstructionRange extends Operand {
  readonly first: number
  readonly last: number
  /** First version of the binary format that may have these instructions. */
  readonly since: number
}

function range(first: number, last: number, kind: Operand['kind'], since = 5, bytes = 0): InstructionRange {
  return { first, last, kind, bytes, since }
}

const RANGES: readonly InstructionRange[] = [
  range(0x01, 0x02, 'none'),
  range(0x03, 0x05, 'index'),
  range(0x06, 0x06, 'unsigned', 5, 8),
  range(0x07, 0x07, 'index'),
  range(0x08, 0x09, 'none'),
  range(0x0a, 0x13, 'index'),
  range(0x14, 0x28, 'none'),
  range(0x29, 0x2d, 'index'),
  range(0x2e, 0x30, 'none'),
  range(0x31, 0x31, 'unsigned', 5, 1),
  range(0x32, 0x32, 'unsigned', 5, 16),
  range(0x33, 0x35, 'none'),
  range(0x36, 0x3f, 'index'),
  range(0x40, 0x40, 'indexAndCount'),
  range(0x41, 0x45, 'index'),
  range(0x46, 0x46, 'indexAndCount'),
  range(0x47, 0x47, 'index'),
  range(0x48, 0x48, 'unsigned', 6, 2),
  range(0x49, 0x49, 'unsigned', 6, 4),
  range(0x4a, 0x4a, 'unsigned', 6, 32),
  range(0x4b, 0x4d, 'none', 6),
  range(0x4e, 0x57, 'index', 7),
  range(0x58, 0x59, 'indexAndMask', 8),
  range(0x5a, 0x5a, 'index', 8),
  range(0x5b, 0x5b, 'signed', 9, 1),
  range(0x5c, 0x5c, 'signed', 9, 2),
  range(0x5d, 0x5d, 'signed', 9, 4),
  range(0x5e, 0x5e, 'signed', 9, 8),
  range(0x5f, 0x5f, 'signed', 9, 16),
  range(0x60, 0x60, 'signed', 9, 32),
  range(0x61, 0x67, 'none', 9),
  range(0x68, 0x68, 'none', 10),
]

const RANGE_OF: ReadonlyMap<number, InstructionRange> = new Map(
  RANGES.flatMap((one) => Array.from({ length: one.last - one.first + 1 }, (_, at) => [one.first + at, one] as const)),
)

/** Greatest count. Larger ones are read as this one, which is more values than any stack holds. */
const MAX_COUNT = 0x7fff_ffff

/**
 * Moves the reader past the code of a function.
 * @throws `invalid_bcs` at an instruction that the version does not have
 */
export function skipCode(reader: ByteReader, version: number): void {
  for (let count = readInstructionCount(reader); count > 0; count--) skipOperand(reader, readOpcode(reader, version))
}

/** Reads the code of a function. @throws `invalid_bcs` at an instruction that the version does not have */
export function readInstructions(reader: ByteReader, version: number): Instructions {
  const count = readInstructionCount(reader)
  // Each instruction takes at least one byte.
  if (count > reader.remaining) throw reader.fault('unexpected end of input', reader.end)
  const opcodes = new Uint8Array(count)
  const operands = new Int32Array(count)
  const seconds = new Int32Array(count)
  const numbers: (number | bigint)[] = []
  for (let at = 0; at < count; at++) {
    const start = reader.offset
    const { kind, bytes } = readOpcode(reader, version)
    opcodes[at] = reader.bytes[start]!
    switch (kind) {
      case 'none':
        break
      case 'index':
        operands[at] = readBounded(reader, LIMIT.index, 'as operand')
        break
      case 'indexAndCount':
        operands[at] = readBounded(reader, LIMIT.index, 'as operand')
        seconds[at] = toCount(reader.readU64())
        break
      case 'indexAndMask':
        operands[at] = readBounded(reader, LIMIT.index, 'as operand')
        seconds[at] = numbers.push(readUleb64(reader)) - 1
        break
      default:
        operands[at] = numbers.push(readNumber(reader, bytes, kind === 'signed')) - 1
    }
  }
  return { opcodes, operands, seconds, numbers }
}

function toCount(value: bigint): number {
  return value > MAX_COUNT ? MAX_COUNT : Number(value)
}

function readInstructionCount(reader: ByteReader): number {
  return readBounded(reader, LIMIT.instructions, 'instructions')
}

function readOpcode(reader: ByteReader, version: number): InstructionRange {
  const start = reader.offset
  const opcode = reader.readU8()
  const instruction = RANGE_OF.get(opcode)
  if (instruction === undefined || instruction.since > version) {
    throw reader.fault(`unknown instruction 0x${opcode.toString(16)}`, start)
  }
  return instruction
}

function skipOperand(reader: ByteReader, { kind, bytes }: Operand): void {
  if (kind === 'none') return
  if (kind === 'unsigned' || kind === 'signed') {
    reader.skip(bytes)
    return
  }
  readUleb64(reader)
  if (kind === 'indexAndCount') reader.skip(8)
  else if (kind === 'indexAndMask') readUleb64(reader)
}

/** Reads a ULEB128 number of at most 64 bits. */
function readUleb64(reader: ByteReader): bigint {
  const start = reader.offset
  let value = 0n
  for (let length = 0; length < 10; length++) {
    const byte = reader.readU8()
    value |= BigInt(byte & 0x7f) << BigInt(7 * length)
    if (byte < 0x80) {
      if (value >> 64n) break
      return value
    }
  }
  throw reader.fault('a number of more than 64 bits', start)
}

/** Reads a number; a bigint if it is not a safe integer. */
function readNumber(reader: ByteReader, bytes: number, signed: boolean): number | bigint {
  let value = 0n
  const start = reader.skip(bytes)
  for (let at = bytes - 1; at >= 0; at--) value = (value << 8n) | BigInt(reader.bytes[start + at]!)
  const read = signed ? BigInt.asIntN(8 * bytes, value) : value
  const short = Number(read)
  return Number.isSafeInteger(short) ? short : read
}
