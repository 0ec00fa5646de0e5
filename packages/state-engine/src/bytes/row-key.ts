import { highHalf, lowHalf } from './version-halves.js'

/** Key of a segment file in the catalog: u64 ++ u48, big-endian, so that keys sort by version. */
export interface RowKey {
  readonly firstVersion: bigint
  readonly file: number
}

const ROW_KEY_LENGTH = 14
const U32 = 2 ** 32

export const ROW_KEY_ENCODER = {
  writeKey({ firstVersion, file }: RowKey, target: Uint8Array, position: number): number {
    const view = new DataView(target.buffer, target.byteOffset + position)
    view.setBigUint64(0, firstVersion)
    view.setUint16(8, Math.floor(file / U32))
    view.setUint32(10, file)
    return position + ROW_KEY_LENGTH
  },
  readKey(source: Uint8Array, start: number): RowKey {
    const view = new DataView(source.buffer, source.byteOffset + start)
    return { firstVersion: view.getBigUint64(0), file: view.getUint16(8) * U32 + view.getUint32(10) }
  },
}

/** Seed for the checksum of a record with this key, so that a record under a wrong key does not match. */
export function rowKeySeed({ firstVersion, file }: RowKey): number {
  const mixed = Math.imul(Math.imul(highHalf(firstVersion), 0x9e37_79b1) ^ lowHalf(firstVersion), 0x85eb_ca6b)
  return (Math.imul(mixed ^ Math.floor(file / U32), 0xc2b2_ae35) ^ file) >>> 0
}
