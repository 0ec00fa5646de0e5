import { Buffer } from 'node:buffer'
import type { ByteReader, ByteWriter } from '@ledger-state/core'
import type { SignedPower } from '@ledger-state/proof'

/** What vouches for versions of a ledger: validators that follow from a waypoint. */
export interface Vouching {
  /** The waypoint that was trusted, `version:hash`. */
  readonly waypoint: string
  /** The newest end of an epoch that was believed, as a waypoint: the next source continues from it. */
  readonly ending: string
  /** The epoch whose validators signed. */
  readonly epoch: bigint
  /** The power that signed; undefined where the versions end with the waypoint itself. */
  readonly power: SignedPower | undefined
}

/** A version up to which validators signed a ledger. */
export interface SignedPoint {
  readonly version: bigint
  /** Root of the accumulator of the ledger up to the version. */
  readonly accumulatorRoot: Uint8Array
  readonly vouching: Vouching
  /** Same as that of a `LedgerVersion`, where a checkpoint of this version was asked for. */
  readonly checkpoint?: Uint8Array | undefined
  /** Same as `LedgerSource.mark`, after this version, where the point has a checkpoint. */
  readonly mark?: Uint8Array | undefined
}

/** What vouches for a genesis that has a trusted waypoint. */
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

/** Reads what `writeVouching` wrote. @throws `invalid_bcs` */
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
