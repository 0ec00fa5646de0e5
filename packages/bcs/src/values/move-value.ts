/** Value of a struct: an object without prototype, with a member for each field. */
export interface MoveStruct {
  readonly [field: string]: MoveValue
}

/** Value of an enum. */
export interface MoveVariant {
  readonly variant: string
  readonly fields: MoveStruct
}

/** A function value. Only its name is decoded; `bytes` is all of it. */
export interface MoveClosure {
  readonly functionName: string
  readonly bytes: Uint8Array
}

/** An entry of a map. */
export type MoveMapEntry = readonly [key: MoveValue, value: MoveValue]

/**
 * A Move value in JavaScript, by the kind of its layout:
 *
 * | layout | value |
 * |---|---|
 * | bool | boolean |
 * | u8 to u32, i8 to i32 | number |
 * | u64 to u256, i64 to i256 | bigint |
 * | address, object | `0x` and hex without leading zeros |
 * | string | string; its bytes if they are not UTF-8 |
 * | vector of u8 | Uint8Array, a copy |
 * | vector | array |
 * | option | array of no or one element |
 * | struct, enum | `MoveStruct`, `MoveVariant` |
 * | map | array of `[key, value]` in ascending order of the bytes of the keys |
 * | function | `MoveClosure` |
 */
export type MoveValue =
  | boolean
  | number
  | bigint
  | string
  | Uint8Array
  | readonly MoveValue[]
  | readonly MoveMapEntry[]
  | MoveStruct
  | MoveVariant
  | MoveClosure
