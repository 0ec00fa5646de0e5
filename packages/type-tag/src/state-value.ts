import { type ByteReader, ByteWriter } from '@ledger-state/core'

// Metadata that a chain keeps with a value: see docs/ledger-formats.md, "Write sets".
//   metadata (BCS): u8 0, u64 deposit, u64 creation time | u8 1, u64 slot deposit, u64 bytes deposit, u64 creation time

/** Metadata of a value, in microseconds and octas. */
export interface ValueMetadata {
  /** Deposit for the slot. The first variant has one deposit, which is this one. */
  readonly slotDeposit: bigint
  /** Deposit for the bytes; undefined in the first variant. */
  readonly bytesDeposit: bigint | undefined
  /** When the key was created, in microseconds since the Unix epoch. */
  readonly creationTimeUsec: bigint
}

/** A value of the state with its metadata. */
export interface StateValue {
  readonly value: Uint8Array
  /** Metadata of the value; undefined if the chain keeps none. */
  readonly metadata: ValueMetadata | undefined
}

/** Reads metadata in BCS. @throws `invalid_bcs` */
export function readValueMetadata(reader: ByteReader): ValueMetadata {
  const start = reader.offset
  const variant = reader.readUleb128()
  if (variant > 1) throw reader.fault(`unknown variant ${variant} of write metadata`, start)
  const slotDeposit = reader.readU64()
  const bytesDeposit = variant === 1 ? reader.readU64() : undefined
  return { slotDeposit, bytesDeposit, creationTimeUsec: reader.readU64() }
}

/**
 * Encodes a state value, as the ledger hashes it: variant 0 and the value, or variant 1, the value and its metadata.
 */
export function encodeStateValue({ value, metadata }: StateValue): Uint8Array {
  const writer = new ByteWriter().uleb128(metadata ? 1 : 0).byteString(value)
  if (!metadata) return writer.toBytes()
  const { slotDeposit, bytesDeposit, creationTimeUsec } = metadata
  writer.uleb128(bytesDeposit === undefined ? 0 : 1).u64(slotDeposit)
  if (bytesDeposit !== undefined) writer.u64(bytesDeposit)
  return writer.u64(creationTimeUsec).toBytes()
}

/** Reads a state value that `encodeStateValue` wrote. @throws `invalid_bcs` */
export function readStateValue(reader: ByteReader): StateValue {
  const start = reader.offset
  const variant = reader.readUleb128()
  if (variant > 1) throw reader.fault(`unknown variant ${variant} of a state value`, start)
  const value = reader.readByteString()
  return { value, metadata: variant === 1 ? readValueMetadata(reader) : undefined }
}
