import { ByteReader, type ByteWriter } from '@ledger-state/core'
import { verificationFailed } from '../errors.js'
import { HASH_LENGTH, readHashes, writeHashes } from '../hashes/hash-bytes.js'
import { expectHash, type LedgerHasher } from '../hashes/ledger-hasher.js'
import { rootByPath } from '../trees/accumulator-path.js'
import { levelsOf } from '../trees/levels-of.js'
import { readLedgerInfo, type SignedLedgerInfo } from './ledger-info.js'
import { readTransactionInfo, type TransactionInfo } from './transaction-info.js'

/** A version with the proof that a signed ledger info commits to its transaction info. */
export interface InfoProof {
  readonly version: bigint
  /** BCS of the transaction info of the version. */
  readonly transactionInfo: Uint8Array
  /** The siblings on the path from the transaction info to the root of the ledger's accumulator, the lowest first. */
  readonly siblings: readonly Uint8Array[]
  /** BCS of a ledger info with its signatures, of this version or a later one. */
  readonly ledgerInfo: Uint8Array
}

/**
 * A version with the proof that a signed ledger info commits to its state: the last version of a block, whose
 * transaction info has the root of the state.
 */
export type SignedCheckpoint = InfoProof

/** Facts that the proof of a transaction info proves if its ledger info is signed. */
export interface CheckedInfo {
  readonly info: TransactionInfo
  /** Ledger info of the proof. Its signatures are not checked. */
  readonly ledgerInfo: SignedLedgerInfo
}

/** Facts that a checkpoint proves if its ledger info is signed. */
export interface CheckedCheckpoint {
  /** Root of the state at the version. */
  readonly stateRoot: Uint8Array
  /** Ledger info of the checkpoint. Its signatures are not checked. */
  readonly ledgerInfo: SignedLedgerInfo
}

/** Writes a checkpoint: BCS of version, transaction info, siblings and ledger info. */
export function writeCheckpoint(writer: ByteWriter, checkpoint: SignedCheckpoint): void {
  writer.u64(checkpoint.version).byteString(checkpoint.transactionInfo)
  writeHashes(writer, checkpoint.siblings)
  writer.byteString(checkpoint.ledgerInfo)
}

/** Reads a checkpoint that `writeCheckpoint` wrote. @throws `invalid_bcs` */
export function readCheckpoint(reader: ByteReader): SignedCheckpoint {
  return {
    version: reader.readU64(),
    transactionInfo: reader.readByteString(),
    siblings: readHashes(reader),
    ledgerInfo: reader.readByteString(),
  }
}

/**
 * Checks that the ledger of a ledger info has the transaction info at the version. It does not check the signatures: see
 * `EpochChangeVerifier`.
 * @throws `verification_failed`; `invalid_bcs`
 */
export function checkInfoProof(hasher: LedgerHasher, proof: InfoProof): CheckedInfo {
  const { version, transactionInfo, siblings } = proof
  const ledgerInfo = readLedgerInfo(new ByteReader(proof.ledgerInfo))
  if (ledgerInfo.version < version) throw verificationFailed.shortPath(version, ledgerInfo.version)
  // A tree of 2^n leaves has n levels. With more siblings, one of its versions could be passed off as a later one.
  const levels = levelsOf(Number(ledgerInfo.version) + 1)
  if (siblings.length !== levels || ledgerInfo.version > BigInt(Number.MAX_SAFE_INTEGER)) {
    throw verificationFailed.wrongPathLength(version, siblings.length, levels)
  }
  const leaf = hasher.hash('TransactionInfo', transactionInfo)
  const root = rootByPath(hasher, leaf, version, siblings)
  expectHash(`the accumulator root of version ${ledgerInfo.version}`, root, ledgerInfo.accumulatorRoot)
  const reader = new ByteReader(transactionInfo)
  const info = readTransactionInfo(reader)
  reader.expectEnd()
  return { info, ledgerInfo }
}

/**
 * Checks as `checkInfoProof`, and that the transaction info has the root of a state.
 * @throws `verification_failed`; `invalid_bcs`
 */
export function checkCheckpoint(hasher: LedgerHasher, checkpoint: SignedCheckpoint): CheckedCheckpoint {
  const { info, ledgerInfo } = checkInfoProof(hasher, checkpoint)
  const { stateRoot } = info
  const { version } = checkpoint
  if (stateRoot?.length !== HASH_LENGTH) throw verificationFailed.ledgerWithoutStateRoot(version)
  return { stateRoot, ledgerInfo }
}
