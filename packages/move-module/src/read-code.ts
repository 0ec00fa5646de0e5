import type { ByteReader } from '@ledger-state/core'
import { LIMIT } from './binary-format.js'
import type { Instructions } from './module-code.js'
import { type ModuleTables, readBounded } from './module-tables.js'
import { type Opcode, type Operand, opcodeOf } from './opcodes.js'
import type { Steps } from './steps.js'

// Instructions have no lengths, so the operands of each must be known even to step over code. See
// docs/ledger-formats.md, section "Module binaries".

/** Greatest count. Larger ones are read as this one, which is more values than any stack holds. */
const MAX_COUNT = 0x7fff_ffff

/**
 * Moves the reader past the code of a function.
 * @throws `invalid_bcs` at an instruction that the version does not have
 */
export function skipCode(reader: ByteReader, version: number): void {
  for (let count = readInstructionCount(reader); count > 0; count--)
    skipOperand(reader, readOpcode(reader, version).operand)
}

/** Reads the code of a function. @throws `invalid_bcs` at an instruction that the version does not have */
export function* readInstructions(reader: ByteReader, tables: ModuleTables): Steps<Instructions> {
  const { version } = tables
  const count = readInstructionCount(reader)
  // Each instruction takes at least one byte.
  if (count > reader.remaining) throw reader.fault('unexpected end of input', reader.end)
  const opcodes = new Uint8Array(count)
  const operands = new Int32Array(count)
  const seconds = new Int32Array(count)
  const numbers: (number | bigint)[] = []
  for (let at = 0; at < count; at++) {
    const { code, operand } = readOpcode(reader, version)
    const { kind, bytes } = operand
    opcodes[at] = code
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
    if (tables.isStepOver(reader)) yield tables.endStep(reader)
  }
  return { opcodes, operands, seconds, numbers }
}

function toCount(value: bigint): number {
  return value > MAX_COUNT ? MAX_COUNT : Number(value)
}

function readInstructionCount(reader: ByteReader): number {
  return readBounded(reader, LIMIT.instructions, 'instructions')
}

function readOpcode(reader: ByteReader, version: number): Opcode {
  const start = reader.offset
  const code = reader.readU8()
  const instruction = opcodeOf(code)
  if (instruction === undefined || instruction.since > version) {
    throw reader.fault(`unknown instruction 0x${code.toString(16)}`, start)
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
