import { ByteReader } from '@ledger-state/core'
import {
  ACCUMULATOR_PLACEHOLDER,
  accumulatorPath,
  type InfoProof,
  type LedgerHasher,
  readLedgerInfo,
  type SignedCheckpoint,
} from '@ledger-state/proof'
import { bytesToCheckpoint, CHECKPOINT_KEY } from '@ledger-state/records'
import type { LedgerState } from '../state/ledger-state.js'

/** Why a version has no proof. */
export type NoProof =
  /** No kept ledger info with signatures covers the version; `newest` is the newest version that one covers. */
  | { readonly kind: 'unsigned'; readonly newest: bigint | undefined }
  /** The store does not keep the transactions that the path needs. */
  | { readonly kind: 'path_not_kept' }

/** A proof, or the reason why there is none. */
export type FoundProof<T> = { readonly kind: 'proven'; readonly proof: T } | NoProof

/** Most checkpoints that are read for one proof. Only the first ones after a version may not cover it. */
const MOST_CHECKPOINTS = 16

/**
 * The path from the transaction info of a version to a ledger info that validators signed. The next signed checkpoint
 * has the part of the path to the right of it; the rest follows from the kept transactions up to the checkpoint. Each
 * level reads some of them.
 */
export function findInfoProof(
  state: LedgerState,
  version: bigint,
  transactionInfo: Uint8Array,
  hasher: LedgerHasher,
): FoundProof<InfoProof> {
  const checkpoint = checkpointAfter(state, version)
  if (!checkpoint) return { kind: 'unsigned', newest: newestSigned(state) }
  const siblings = pathWithin(state, version, checkpoint, hasher)
  if (!siblings) return { kind: 'path_not_kept' }
  return { kind: 'proven', proof: { version, transactionInfo, siblings, ledgerInfo: checkpoint.ledgerInfo } }
}

/** The signed checkpoint of a version itself, which leads to the state of the version without any transaction. */
export function signedCheckpointAt(state: LedgerState, version: bigint): SignedCheckpoint | undefined {
  const checkpoint = checkpointAfter(state, version)
  return checkpoint?.version === version ? checkpoint : undefined
}

function checkpointAfter({ source, version: last }: LedgerState, first: bigint): SignedCheckpoint | undefined {
  let read = 0
  for (const { value } of source.reader.history(CHECKPOINT_KEY, { first, last, order: 'asc' })) {
    if (++read > MOST_CHECKPOINTS) return undefined
    const checkpoint = value && bytesToCheckpoint(value)
    if (checkpoint && checkpoint.version >= first && checkpoint.version <= last && isSigned(checkpoint))
      return checkpoint
  }
  return undefined
}

/** Whether a ledger info has signatures. The waypoint of a network signs the first version. */
function isSigned({ ledgerInfo }: SignedCheckpoint): boolean {
  const { version, signature } = readLedgerInfo(new ByteReader(ledgerInfo))
  return signature !== undefined || version === 0n
}

function newestSigned({ view, ledger }: LedgerState): bigint | undefined {
  const value = view.get(CHECKPOINT_KEY)
  const checkpoint = value && bytesToCheckpoint(value)
  if (!checkpoint || !isSigned(checkpoint) || checkpoint.version < ledger.oldestVersion) return undefined
  return checkpoint.version
}

/** The siblings on the path of a version, in the tree of a later version with a known path. */
function pathWithin(
  { transactions }: LedgerState,
  version: bigint,
  checkpoint: SignedCheckpoint,
  hasher: LedgerHasher,
): readonly Uint8Array[] | undefined {
  if (version === checkpoint.version) return checkpoint.siblings
  const before = transactions.frontierBefore(version)
  if (!before) return undefined
  let isKept = true
  const leafAt = (index: number): Uint8Array => {
    const leaf = transactions.storedAt(BigInt(index))?.leaf
    if (!leaf) isKept = false
    return leaf ?? ACCUMULATOR_PLACEHOLDER
  }
  const subtreeAt = (level: number, at: number): Uint8Array => {
    // The tree of all leaves but the last one of the subtree has the rest of the subtree as its lowest parts.
    const last = (at + 1) * 2 ** level - 1
    const parts = transactions.frontierAt(BigInt(last - 1))?.subtrees
    if (!parts) isKept = false
    let node = leafAt(last)
    for (const part of parts?.slice(0, level) ?? []) node = hasher.hashPair('TransactionAccumulator', part, node)
    return node
  }
  const { total, rightOfLast } = rightOf(checkpoint)
  const last = Number(checkpoint.version)
  const siblings = accumulatorPath(hasher, { total, before, leafAt, last, rightOfLast, subtreeAt })
  return isKept ? siblings : undefined
}

function rightOf({ version, siblings, ledgerInfo }: SignedCheckpoint) {
  const total = Number(readLedgerInfo(new ByteReader(ledgerInfo)).version) + 1
  const rightOfLast = siblings.filter((_, level) => (version >> BigInt(level)) % 2n === 0n)
  return { total, rightOfLast }
}
