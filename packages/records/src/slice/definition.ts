import { ByteReader, ByteWriter } from '@ledger-state/core'
import { decodeUtf8 } from '@ledger-state/core/bytes'

// The definition of a slice:
//   u8 1 | digest of the specification, 32 bytes | u32 accounts | u32 tables | count of types and the text of each

/** A store's definition of its slice. */
export interface SliceDefinition {
  /** Digest of the specification, 32 bytes. */
  readonly digest: Uint8Array
  /** Number of accounts that were asked for. */
  readonly accounts: number
  /** Number of tables that were asked for. */
  readonly tables: number
  /** Patterns of the types whose resources are kept at any address. */
  readonly types: readonly string[]
}

const LAYOUT = 1
const DIGEST_LENGTH = 32

/** Encodes the value under `SLICE_KEY`. */
export function encodeSliceDefinition({ digest, accounts, tables, types }: SliceDefinition): Uint8Array {
  const writer = new ByteWriter().u8(LAYOUT).bytes(digest).u32(accounts).u32(tables).uleb128(types.length)
  for (const type of types) writer.string(type)
  return writer.toBytes()
}

/** Reads the value under `SLICE_KEY`. @throws `invalid_bcs` */
export function decodeSliceDefinition(bytes: Uint8Array): SliceDefinition {
  const reader = new ByteReader(bytes)
  const layout = reader.readU8()
  if (layout !== LAYOUT) throw reader.fault(`unknown layout ${layout} of a slice`, 0)
  const digest = Uint8Array.from(reader.readBytes(DIGEST_LENGTH))
  const [accounts, tables] = [reader.readU32(), reader.readU32()]
  const types = Array.from({ length: reader.readLength() }, () => decodeUtf8(reader.readByteString()) ?? '')
  return { digest, accounts, tables, types }
}
