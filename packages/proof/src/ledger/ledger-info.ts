import { ADDRESS_LENGTH, type ByteReader, ByteWriter } from '@ledger-state/core'
import { HASH_LENGTH } from '../hashes/hash-bytes.js'

/** Most validators of an epoch: the mask of a signature has up to 8 KiB. */
const MOST_VALIDATORS = 65_536

/** A validator of an epoch, as a ledger info names it. */
export interface Validator {
  readonly address: Uint8Array
  /** Compressed BLS12-381 public key; 48 bytes in a sound ledger info. */
  readonly publicKey: Uint8Array
  readonly votingPower: bigint
}

/** The validators that sign the ledger infos of an epoch. */
export interface EpochState {
  readonly epoch: bigint
  /** The validators, in the order of the bits of a signature's mask. */
  readonly validators: readonly Validator[]
  /** BCS of the whole epoch state, as a waypoint commits to it. */
  readonly bytes: Uint8Array
}

/** The ledger up to a version, as validators sign it. */
export interface LedgerInfo {
  readonly epoch: bigint
  readonly accumulatorRoot: Uint8Array
  readonly version: bigint
  readonly timestampUsec: bigint
  /** State of the epoch that follows. Only the last ledger info of an epoch has it. */
  readonly nextEpoch: EpochState | undefined
  /** BCS of all the members above. Validators sign these bytes behind a seed. */
  readonly message: Uint8Array
}

/** A ledger info with the aggregate signature of its validators. Nothing of it is checked yet. */
export interface SignedLedgerInfo extends LedgerInfo {
  /** One bit for each validator, the highest bit of the first byte for the first one. */
  readonly signers: Uint8Array
  readonly signature: Uint8Array | undefined
}

/** Reads a ledger info with signatures, up to the end of the bytes. See docs/ledger-formats.md, "Ledger infos". */
export function readLedgerInfo(reader: ByteReader): SignedLedgerInfo {
  const tagAt = reader.offset
  const tag = reader.readUleb128()
  if (tag !== 0) throw reader.fault(`unknown variant ${tag} of ledger info`, tagAt)
  const start = reader.offset
  const epoch = reader.readU64()
  reader.skip(8 + HASH_LENGTH)
  const accumulatorRoot = reader.readBytes(HASH_LENGTH)
  const version = reader.readU64()
  const timestampUsec = reader.readU64()
  const nextEpoch = reader.readOption(readEpochState)
  reader.skip(HASH_LENGTH)
  const message = reader.bytes.subarray(start, reader.offset)
  const signers = reader.readByteString()
  const signature = reader.readOption(() => reader.readByteString())
  reader.expectEnd()
  return { epoch, accumulatorRoot, version, timestampUsec, nextEpoch, message, signers, signature }
}

/** Encodes a ledger info with its signatures in BCS, as `readLedgerInfo` reads it. */
export function signedLedgerInfoToBytes({
  message,
  signers,
  signature,
}: Pick<SignedLedgerInfo, 'message' | 'signers' | 'signature'>): Uint8Array {
  const writer = new ByteWriter()
    .u8(0)
    .bytes(message)
    .byteString(signers)
    .bool(signature !== undefined)
  if (signature) writer.byteString(signature)
  return writer.toBytes()
}

function readEpochState(reader: ByteReader): EpochState {
  const start = reader.offset
  const epoch = reader.readU64()
  const validators: Validator[] = []
  const count = reader.readLength()
  if (count > MOST_VALIDATORS)
    throw reader.fault(`${count} validators of an epoch; at most ${MOST_VALIDATORS} can sign`)
  for (let rest = count; rest > 0; rest--) {
    const address = reader.readBytes(ADDRESS_LENGTH)
    const publicKey = reader.readByteString()
    validators.push({ address, publicKey, votingPower: reader.readU64() })
  }
  return { epoch, validators, bytes: reader.bytes.subarray(start, reader.offset) }
}
