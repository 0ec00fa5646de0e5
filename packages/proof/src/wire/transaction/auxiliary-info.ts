import type { ByteReader } from '@ledger-state/core'
import { readVariant } from '../variant.js'

/** The data that backups of format V1 keep of a transaction, in addition to its info. */
export interface AuxiliaryInfo {
  /** Index of the transaction in its proposed block; undefined if it is not known. */
  readonly transactionIndex: number | undefined
}

/** Reads auxiliary info: variant 0 is empty, 1 and 2 have a u32. @throws `UnknownVariantError`, `invalid_bcs` */
export function readAuxiliaryInfo(reader: ByteReader): AuxiliaryInfo {
  const variant = readVariant(reader, 'auxiliary info', 3)
  return { transactionIndex: variant === 0 ? undefined : reader.readU32() }
}
