import type { ByteReader } from '@ledger-state/core'
import { compareBytes } from '@ledger-state/core/bytes'
import { HASH_LENGTH, type LedgerHasher, peekTransactionHash } from '@ledger-state/proof'

/** Neighbours that are equal in a hash only once in 2^100 times, and always in a run of equal bytes. */
const MOST_EQUAL_NEIGHBOURS = 16

/** Hashes of a search budget from the beginning. The largest genesis needs about 2,000. */
const FIRST_HASHES = 1 << 16
/** Hashes that a record adds to its budget: some, and one for each of these bytes. Modules need one for 1,400 bytes. */
const HASHES_OF_RECORD = 16
const BYTES_OF_HASH = 64

/**
 * Hashes that searches in the records of one file or answer may compute, about 6 µs each. In hostile records an info
 * can seem to begin at every byte; a limit for each record only would let a small file of many such records take hours.
 */
export class SearchBudget {
  #left = FIRST_HASHES

  addRecord(bytes: number): void {
    this.#left += HASHES_OF_RECORD + Math.floor(bytes / BYTES_OF_HASH)
  }

  /** Takes one hash; false if none is left. */
  take(): boolean {
    return --this.#left >= 0
  }
}

/**
 * Searches for the end of the transaction at the reader's offset, without a decoder: an info begins there that has its
 * hash. The time is linear in the length of the record, as no byte is hashed twice.
 * @param hasAuxiliary whether auxiliary info is between transaction and info
 * @param budget of the file or answer that the record is in
 * @returns undefined if there is no such end, or too many offsets may be one
 */
export function searchTransactionEnd(
  reader: ByteReader,
  hasher: LedgerHasher,
  hasAuxiliary: boolean,
  budget: SearchBudget,
): number | undefined {
  const { bytes, offset: start, end: last } = reader
  budget.addRecord(last - start)
  const running = hasher.begin('Transaction')
  let hashed = start
  for (let end = start + 1; end < last; end++) {
    const infoStart = hasAuxiliary ? infoStartIfAny(bytes, end) : end
    const claimed = infoStart === undefined ? undefined : peekTransactionHash(reader, infoStart)
    if (!claimed || isRun(claimed)) continue
    if (!budget.take()) return undefined
    running.update(bytes.subarray(hashed, end))
    hashed = end
    if (compareBytes(running.digest(), claimed) === 0) return end
  }
  return undefined
}

/** Offset of an info after auxiliary info: tag 0, or tag 1 or 2 and a u32. Undefined if another byte is there. */
function infoStartIfAny(bytes: Uint8Array, end: number): number | undefined {
  const tag = bytes[end]!
  if (tag > 2) return undefined
  return end + (tag === 0 ? 1 : 5)
}

/** Whether bytes are a run, or mostly a run, of one byte, such as the zeros of an argument. */
function isRun(hash: Uint8Array): boolean {
  let equal = 0
  for (let at = 1; at < HASH_LENGTH; at++) if (hash[at] === hash[at - 1]) equal++
  return equal >= MOST_EQUAL_NEIGHBOURS
}
