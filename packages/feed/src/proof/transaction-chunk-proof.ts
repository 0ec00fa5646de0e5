import { Buffer } from 'node:buffer'
import { ByteReader } from '@ledger-state/core'
import {
  AccumulatorFrontier,
  accumulatorPath,
  expectHash,
  HASH_LENGTH,
  type LedgerHasher,
  MAX_LEAVES,
  readHashes,
  readLedgerInfo,
  type SignedCheckpoint,
  type SignedLedgerInfo,
  signedLedgerInfoToBytes,
} from '@ledger-state/proof'
import { computeEventRoot } from '@ledger-state/proof/transactions'
import { invalidBackup, otherLedgerBefore } from '../errors.js'
import { atFile, atRecord } from '../files/backup-place.js'
import { readRecords } from '../files/record-file.js'
import { readProof } from './proof-file.js'
import { RecordReader } from './transaction-record.js'

const TREE = 'TransactionAccumulator'
/**
 * Most records of a chunk. The backup tools end a chunk at 128 MB, long before it holds as many. It bounds the memory
 * allocated before the records are read to 168 MB, whatever a manifest says.
 */
const MAX_RECORDS = 2 ** 22

export interface TransactionChunk {
  readonly path: string
  readonly proofPath: string
  readonly firstVersion: bigint
  readonly lastVersion: bigint
  /** Whether the chunk has backup format V1, in which auxiliary info follows the transaction. */
  readonly hasAuxiliary: boolean
}

/** Results of the proof of a chunk, for its reader. */
export interface ProvenTransactions {
  /** Offsets for each record: the end of its transaction, and the beginning of its write set. */
  readonly splits: Uint32Array
  /** Hash of the TransactionInfo of each record: the leaves of the ledger's accumulator. */
  readonly leaves: Uint8Array
  /** Root of the state after a record, by the record's index, for the records that have one: the last of each block. */
  readonly stateRoots: ReadonlyMap<number, Uint8Array>
  /** The accumulator's frontier before the first record. */
  readonly frontier: Uint8Array
  /** The accumulator's frontier after the last record. */
  readonly frontierAfter: Uint8Array
  /** The ledger info that covers the records. Its signatures are not checked. */
  readonly ledger: SignedLedgerInfo
  /**
   * Proof that the ledger info commits to the state after the last block that ends in the chunk; undefined if it
   * commits to none.
   */
  readonly checkpoint: SignedCheckpoint | undefined
  /** Why transactions were not decoded; a few reasons at most. */
  readonly undecoded: readonly string[]
}

/**
 * Proves a chunk of transactions: the transaction hash, the event root and the state change hash of every record, and
 * that all records are in the ledger that the proof's ledger info names. See docs/ledger-formats.md, "Transaction
 * backup".
 * @param held frontier of the ledger read so far: the chunk has to continue it, or to pass through it
 * @throws `invalid_backup`, `verification_failed`, `ledger_fork` naming file, record and version
 */
export async function proveTransactionChunk(
  chunk: TransactionChunk,
  hasher: LedgerHasher,
  held: Uint8Array | undefined,
): Promise<ProvenTransactions> {
  const { path, firstVersion, lastVersion } = chunk
  const count = countRecords(chunk)
  const proof = await readRangeProof(chunk, hasher)
  const { frontier } = proof
  const heldFrontier = held && AccumulatorFrontier.fromBytes(hasher, TREE, held)
  const expectContinuity = () => {
    if (heldFrontier?.count !== frontier.count) return
    if (Buffer.compare(heldFrontier.toBytes(), frontier.toBytes()) !== 0) throw otherLedgerBefore(path, frontier.count)
  }
  const first = frontier.toBytes()
  const splits = new Uint32Array(2 * count)
  const leaves = new Uint8Array(HASH_LENGTH * count)
  const stateRoots = new Map<number, Uint8Array>()
  const reader = new RecordReader(hasher, chunk.hasAuxiliary)
  let blockEnd: BlockEnd | undefined
  let at = 0
  for await (const records of readRecords(path)) {
    for (const bytes of records) {
      if (at === count) throw invalidBackup.surplusRecords(path, count)
      expectContinuity()
      const { stateRoot, infoBytes } = atRecord(path, at, firstVersion, () =>
        proveRecord(bytes, reader, hasher, splits, at),
      )
      hasher.hashInto('TransactionInfo', infoBytes, leaves, at * HASH_LENGTH)
      if (stateRoot) {
        stateRoots.set(at, stateRoot)
        blockEnd = { before: frontier.clone(), transactionInfo: Uint8Array.from(infoBytes) }
      }
      frontier.append(leaves.subarray(at * HASH_LENGTH, (at + 1) * HASH_LENGTH))
      at++
    }
  }
  if (at < count) throw invalidBackup.missingRecords(path, at, count)
  expectContinuity()
  const root = frontier.rootWithin(Number(proof.ledger.version) + 1, proof.right)
  if (!root) throw invalidBackup.wrongSiblings(chunk.proofPath, 'right siblings', 'the last version')
  atFile(path, `versions ${firstVersion} to ${lastVersion}`, () => {
    expectHash(`the accumulator root of version ${proof.ledger.version}`, root, proof.ledger.accumulatorRoot)
  })
  const leafAt = (version: number) => {
    const place = (version - Number(firstVersion)) * HASH_LENGTH
    return leaves.subarray(place, place + HASH_LENGTH)
  }
  const checkpoint = blockEnd && checkpointAt(blockEnd, hasher, leafAt, Number(lastVersion), proof)
  const frontierAfter = frontier.toBytes()
  const { ledger } = proof
  const { undecoded } = reader
  return { splits, leaves, stateRoots, frontier: first, frontierAfter, ledger, checkpoint, undecoded }
}

