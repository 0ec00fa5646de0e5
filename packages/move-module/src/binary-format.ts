// Numbers of the Move binary format that reader and writer share; see docs/ledger-formats.md, section "Module binaries".

export const MAGIC = [0xa1, 0x1c, 0xeb, 0x0b] as const
export const OLDEST_VERSION = 5
export const NEWEST_VERSION = 10
/** First version with 0x0A as the top byte of the version word. */
export const FLAVOURED_VERSION = 7
export const FLAVOUR = 0x0a00_0000
/** First version in which modules may have enums. */
export const ENUM_VERSION = 7

/** First version in which names may have `$`. */
export const DOLLAR_VERSION = 9

export const TABLE = {
  moduleHandles: 0x01,
  structHandles: 0x02,
  functionHandles: 0x03,
  functionInstantiations: 0x04,
  signatures: 0x05,
  constants: 0x06,
  identifiers: 0x07,
  addresses: 0x08,
  structDefinitions: 0x0a,
  structInstantiations: 0x0b,
  functionDefinitions: 0x0c,
  fieldHandles: 0x0d,
  fieldInstantiations: 0x0e,
  friends: 0x0f,
  metadata: 0x10,
  variantFieldHandles: 0x11,
  variantFieldInstantiations: 0x12,
  variantHandles: 0x13,
  variantInstantiations: 0x14,
} as const

export const FIELDS = { native: 1, declared: 2, variants: 3 } as const

/** First byte of a signature token, and the first version that may hold it. */
export const TOKEN = {
  bool: { tag: 0x01, since: 1 },
  u8: { tag: 0x02, since: 1 },
  u64: { tag: 0x03, since: 1 },
  u128: { tag: 0x04, since: 1 },
  address: { tag: 0x05, since: 1 },
  reference: { tag: 0x06, since: 1 },
  mutableReference: { tag: 0x07, since: 1 },
  struct: { tag: 0x08, since: 1 },
  typeParameter: { tag: 0x09, since: 1 },
  vector: { tag: 0x0a, since: 1 },
  genericStruct: { tag: 0x0b, since: 1 },
  signer: { tag: 0x0c, since: 1 },
  u16: { tag: 0x0d, since: 6 },
  u32: { tag: 0x0e, since: 6 },
  u256: { tag: 0x0f, since: 6 },
  function: { tag: 0x10, since: 8 },
  i8: { tag: 0x11, since: 9 },
  i16: { tag: 0x12, since: 9 },
  i32: { tag: 0x13, since: 9 },
  i64: { tag: 0x14, since: 9 },
  i128: { tag: 0x15, since: 9 },
  i256: { tag: 0x16, since: 9 },
} as const

export const LIMIT = {
  tables: 255,
  index: 65_535,
  /**
   * Most entries of a table, types, type parameters or variants: our limit, 14 times the most of any module of a
   * genesis (2,355).
   */
  parts: 32_768,
  /** Most types in one type: our limit, 16 times the most that a chain accepts. They are read in one step. */
  typeParts: 4_096,
  identifierBytes: 65_535,
  fields: 255,
  variants: 127,
  typeParameters: 255,
  typeParameterIndex: 65_536,
  tokenDepth: 256,
  signatureTokens: 255,
  accessSpecifiers: 64,
  attributes: 16,
  constantBytes: 65_535,
  instructions: 65_535,
  metadataKeyBytes: 1_023,
  metadataValueBytes: 65_535,
} as const
