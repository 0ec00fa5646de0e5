import { beginsWith, compareBytes } from '@ledger-state/core/bytes'
import { textBytes } from './magic.js'

/** Beginning of the mark of an import of a slice. The digest of the slice follows, then the mark of the source. */
const MAGIC = textBytes('LSSLICE\0')
const DIGEST_LENGTH = 32
/** Beginning of the mark of an import without an index of holdings. The mark that an import with one has follows. */
const WITHOUT_HOLDINGS = textBytes('LSNOHOLD')

/** The kind of an import. */
export interface ImportedPart {
  /** Digest of the slice; undefined if everything is kept. */
  readonly digest: Uint8Array | undefined
  /** Whether it writes the index of holdings. */
  readonly hasHoldings: boolean
}

/** The mark of an import: the mark of the source, once it has delivered a part, and the kind of the import. */
export function markOfImport(
  source: Uint8Array | undefined,
  { digest, hasHoldings }: ImportedPart,
): Uint8Array | undefined {
  const mark = markOfSlice(source, digest)
  return hasHoldings ? mark : withPrefix(WITHOUT_HOLDINGS, mark)
}

function markOfSlice(source: Uint8Array | undefined, digest: Uint8Array | undefined): Uint8Array | undefined {
  if (!digest) return source
  const mark = new Uint8Array(MAGIC.length + DIGEST_LENGTH + (source?.length ?? 0))
  mark.set(MAGIC)
  mark.set(digest, MAGIC.length)
  if (source) mark.set(source, MAGIC.length + DIGEST_LENGTH)
  return mark
}

/** Whether an import that was cut short keeps a slice. */
export function isMarkOfSlice(mark: Uint8Array | undefined): boolean {
  return isOfSlice(split(mark).mark)
}

/** Whether an import that was cut short kept the same part. */
export function isMarkOfImport(marked: Uint8Array | undefined, { digest, hasHoldings }: ImportedPart): boolean {
  if (!marked) return true
  const { mark, hasHoldings: had } = split(marked)
  if (had !== hasHoldings) return false
  if (!digest) return !isOfSlice(mark)
  return isOfSlice(mark) && compareBytes(mark!.subarray(MAGIC.length, MAGIC.length + DIGEST_LENGTH), digest) === 0
}

/** The source's mark within the mark of an import of this part; undefined if the source has given no part. */
export function sourceMarkOf(marked: Uint8Array | undefined, { digest }: ImportedPart): Uint8Array | undefined {
  const { mark } = split(marked)
  if (!digest || !mark) return mark
  const source = mark.subarray(MAGIC.length + DIGEST_LENGTH)
  return source.length > 0 ? source : undefined
}

/** Whether an import that was cut short has a part of a state. */
export function hasImportedPart(marked: Uint8Array | undefined): boolean {
  const { mark } = split(marked)
  return mark !== undefined && (!isOfSlice(mark) || mark.length > MAGIC.length + DIGEST_LENGTH)
}

function isOfSlice(mark: Uint8Array | undefined): boolean {
  return mark !== undefined && beginsWith(mark, MAGIC)
}

function split(marked: Uint8Array | undefined): { mark: Uint8Array | undefined; hasHoldings: boolean } {
  if (!marked || !beginsWith(marked, WITHOUT_HOLDINGS)) return { mark: marked, hasHoldings: true }
  const mark = marked.subarray(WITHOUT_HOLDINGS.length)
  return { mark: mark.length > 0 ? mark : undefined, hasHoldings: false }
}

function withPrefix(prefix: Uint8Array, bytes: Uint8Array | undefined): Uint8Array {
  const joined = new Uint8Array(prefix.length + (bytes?.length ?? 0))
  joined.set(prefix)
  if (bytes) joined.set(bytes, prefix.length)
  return joined
}
