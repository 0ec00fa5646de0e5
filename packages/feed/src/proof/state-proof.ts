import { ByteReader, ByteWriter } from '@ledger-state/core'
import {
  AccumulatorFrontier,
  expectHash,
  type LedgerHasher,
  readHashes,
  readLedgerInfo,
  readTransactionInfo,
  type SignedCheckpoint,
  type SignedLedgerInfo,
  SparseMerkleFrontier,
  signedLedgerInfoToBytes,
} from '@ledger-state/proof'
import { invalidBackup } from '../errors.js'
import { atFile, atRecord } from '../files/backup-place.js'
import { readRecords } from '../files/record-file.js'
import { readStateRecord } from '../wire/state-record.js'
import { readProof } from './proof-file.js'

// The root of a state, proven. See docs/ledger-formats.md, "State snapshot".

export interface ProvenStateRoot {
  /** Root of the state at the version. */
  readonly stateRoot: Uint8Array
  /** The ledger's accumulator up to the version, which is included. */
  readonly frontier: Uint8Array
  /** The ledger info that covers the version. Its signatures are not checked. */
  readonly ledger: SignedLedgerInfo
  /** Proof that the ledger info commits to the root. */
  readonly checkpoint: SignedCheckpoint
}

/**
 * Proves that the ledger has a state root at a version.
 * @throws `invalid_backup`, `verification_failed`
 */
export async function proveStateRoot(
  proofPath: string,
  version: bigint,
  hasher: LedgerHasher,
): Promise<ProvenStateRoot> {
  const { siblings, info, infoBytes, ledger } = await readProof(proofPath, (reader) => {
    const siblings = readHashes(reader)
    const start = reader.offset
    const info = readTransactionInfo(reader)
    return { siblings, info, infoBytes: reader.bytes.subarray(start, reader.offset), ledger: readLedgerInfo(reader) }
  })
  // A tree of 2^n leaves has at most n levels. More siblings could pass off one of its versions as a later one.
  if (ledger.version < version) throw invalidBackup.proofEndsEarly(proofPath, ledger.version, version)
  const left = siblings.filter((_, level) => (version >> BigInt(level)) % 2n === 1n)
  const right = siblings.filter((_, level) => (version >> BigInt(level)) % 2n === 0n)
  const frontier = AccumulatorFrontier.fromSubtrees(hasher, 'TransactionAccumulator', Number(version), left)
  frontier?.append(hasher.hash('TransactionInfo', infoBytes))
  const root = frontier?.rootWithin(Number(ledger.version) + 1, right)
  if (!frontier || !root) throw invalidBackup.wrongSiblings(proofPath, 'siblings', `version ${version}`)
  atFile(proofPath, `version ${version}`, () => {
    expectHash(`the accumulator root of version ${ledger.version}`, root, ledger.accumulatorRoot)
  })
  if (!info.stateRoot) throw invalidBackup.backupWithoutStateRoot(proofPath, version)
  const checkpoint = { version, transactionInfo: infoBytes, siblings, ledgerInfo: signedLedgerInfoToBytes(ledger) }
  return { stateRoot: info.stateRoot, frontier: frontier.toBytes(), ledger, checkpoint }
}

export interface StateChunk {
  readonly path: string
  readonly proofPath: string
  /** Entries of the chunk, counted from 0 in the order of their key hashes. */
  readonly firstIndex: bigint
  readonly lastIndex: bigint
  /** Whether the chunk is the last of the state. */
  readonly isLast: boolean
}

/**
 * Proves that a chunk holds exactly the entries of the state that follow the earlier chunks.
 * @param before the tree that this function returned for the chunk before; undefined for the first chunk
 * @returns the tree after the chunk
 * @throws `invalid_backup`, `verification_failed` naming file and record
 */
export async function proveStateChunk(
  { path, proofPath, firstIndex, lastIndex, isLast }: StateChunk,
  stateRoot: Uint8Array,
  hasher: LedgerHasher,
  before: Uint8Array | undefined,
): Promise<Uint8Array> {
  const right = await readProof(proofPath, (reader) => {
    const siblings = readHashes(reader)
    reader.expectEnd()
    return siblings
  })
  const tree = before ? SparseMerkleFrontier.read(hasher, new ByteReader(before)) : new SparseMerkleFrontier(hasher)
  let index = firstIndex
  for await (const records of readRecords(path)) {
    for (const bytes of records) {
      const at = Number(index - firstIndex)
      if (index > lastIndex) throw invalidBackup.surplusRecords(path, at)
      atRecord(path, at, undefined, () => {
        const { key, stateValue } = readStateRecord(bytes)
        const isAbove = tree.append(hasher.hash('StateKey', key), hasher.hash('StateValue', stateValue))
        if (!isAbove) throw invalidBackup.unorderedKeys()
      })
      index++
    }
  }
  if (index <= lastIndex) throw invalidBackup.missingRecords(path, index - firstIndex, lastIndex - firstIndex + 1n)
  const root = tree.rootWithin(right)
  if (!root) throw invalidBackup.wrongSiblings(proofPath, 'siblings', 'the last entry')
  atFile(path, `entries ${firstIndex} to ${lastIndex}`, () => {
    expectHash('the state root', root, stateRoot)
    if (isLast) expectHash('the state root of all entries that the manifest lists', tree.root(), stateRoot)
  })
  const writer = new ByteWriter()
  tree.write(writer)
  return writer.toBytes()
}
