import { ADDRESS_LENGTH, type ByteReader, ByteWriter } from '@ledger-state/core'
import { HASH_LENGTH } from '../hashes/hash-bytes.js'
import { readBcsList } from '../wire/bcs-list.js'

/** Most validators of an epoch: a signature's mask has up to 8 KiB. */
const MOST_VALIDATORS = 65_536
/** Bytes of a voting power. */
const POWER_LENGTH = 8

/** A validator of an epoch, as a ledger info names it. */
export interface Validator {
  readonly address: Uint8Array
  /** Compressed BLS12-381 public key; 48 bytes in a sound ledger info. */
  readonly publicKey: Uint8Array
  readonly votingPower: bigint
}

/** A list of validators, or an array of them. */
export interface Validators extends Iterable<Validator> {
  readonly length: number
}

/** The validators that sign the ledger infos of an epoch. */
export interface EpochState {
  readonly epoch: bigint
  /** The validators, in the order of the bits of a signature's mask. */
  readonly validators: Validators
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
  const nextEpoch = reader.readBool() ? readEpochState(reader) : undefined
  reader.skip(HASH_LENGTH)
  const message = reader.bytes.subarray(start, reader.offset)
  const signers = reader.readByteString()
  const signature = reader.readBool() ? reader.readByteString() : undefined
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
  const validators = readBcsList(reader, readValidator, skipValidator)
  if (validators.length > MOST_VALIDATORS) throw reader.fault(`more than ${MOST_VALIDATORS} validators`, start)
  return { epoch, validators, bytes: reader.bytes.subarray(start, reader.offset) }
}

function readValidator(reader: ByteReader): Validator {
  return {
    address: reader.readBytes(ADDRESS_LENGTH),
    publicKey: reader.readByteString(),
    votingPower: reader.readU64(),
  }
}

function skipValidator(reader: ByteReader): void {
  reader.skip(ADDRESS_LENGTH)
  reader.skip(reader.readLength())
  reader.skip(POWER_LENGTH)
}
