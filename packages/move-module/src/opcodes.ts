// The instructions of module binaries. See docs/ledger-formats.md, section "Module binaries".

/**
 * Operand of an instruction: an index, a local or an offset in code (`index`), an index and eight bytes
 * (`indexAndCount`), an index and a ULEB128 number of 64 bits (`indexAndMask`), or a number with that many bytes.
 */
export interface Operand {
  readonly kind: 'none' | 'index' | 'indexAndCount' | 'indexAndMask' | 'unsigned' | 'signed'
  readonly bytes: number
}

/** An instruction: its byte, its operand, and the first version of the binary format that has it. */
export interface Opcode {
  readonly code: number
  readonly operand: Operand
  readonly since: number
}

const NONE: Operand = { kind: 'none', bytes: 0 }
const INDEX: Operand = { kind: 'index', bytes: 0 }
const INDEX_AND_COUNT: Operand = { kind: 'indexAndCount', bytes: 0 }
const INDEX_AND_MASK: Operand = { kind: 'indexAndMask', bytes: 0 }
const unsigned = (bytes: number): Operand => ({ kind: 'unsigned', bytes })
const signed = (bytes: number): Operand => ({ kind: 'signed', bytes })

function opcode(code: number, operand: Operand, since = 5): Opcode {
  return { code, operand, since }
}

