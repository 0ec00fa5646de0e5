import { Buffer } from 'node:buffer'

/**
 * Beginning of the mark of an import of a slice. The digest of what is asked for follows, and then the mark of the
 * source.
 */
const MAGIC = Buffer.from('LSSLICE\0', 'latin1')
const DIGEST_LENGTH = 32

/**
 * The mark of an import: the mark of the source, if it has given a part, and the digest of the slice, if one is kept.
 */
export function markOfImport(source: Uint8Array | undefined, digest: Uint8Array | undefined): Uint8Array | undefined {
  return digest ? Buffer.concat([MAGIC, digest, source ?? new Uint8Array(0)]) : source
}

/** Whether an import that was cut short keeps a slice. */
export function isMarkOfSlice(mark: Uint8Array | undefined): boolean {
  return mark !== undefined && MAGIC.equals(mark.subarray(0, MAGIC.length))
}

/** Whether an import that was cut short kept the same slice, or the whole. */
export function isMarkOfImport(mark: Uint8Array | undefined, digest: Uint8Array | undefined): boolean {
  if (!mark) return true
  if (!digest) return !isMarkOfSlice(mark)
  return isMarkOfSlice(mark) && Buffer.compare(mark.subarray(MAGIC.length, MAGIC.length + DIGEST_LENGTH), digest) === 0
}

/** The source's mark within the mark of an import; undefined if the source has given no part. */
export function sourceMarkOf(mark: Uint8Array | undefined, digest: Uint8Array | undefined): Uint8Array | undefined {
  if (!digest || !mark) return mark
  const source = mark.subarray(MAGIC.length + DIGEST_LENGTH)
  return source.length > 0 ? source : undefined
}
