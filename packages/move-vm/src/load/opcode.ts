/**
 * Instructions of compiled code, each at the code offset of the instruction that it was compiled from. `a` and `b` are
 * its operands. `link` is an index into the links of the function, `int` the number of an integer type.
 */
export const OP = {
  nop: 0,
  pop: 1,
  ret: 2,
  /** a: code offset. */
  branchTrue: 3,
  branchFalse: 4,
  branch: 5,
  /** a: literal. */
  load: 6,
  /** a: literal; a copy of it is loaded. */
  loadCopy: 7,
  /** a: local, of a type without parts. */
  copyPlain: 8,
  copyLocal: 9,
  moveLocal: 10,
  storeLocal: 11,
  borrowLocal: 12,
  /** a: field. */
  borrowField: 13,
  /** a: field, b: variant set. */
  borrowVariantField: 14,
  /** a: link to a function. */
  call: 15,
  /** a: number of fields, b: variant. */
  pack: 16,
  /** a: number of fields, and the variant above `VARIANT_SHIFT`; b: link to the type. */
  packChecked: 17,
  /** a: number of fields. */
  unpack: 18,
  /** a: number of fields, b: variant set of one variant. */
  unpackVariant: 19,
  /** a: variant. */
  testVariant: 20,
  readPlain: 21,
  readReference: 22,
  writeReference: 23,
  /** a: int. */
  add: 24,
  sub: 25,
  mul: 26,
  mod: 27,
  div: 28,
  bitOr: 29,
  bitAnd: 30,
  xor: 31,
  /** a: int. */
  shiftLeft: 32,
  shiftRight: 33,
  negate: 34,
  /** a: int of the result, b: int of the operand. */
  cast: 35,
  or: 36,
  and: 37,
  not: 38,
  equalPlain: 39,
  notEqualPlain: 40,
  equal: 41,
  notEqual: 42,
  less: 43,
  greater: 44,
  lessOrEqual: 45,
  greaterOrEqual: 46,
  abort: 47,
  abortWithText: 48,
  /** a: link to a type. */
  exists: 49,
  borrowGlobal: 50,
  moveFrom: 51,
  moveTo: 52,
  /** a: link to the vector type, b: count. */
  packVector: 53,
  vectorLength: 54,
  borrowElement: 55,
  pushBack: 56,
  popBack: 57,
  /** a: count. */
  unpackVector: 58,
  swap: 59,
  /** a: link to the closure. */
  packClosure: 60,
  /** a: link to the function type, b: number of arguments. */
  callClosure: 61,
} as const
