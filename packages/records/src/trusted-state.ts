import type { ByteReader, ByteWriter } from '@ledger-state/core'
import { decodeUtf8 } from '@ledger-state/core/bytes'
import type { SignedPower } from '@ledger-state/proof'

/** Signatures that verify versions of a ledger: by validators that follow from a waypoint. */
export interface TrustedState {
  /** The waypoint that was trusted, `version:hash`. */
  readonly waypoint: string
  /** The newest epoch change that was checked, as a waypoint. The next source continues from it. */
  readonly ending: string
  /** The epoch whose validators signed. */
  readonly epoch: bigint
  /** The voting power that signed; undefined if the versions end with the waypoint itself. */
  readonly power: SignedPower | undefined
}

/** Writes a trusted state, about 170 bytes. */
export function writeTrustedState(writer: ByteWriter, { waypoint, ending, epoch, power }: TrustedState): void {
  writer
    .string(waypoint)
    .string(ending)
    .u64(epoch)
    .bool(power !== undefined)
  if (power) writer.integer(power.signed, 16).integer(power.total, 16)
}

/**
 * Reads a trusted state that `writeTrustedState` wrote.
 * @throws `invalid_bcs`
 */
export function readTrustedState(reader: ByteReader): TrustedState {
  return {
    waypoint: readText(reader),
    ending: readText(reader),
    epoch: reader.readU64(),
    power: reader.readOption(() => ({ signed: reader.readWideInteger(16), total: reader.readWideInteger(16) })),
  }
}

/** @throws `invalid_bcs` if the text is not UTF-8 */
export function readText(reader: ByteReader): string {
  const start = reader.offset
  const text = decodeUtf8(reader.readByteString())
  if (text === undefined) throw reader.fault('a text that is not UTF-8', start)
  return text
}
