import type { Instructions } from './module-code.js'
import { OPCODES, type OpcodeName, opcodeNameOf } from './opcodes.js'

/** Types of the operands that are indexes into tables, by instruction. */
const INDEX_TYPES: Readonly<Partial<Record<OpcodeName, string>>> = {
  ld_const: 'ConstantPoolIndex',
  mut_borrow_field: 'FieldHandleIndex',
  imm_borrow_field: 'FieldHandleIndex',
  call: 'FunctionHandleIndex',
  pack: 'StructDefinitionIndex',
  unpack: 'StructDefinitionIndex',
  exists: 'StructDefinitionIndex',
  mut_borrow_global: 'StructDefinitionIndex',
  imm_borrow_global: 'StructDefinitionIndex',
  move_from: 'StructDefinitionIndex',
  move_to: 'StructDefinitionIndex',
  mut_borrow_field_generic: 'FieldInstantiationIndex',
  imm_borrow_field_generic: 'FieldInstantiationIndex',
  call_generic: 'FunctionInstantiationIndex',
  pack_generic: 'StructDefInstantiationIndex',
  unpack_generic: 'StructDefInstantiationIndex',
  exists_generic: 'StructDefInstantiationIndex',
  mut_borrow_global_generic: 'StructDefInstantiationIndex',
  imm_borrow_global_generic: 'StructDefInstantiationIndex',
  move_from_generic: 'StructDefInstantiationIndex',
  move_to_generic: 'StructDefInstantiationIndex',
  vec_pack: 'SignatureIndex',
  vec_len: 'SignatureIndex',
  vec_imm_borrow: 'SignatureIndex',
  vec_mut_borrow: 'SignatureIndex',
  vec_push_back: 'SignatureIndex',
  vec_pop_back: 'SignatureIndex',
  vec_unpack: 'SignatureIndex',
  vec_swap: 'SignatureIndex',
  imm_borrow_variant_field: 'VariantFieldHandleIndex',
  mut_borrow_variant_field: 'VariantFieldHandleIndex',
  imm_borrow_variant_field_generic: 'VariantFieldInstantiationIndex',
  mut_borrow_variant_field_generic: 'VariantFieldInstantiationIndex',
  pack_variant: 'StructVariantHandleIndex',
  pack_variant_generic: 'StructVariantInstantiationIndex',
  unpack_variant: 'StructVariantHandleIndex',
  unpack_variant_generic: 'StructVariantInstantiationIndex',
  test_variant: 'StructVariantHandleIndex',
  test_variant_generic: 'StructVariantInstantiationIndex',
  pack_closure: 'FunctionHandleIndex',
  pack_closure_generic: 'FunctionInstantiationIndex',
  call_closure: 'SignatureIndex',
}

/**
 * Text of an instruction in messages of full nodes, such as `Abort`, `LdU64(5)` and `Call(FunctionHandleIndex(3))`.
 * Undefined if the code has no such offset.
 */
export function instructionToDebugText(code: Instructions, offset: number): string | undefined {
  const name = offset < code.opcodes.length ? opcodeNameOf(code.opcodes[offset]!) : undefined
  if (!name) return undefined
  const { kind } = OPCODES[name].operand
  const text = camelCase(name)
  if (kind === 'none') return text
  const [operand, second] = [code.operands[offset]!, code.seconds[offset]!]
  if (kind === 'unsigned' || kind === 'signed') return `${text}(${code.numbers[operand]})`
  const type = INDEX_TYPES[name]
  const index = type ? `${type}(${operand})` : `${operand}`
  if (kind === 'indexAndCount') return `${text}(${index}, ${second})`
  return kind === 'indexAndMask' ? `${text}(${index}, ClosureMask(${code.numbers[second]}))` : `${text}(${index})`
}

function camelCase(name: string): string {
  return name.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
