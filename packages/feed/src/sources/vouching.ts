import { Buffer } from 'node:buffer'
import type { ByteReader, ByteWriter } from '@ledger-state/core'
import type { SignedPower } from '@ledger-state/proof'

/** Signatures that vouch for versions of a ledger: by validators that follow from a waypoint. */
export interface Vouching {
  /** The waypoint that was trusted, `version:hash`. */
  readonly waypoint: string
  /** The newest end of an epoch that was checked, as a waypoint. The next source continues from it. */
  readonly ending: string
  /** The epoch whose validators signed. */
  readonly epoch: bigint
  /** The voting power that signed; undefined if the versions end with the waypoint itself. */
  readonly power: SignedPower | undefined
}

/** A version up to which validators signed a ledger. */
export interface SignedPoint {
  readonly version: bigint
  /** Root of the ledger's accumulator after the version. */
  readonly accumulatorRoot: Uint8Array
  readonly vouching: Vouching
  /** Checkpoint as in `LedgerVersion`, if one of this version was asked for. */
  readonly checkpoint?: Uint8Array | undefined
  /** `LedgerSource.mark` after this version, if the point has a checkpoint. */
  readonly mark?: Uint8Array | undefined
}

/** The vouching for a genesis that has a trusted waypoint. */
export function vouchingOfGenesis(waypoint: string): Vouching {
  return { waypoint, ending: waypoint, epoch: 0n, power: undefined }
}

/** Writes a vouching, some 170 bytes. */
export function writeVouching(writer: ByteWriter, { waypoint, ending, epoch, power }: Vouching): void {
  writer
    .string(waypoint)
    .string(ending)
    .u64(epoch)
    .bool(power !== undefined)
  if (power) writer.integer(power.signed, 16).integer(power.total, 16)
}

/**
 * Reads a vouching that `writeVouching` wrote.
 * @throws `invalid_bcs`
 */
export function readVouching(reader: ByteReader): Vouching {
  return {
    waypoint: readText(reader),
    ending: readText(reader),
    epoch: reader.readU64(),
    power: reader.readBool() ? { signed: reader.readWideInteger(16), total: reader.readWideInteger(16) } : undefined,
  }
}

function readText(reader: ByteReader): string {
  return Buffer.from(reader.readByteString()).toString('latin1')
}
