import type { LedgerRecord } from '../records/ledger-record.js'

/**
 * Id in the segment files of all parts of ledgers, so that parts which were filled independently have the same files, and
 * can be joined without writing them again. It says nothing about the content: hashes in the catalog do.
 */
export const PART_SEGMENTS_ID = 0x4c53_5041_5254_5331n

/**
 * Whether a store is a part that others may precede, however it was opened: it was created as a part, and does not begin with
 * a known state. The first part of a ledger and a store that was joined from it do.
 */
export function mayFollowOthers(
  { segmentsId }: { readonly segmentsId: bigint },
  record: Pick<LedgerRecord, 'base'> | undefined,
): boolean {
  return segmentsId === PART_SEGMENTS_ID && record?.base.complete !== true
}
