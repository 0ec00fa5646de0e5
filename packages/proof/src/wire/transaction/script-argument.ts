import type { ByteReader } from '@ledger-state/core'
import { FIXED_LENGTHS } from '@ledger-state/type-tag'
import { readVariant } from '../variant.js'

/** Types of arguments by their variants. `serialized` is the BCS of a value of any type. */
export const SCRIPT_ARGUMENT_TYPES = [
  'u8',
  'u64',
  'u128',
  'address',
  'vector<u8>',
  'bool',
  'u16',
  'u32',
  'u256',
  'serialized',
  'i8',
  'i16',
  'i32',
  'i64',
  'i128',
  'i256',
] as const

/** Type of an argument of a script. */
export type ScriptArgumentType = (typeof SCRIPT_ARGUMENT_TYPES)[number]

/** An argument of a script. */
export interface ScriptArgument {
  readonly type: ScriptArgumentType
  /** The value in BCS; of byte strings the bytes without their length. */
  readonly bytes: Uint8Array
}

/** Reads an argument of a script. @throws `UnknownVariantError`, `invalid_bcs` */
export function readScriptArgument(reader: ByteReader): ScriptArgument {
  const type = SCRIPT_ARGUMENT_TYPES[readVariant(reader, 'a script argument', SCRIPT_ARGUMENT_TYPES.length)]!
  const length = FIXED_LENGTHS[type]
  if (length === undefined) return { type, bytes: reader.readByteString() }
  const start = reader.offset
  if (type === 'bool') reader.readBool()
  else reader.skip(length)
  return { type, bytes: reader.bytes.subarray(start, reader.offset) }
}
