import { ADDRESS_LENGTH, type ByteReader } from '@ledger-state/core'
import { type BcsList, readBcsList } from '../bcs-list.js'
import { readVariant } from '../variant.js'

const HASH_LENGTH = 32

/** Random bytes of a block, for the programs that run in it. */
export interface Randomness {
  readonly epoch: bigint
  readonly round: bigint
  readonly bytes: Uint8Array
}

/** The transaction that begins a block. */
export interface BlockMetadata {
  readonly kind: 'block_metadata'
  readonly id: Uint8Array
  readonly epoch: bigint
  readonly round: bigint
  readonly proposer: Uint8Array
  /** Validators that voted for the block before, a bit each. */
  readonly previousVotes: Uint8Array
  readonly failedProposers: BcsList<number>
  readonly timestampUsec: bigint
  /** Extension of newer chains: nothing in variant 0, optional randomness in variant 1. Undefined on older chains. */
  readonly extension:
    | { readonly variant: 0 }
    | { readonly variant: 1; readonly randomness: Randomness | undefined }
    | undefined
}

/** The transaction that ends a block of an older chain. */
export interface StateCheckpoint {
  readonly kind: 'state_checkpoint'
  readonly blockId: Uint8Array
}

/** The transaction that ends a block of a newer chain. */
export interface BlockEpilogue {
  readonly kind: 'block_epilogue'
  readonly blockId: Uint8Array
  readonly gasLimitReached: boolean
  readonly outputLimitReached: boolean
  readonly effectiveGasUnits: bigint
  readonly approximateOutputSize: bigint
  /** Fees in octas by the validator's index; undefined in the first variant. */
  readonly fees: BcsList<readonly [validator: bigint, octas: bigint]> | undefined
}

/** Reads the metadata of a block of an older chain. @throws `invalid_bcs` */
export function readBlockMetadata(reader: ByteReader): BlockMetadata {
  return {
    kind: 'block_metadata',
    id: reader.readBytes(HASH_LENGTH),
    epoch: reader.readU64(),
    round: reader.readU64(),
    proposer: reader.readBytes(ADDRESS_LENGTH),
    previousVotes: reader.readByteString(),
    failedProposers: readBcsList(reader, readU32),
    timestampUsec: reader.readU64(),
    extension: undefined,
  }
}

/** Reads the metadata of a block of a newer chain. @throws `UnknownVariantError`, `invalid_bcs` */
export function readExtendedBlockMetadata(reader: ByteReader): BlockMetadata {
  const variant = readVariant(reader, 'extended block metadata', 2)
  const metadata = readBlockMetadata(reader)
  if (variant === 0) return { ...metadata, extension: { variant } }
  return { ...metadata, extension: { variant: 1, randomness: reader.readOption(readRandomness) } }
}

/** Reads a state checkpoint. @throws `invalid_bcs` */
export function readStateCheckpoint(reader: ByteReader): StateCheckpoint {
  return { kind: 'state_checkpoint', blockId: reader.readBytes(HASH_LENGTH) }
}

/** Reads the end of a block. @throws `UnknownVariantError`, `invalid_bcs` */
export function readBlockEpilogue(reader: ByteReader): BlockEpilogue {
  const variant = readVariant(reader, 'a block epilogue', 2)
  const blockId = reader.readBytes(HASH_LENGTH)
  readVariant(reader, 'the end of a block', 1)
  const end = {
    gasLimitReached: reader.readBool(),
    outputLimitReached: reader.readBool(),
    effectiveGasUnits: reader.readU64(),
    approximateOutputSize: reader.readU64(),
  }
  return { kind: 'block_epilogue', blockId, ...end, fees: variant === 1 ? readFees(reader) : undefined }
}

function readFees(reader: ByteReader): BlockEpilogue['fees'] {
  readVariant(reader, 'a distribution of fees', 1)
  return readBcsList(reader, readFee)
}

function readFee(reader: ByteReader): readonly [bigint, bigint] {
  return [reader.readU64(), reader.readU64()]
}

function readRandomness(reader: ByteReader): Randomness {
  return { epoch: reader.readU64(), round: reader.readU64(), bytes: reader.readByteString() }
}

function readU32(reader: ByteReader): number {
  return reader.readU32()
}
