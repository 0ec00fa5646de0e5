import { atOnce, type ByteWriter, type Steps } from '@ledger-state/core'
import { HASH_LENGTH, type LedgerHasher, readOutcome } from '@ledger-state/proof'

// The outline of a transaction info is the info without its three hashes that follow from the transaction: the
// transaction hash, the event root and the state change hash, which are side by side.
const HASHES_LENGTH = 3 * HASH_LENGTH

/** Transaction and write set in BCS, and the root of the events. */
export interface HashedParts {
  readonly transaction: Uint8Array
  readonly eventRoot: Uint8Array
  readonly writeSet: Uint8Array
}

/** Offset in an info of the hashes that its outline omits. @throws `invalid_bcs` */
export function hashesOffset(info: Uint8Array): number {
  return readOutcome(info, 0).hash.byteOffset - info.byteOffset
}

/** Writes the info without the hashes that `outlineToInfo` computes, which begin at `hashesAt`. */
export function writeOutline(info: Uint8Array, hashesAt: number, writer: ByteWriter): void {
  writer.part(info, 0, hashesAt).part(info, hashesAt + HASHES_LENGTH, info.length)
}

/** The info of an outline. */
export function outlineToInfo(
  outline: Uint8Array,
  hashesAt: number,
  parts: HashedParts,
  hasher: LedgerHasher,
): Uint8Array {
  return atOnce(outlineToInfoInSteps(outline, hashesAt, parts, hasher))
}

/** The same in steps: a transaction or a write set may have megabytes. */
export function* outlineToInfoInSteps(
  outline: Uint8Array,
  hashesAt: number,
  { transaction, eventRoot, writeSet }: HashedParts,
  hasher: LedgerHasher,
): Steps<Uint8Array> {
  const info = new Uint8Array(outline.length + HASHES_LENGTH)
  info.set(outline.subarray(0, hashesAt))
  info.set(yield* hasher.hashInSteps('Transaction', transaction), hashesAt)
  info.set(eventRoot, hashesAt + HASH_LENGTH)
  info.set(yield* hasher.hashInSteps('WriteSet', writeSet), hashesAt + 2 * HASH_LENGTH)
  info.set(outline.subarray(hashesAt), hashesAt + HASHES_LENGTH)
  return info
}