/** Every instruction by its name. */
export const OPCODES = {
  pop: opcode(0x01, NONE),
  ret: opcode(0x02, NONE),
  br_true: opcode(0x03, INDEX),
  br_false: opcode(0x04, INDEX),
  branch: opcode(0x05, INDEX),
  ld_u64: opcode(0x06, unsigned(8)),
  ld_const: opcode(0x07, INDEX),
  ld_true: opcode(0x08, NONE),
  ld_false: opcode(0x09, NONE),
  copy_loc: opcode(0x0a, INDEX),
  move_loc: opcode(0x0b, INDEX),
  st_loc: opcode(0x0c, INDEX),
  mut_borrow_loc: opcode(0x0d, INDEX),
  imm_borrow_loc: opcode(0x0e, INDEX),
  mut_borrow_field: opcode(0x0f, INDEX),
  imm_borrow_field: opcode(0x10, INDEX),
  call: opcode(0x11, INDEX),
  pack: opcode(0x12, INDEX),
  unpack: opcode(0x13, INDEX),
  read_ref: opcode(0x14, NONE),
  write_ref: opcode(0x15, NONE),
  add: opcode(0x16, NONE),
  sub: opcode(0x17, NONE),
  mul: opcode(0x18, NONE),
  mod: opcode(0x19, NONE),
  div: opcode(0x1a, NONE),
  bit_or: opcode(0x1b, NONE),
  bit_and: opcode(0x1c, NONE),
  xor: opcode(0x1d, NONE),
  or: opcode(0x1e, NONE),
  and: opcode(0x1f, NONE),
  not: opcode(0x20, NONE),
  eq: opcode(0x21, NONE),
  neq: opcode(0x22, NONE),
  lt: opcode(0x23, NONE),
  gt: opcode(0x24, NONE),
  le: opcode(0x25, NONE),
  ge: opcode(0x26, NONE),
  abort: opcode(0x27, NONE),
  nop: opcode(0x28, NONE),
  exists: opcode(0x29, INDEX),
  mut_borrow_global: opcode(0x2a, INDEX),
  imm_borrow_global: opcode(0x2b, INDEX),
  move_from: opcode(0x2c, INDEX),
  move_to: opcode(0x2d, INDEX),
  freeze_ref: opcode(0x2e, NONE),
  shl: opcode(0x2f, NONE),
  shr: opcode(0x30, NONE),
  ld_u8: opcode(0x31, unsigned(1)),
  ld_u128: opcode(0x32, unsigned(16)),
  cast_u8: opcode(0x33, NONE),
  cast_u64: opcode(0x34, NONE),
  cast_u128: opcode(0x35, NONE),
  mut_borrow_field_generic: opcode(0x36, INDEX),
  imm_borrow_field_generic: opcode(0x37, INDEX),
  call_generic: opcode(0x38, INDEX),
  pack_generic: opcode(0x39, INDEX),
  unpack_generic: opcode(0x3a, INDEX),
  exists_generic: opcode(0x3b, INDEX),
  mut_borrow_global_generic: opcode(0x3c, INDEX),
  imm_borrow_global_generic: opcode(0x3d, INDEX),
  move_from_generic: opcode(0x3e, INDEX),
  move_to_generic: opcode(0x3f, INDEX),
  vec_pack: opcode(0x40, INDEX_AND_COUNT),
  vec_len: opcode(0x41, INDEX),
  vec_imm_borrow: opcode(0x42, INDEX),
  vec_mut_borrow: opcode(0x43, INDEX),
  vec_push_back: opcode(0x44, INDEX),
  vec_pop_back: opcode(0x45, INDEX),
  vec_unpack: opcode(0x46, INDEX_AND_COUNT),
  vec_swap: opcode(0x47, INDEX),
  ld_u16: opcode(0x48, unsigned(2), 6),
  ld_u32: opcode(0x49, unsigned(4), 6),
  ld_u256: opcode(0x4a, unsigned(32), 6),
  cast_u16: opcode(0x4b, NONE, 6),
  cast_u32: opcode(0x4c, NONE, 6),
  cast_u256: opcode(0x4d, NONE, 6),
  imm_borrow_variant_field: opcode(0x4e, INDEX, 7),
  mut_borrow_variant_field: opcode(0x4f, INDEX, 7),
  imm_borrow_variant_field_generic: opcode(0x50, INDEX, 7),
  mut_borrow_variant_field_generic: opcode(0x51, INDEX, 7),
  pack_variant: opcode(0x52, INDEX, 7),
  pack_variant_generic: opcode(0x53, INDEX, 7),
  unpack_variant: opcode(0x54, INDEX, 7),
  unpack_variant_generic: opcode(0x55, INDEX, 7),
  test_variant: opcode(0x56, INDEX, 7),
  test_variant_generic: opcode(0x57, INDEX, 7),
  pack_closure: opcode(0x58, INDEX_AND_MASK, 8),
  pack_closure_generic: opcode(0x59, INDEX_AND_MASK, 8),
  call_closure: opcode(0x5a, INDEX, 8),
  ld_i8: opcode(0x5b, signed(1), 9),
  ld_i16: opcode(0x5c, signed(2), 9),
  ld_i32: opcode(0x5d, signed(4), 9),
  ld_i64: opcode(0x5e, signed(8), 9),
  ld_i128: opcode(0x5f, signed(16), 9),
  ld_i256: opcode(0x60, signed(32), 9),
  cast_i8: opcode(0x61, NONE, 9),
  cast_i16: opcode(0x62, NONE, 9),
  cast_i32: opcode(0x63, NONE, 9),
  cast_i64: opcode(0x64, NONE, 9),
  cast_i128: opcode(0x65, NONE, 9),
  cast_i256: opcode(0x66, NONE, 9),
  negate: opcode(0x67, NONE, 9),
  abort_msg: opcode(0x68, NONE, 10),
} as const satisfies Readonly<Record<string, Opcode>>

/** Name of an instruction. */
export type OpcodeName = keyof typeof OPCODES

const NAMES: readonly (OpcodeName | undefined)[] = (() => {
  const names = new Array<OpcodeName | undefined>(256).fill(undefined)
  for (const [name, { code }] of Object.entries(OPCODES)) names[code] = name as OpcodeName
  return names
})()

/** A table of all instructions by their bytes, made from a table by their names: a dispatch costs one look-up. */
export function byOpcode<T>(byName: Readonly<Record<OpcodeName, T>>): readonly (T | undefined)[] {
  return NAMES.map((name) => name && byName[name])
}

/** Name of the instruction of a byte; undefined if no version has one. */
export function opcodeNameOf(code: number): OpcodeName | undefined {
  return NAMES[code]
}

/** The instruction of a byte; undefined if no version has one. */
export function opcodeOf(code: number): Opcode | undefined {
  const name = NAMES[code]
  return name && OPCODES[name]
}
