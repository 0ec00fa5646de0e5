import { compareBytes } from '@ledger-state/core/bytes'
import { beginsWith, textBytes } from './magic.js'

/**
 * Beginning of the mark of an import of a slice. The digest of what is asked for follows, and then the mark of the
 * source.
 */
const MAGIC = textBytes('LSSLICE\0')
const DIGEST_LENGTH = 32

/**
 * The mark of an import: the mark of the source, if it has given a part, and the digest of the slice, if one is kept.
 */
export function markOfImport(source: Uint8Array | undefined, digest: Uint8Array | undefined): Uint8Array | undefined {
  if (!digest) return source
  const mark = new Uint8Array(MAGIC.length + DIGEST_LENGTH + (source?.length ?? 0))
  mark.set(MAGIC)
  mark.set(digest, MAGIC.length)
  if (source) mark.set(source, MAGIC.length + DIGEST_LENGTH)
  return mark
}

/** Whether an import that was cut short keeps a slice. */
export function isMarkOfSlice(mark: Uint8Array | undefined): boolean {
  return mark !== undefined && beginsWith(mark, MAGIC)
}

/** Whether an import that was cut short kept the same slice, or the whole. */
export function isMarkOfImport(mark: Uint8Array | undefined, digest: Uint8Array | undefined): boolean {
  if (!mark) return true
  if (!digest) return !isMarkOfSlice(mark)
  return isMarkOfSlice(mark) && compareBytes(mark.subarray(MAGIC.length, MAGIC.length + DIGEST_LENGTH), digest) === 0
}

/** The source's mark within the mark of an import; undefined if the source has given no part. */
export function sourceMarkOf(mark: Uint8Array | undefined, digest: Uint8Array | undefined): Uint8Array | undefined {
  if (!digest || !mark) return mark
  const source = mark.subarray(MAGIC.length + DIGEST_LENGTH)
  return source.length > 0 ? source : undefined
}
