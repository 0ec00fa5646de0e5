import { expect, it } from 'vitest'
import { instructionToDebugText } from './instruction-text.js'
import { OPCODES, type OpcodeName } from './opcodes.js'

function textOf(name: OpcodeName, operand = 0, second = 0, numbers: readonly (number | bigint)[] = []) {
  const code = {
    opcodes: Uint8Array.of(OPCODES[name].code),
    operands: Int32Array.of(operand),
    seconds: Int32Array.of(second),
    numbers,
  }
  return instructionToDebugText(code, 0)
}

it('names instructions as the reference does', () => {
  expect(textOf('abort')).toBe('Abort')
  expect(textOf('ld_u64', 0, 0, [5])).toBe('LdU64(5)')
  expect(textOf('ld_i128', 0, 0, [-5n])).toBe('LdI128(-5)')
  expect(textOf('call', 3)).toBe('Call(FunctionHandleIndex(3))')
  expect(textOf('br_false', 12)).toBe('BrFalse(12)')
  expect(textOf('mut_borrow_loc', 2)).toBe('MutBorrowLoc(2)')
  expect(textOf('cast_u128')).toBe('CastU128')
  expect(textOf('vec_pack', 4, 2)).toBe('VecPack(SignatureIndex(4), 2)')
})

it('knows no instruction behind the end', () => {
  const code = { opcodes: new Uint8Array(0), operands: new Int32Array(0), seconds: new Int32Array(0), numbers: [] }
  expect(instructionToDebugText(code, 0)).toBeUndefined()
})
