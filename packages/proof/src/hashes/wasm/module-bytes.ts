// The parts of a binary WebAssembly module that `keccak-module.ts` needs.
// Format: https://webassembly.github.io/spec/core/binary/

/** Bytes of instructions. */
export type Code = readonly number[]

/** Types of values. */
export const I32 = 0x7f
export const I64 = 0x7e
export const V128 = 0x7b

const EMPTY_BLOCK = 0x40

/** Encodes an unsigned number as LEB128. */
export function unsigned(value: number): number[] {
  const bytes: number[] = []
  let rest = value
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128)
  bytes.push(rest)
  return bytes
}

/** Encodes a signed number as LEB128. */
function signed(value: bigint): number[] {
  const bytes: number[] = []
  for (let rest = value; ; ) {
    const byte = Number(rest & 127n)
    rest >>= 7n
    const isLast = rest === (byte & 64 ? -1n : 0n)
    bytes.push(isLast ? byte : byte | 128)
    if (isLast) return bytes
  }
}

export const i32Const = (value: number): Code => [0x41, ...signed(BigInt(value))]
/** @param value 64 bits; the highest is the sign */
export const i64Const = (value: bigint): Code => [0x42, ...signed(BigInt.asIntN(64, value))]
export const getLocal = (local: number): Code => [0x20, ...unsigned(local)]
export const setLocal = (local: number): Code => [0x21, ...unsigned(local)]
export const teeLocal = (local: number): Code => [0x22, ...unsigned(local)]
export const i32Load = (offset: number): Code => [0x28, 2, ...unsigned(offset)]
export const i64Load = (offset: number): Code => [0x29, 3, ...unsigned(offset)]
export const i64Store = (offset: number): Code => [0x37, 3, ...unsigned(offset)]
export const I32_IS_ZERO: Code = [0x45]
export const I32_DIFFERS: Code = [0x47]
export const I32_ADD: Code = [0x6a]
export const I32_SUB: Code = [0x6b]
/** Leaves the innermost block, or repeats the innermost loop, if the value on the stack is not zero. */
export const BRANCH_IF: Code = [0x0d, 0]
/** An instruction of 128-bit vectors. */
export const vector = (operation: number, ...operands: readonly number[]): Code => [
  0xfd,
  ...unsigned(operation),
  ...operands,
]

/** Instructions that a branch inside can leave. */
export const block = (...parts: readonly Code[]): Code => [0x02, EMPTY_BLOCK, ...parts.flat(), 0x0b]
/** Instructions that a branch inside repeats. */
export const loop = (...parts: readonly Code[]): Code => [0x03, EMPTY_BLOCK, ...parts.flat(), 0x0b]

/** A function of three i32 parameters without a result. Its other locals follow the parameters. */
export interface ModuleFunction {
  readonly name: string
  /** Number and type of groups of locals. */
  readonly locals: readonly (readonly [count: number, type: number])[]
  readonly code: Code
}

/** Pages of the largest memory that a module can have. */
const MOST_PAGES = 65_536

/** Encodes a module that imports the memory `host.memory` and exports the functions. */
export function moduleBytes(functions: readonly ModuleFunction[]): Uint8Array<ArrayBuffer> {
  const type = [0x60, 3, I32, I32, I32, 0]
  const memory = [...text('host'), ...text('memory'), 2, 1, 1, ...unsigned(MOST_PAGES)]
  return Uint8Array.from([
    ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, [type]),
    ...section(2, [memory]),
    ...section(
      3,
      functions.map(() => [0]),
    ),
    ...section(
      7,
      functions.map(({ name }, index) => [...text(name), 0, index]),
    ),
    ...section(10, functions.map(bodyOf)),
  ])
}

function bodyOf({ locals, code }: ModuleFunction): number[] {
  const groups = locals.flatMap(([count, type]) => [...unsigned(count), type])
  const length = 1 + groups.length + code.length + 1
  return [...unsigned(length), locals.length, ...groups, ...code, 0x0b]
}

function section(id: number, items: readonly (readonly number[])[]): number[] {
  const content = [...unsigned(items.length), ...items.flat()]
  return [id, ...unsigned(content.length), ...content]
}

function text(name: string): number[] {
  return [...unsigned(name.length), ...new TextEncoder().encode(name)]
}