/** The last version of a block. */
interface BlockEnd {
  /** The accumulator before the version. */
  readonly before: AccumulatorFrontier
  readonly transactionInfo: Uint8Array
}

function checkpointAt(
  { before, transactionInfo }: BlockEnd,
  hasher: LedgerHasher,
  leafAt: (version: number) => Uint8Array,
  last: number,
  { right, ledger }: { readonly right: readonly Uint8Array[]; readonly ledger: SignedLedgerInfo },
): SignedCheckpoint | undefined {
  const total = Number(ledger.version) + 1
  const siblings = accumulatorPath(hasher, { total, before, leafAt, last, rightOfLast: right })
  const version = BigInt(before.count)
  return siblings && { version, transactionInfo, siblings, ledgerInfo: signedLedgerInfoToBytes(ledger) }
}

/**
 * Proves all of a record except its place in the ledger. The write set is proven as bytes; whoever reads the chunk
 * decodes it.
 */
function proveRecord(
  bytes: Uint8Array,
  records: RecordReader,
  hasher: LedgerHasher,
  splits: Uint32Array,
  at: number,
): { readonly stateRoot: Uint8Array | undefined; readonly infoBytes: Uint8Array } {
  const reader = new ByteReader(bytes)
  const { transaction, info, infoBytes } = records.read(reader)
  expectHash('the event root', computeEventRoot(reader, hasher), info.eventRoot)
  splits[2 * at] = transaction.length
  splits[2 * at + 1] = reader.offset
  hasher.expectHash('the state change hash', 'WriteSet', bytes.subarray(reader.offset), info.stateChangeHash)
  const { stateRoot } = info
  return { stateRoot: stateRoot && Uint8Array.from(stateRoot), infoBytes }
}

/**
 * Number of records of a chunk, one for each version.
 * @throws `invalid_backup` if there are none, or more than a file can hold
 */
export function countRecords({ path, firstVersion, lastVersion }: TransactionChunk): number {
  const count = Number(lastVersion - firstVersion) + 1
  if (count < 1 || count > MAX_RECORDS || lastVersion >= MAX_LEAVES)
    throw invalidBackup.notAChunk(path, firstVersion, lastVersion)
  return count
}

/**
 * Reads the ledger info of a chunk's proof.
 * @throws `invalid_backup`
 */
export async function readChunkLedgerInfo(chunk: TransactionChunk, hasher: LedgerHasher): Promise<SignedLedgerInfo> {
  return (await readRangeProof(chunk, hasher)).ledger
}

async function readRangeProof({ proofPath, firstVersion, lastVersion }: TransactionChunk, hasher: LedgerHasher) {
  const { left, right, ledger } = await readProof(proofPath, (reader) => ({
    left: readHashes(reader),
    right: readHashes(reader),
    ledger: readLedgerInfo(reader),
  }))
  if (ledger.version < lastVersion) throw invalidBackup.proofEndsEarly(proofPath, ledger.version, lastVersion)
  const frontier = AccumulatorFrontier.fromSubtrees(hasher, TREE, Number(firstVersion), left)
  if (!frontier) throw invalidBackup.wrongSiblings(proofPath, 'left siblings', `version ${firstVersion}`)
  return { frontier, right, ledger }
}
