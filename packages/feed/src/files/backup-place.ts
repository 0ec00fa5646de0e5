import { isLedgerStateError } from '@ledger-state/core'
import { atPlace } from '../errors.js'

/** Runs `work`, and names a place in a file in its errors. Bytes that do not parse are `invalid_backup`. */
export function atFile<T>(path: string, place: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw isLedgerStateError(error) ? atPlace(error, `${path}, ${place}`, 'invalid_backup') : error
  }
}

/** Same as `atFile`, for a record of the file, counted from 0. */
export function atRecord<T>(path: string, record: number, firstVersion: bigint | undefined, work: () => T): T {
  const version = firstVersion === undefined ? '' : ` (version ${firstVersion + BigInt(record)})`
  return atFile(path, `record ${record}${version}`, work)
}
