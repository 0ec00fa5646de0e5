import { Buffer } from 'node:buffer'
import { ByteReader, ByteWriter, isLedgerStateError, LedgerStateError } from '@ledger-state/core'
import { AccumulatorFrontier, MAX_LEAVES } from './accumulator.js'
import { readContent } from './compressed-file.js'
import { HASH_LENGTH, type LedgerHasher } from './ledger-hasher.js'
import { readLedgerInfo } from './ledger-info.js'
import { readRecords } from './record-file.js'
import { SparseMerkleFrontier } from './sparse-merkle.js'
import { readStateRecord } from './state-record.js'
import { readTransactionInfo } from './transaction-info.js'
import { expectHash, readEvents, readTransactionRecord } from './transaction-record.js'
import { readWriteSet } from './write-set.js'

const MAX_PROOF_BYTES = 16 * 1024 * 1024
const TREE = 'TransactionAccumulator'

export interface TransactionChunk {
  readonly path: string
  readonly proofPath: string
  readonly firstVersion: bigint
  readonly lastVersion: bigint
  /** Backup format V1: auxiliary info stands behind the transaction. */
  readonly hasAuxiliary: boolean
}

/** What a second reading of a proven chunk need not find out again. */
export interface ProvenTransactions {
  /** For each record where its transaction ends and where its write set begins. */
  readonly splits: Uint32Array
  /** Of each record the hash of its TransactionInfo: the leaves of the ledger's accumulator. */
  readonly leaves: Uint8Array
  /** The accumulator's frontier before the first record. */
  readonly frontier: Uint8Array
  /** The same behind the last record. */
  readonly frontierAfter: Uint8Array
}

/**
 * Proves a chunk of transactions: of every record the transaction hash, the event root and the state change hash; of
 * all of them that they stand in the ledger that the proof's ledger info names.
 * @param held frontier of the ledger so far: the chunk has to go on from it, or to pass through it
 * @throws `invalid_backup`, `verification_failed` naming file, record and version
 */
export async function proveTransactionChunk(
  chunk: TransactionChunk,
  hasher: LedgerHasher,
  held: Uint8Array | undefined,
): Promise<ProvenTransactions> {
  const { path, firstVersion, lastVersion } = chunk
  const count = recordCount(chunk)
  const proof = await readRangeProof(chunk, hasher)
  const { frontier } = proof
  const ahead = held && AccumulatorFrontier.fromBytes(hasher, TREE, held)
  const expectContinuity = () => {
    if (ahead?.count !== frontier.count || Buffer.compare(ahead.toBytes(), frontier.toBytes()) === 0) return
    const message = `${path}: the ledger before version ${frontier.count} is not the one that the store holds, or that was read before`
    throw new LedgerStateError('ledger_fork', message)
  }
  const first = frontier.toBytes()
  const splits = new Uint32Array(2 * count)
  const leaves = new Uint8Array(HASH_LENGTH * count)
  let at = 0
  for await (const records of readRecords(path)) {
    for (const bytes of records) {
      if (at === count) throw surplus(path, count)
      expectContinuity()
      const leaf = atRecord(path, at, firstVersion, () => proveRecord(bytes, hasher, chunk.hasAuxiliary, splits, at))
      leaves.set(leaf, at * HASH_LENGTH)
      frontier.append(leaf)
      at++
    }
  }
  if (at < count) throw new LedgerStateError('invalid_backup', `${path} ends after ${at} of ${count} records`)
  expectContinuity()
  const root = frontier.rootWithin(Number(proof.ledger.version) + 1, proof.right)
  if (!root) throw invalidProof(chunk.proofPath, 'its right siblings are not those of the last version')
  atFile(path, `versions ${firstVersion} to ${lastVersion}`, () => {
    expectHash(`the accumulator root of version ${proof.ledger.version}`, root, proof.ledger.accumulatorRoot)
  })
  return { splits, leaves, frontier: first, frontierAfter: frontier.toBytes() }
}

function proveRecord(
  bytes: Buffer,
  hasher: LedgerHasher,
  hasAuxiliary: boolean,
  splits: Uint32Array,
  at: number,
): Buffer {
  const reader = new ByteReader(bytes)
  const { transaction, info, infoBytes } = readTransactionRecord(reader, hasher, hasAuxiliary)
  expectHash('the event root', readEvents(reader, hasher)!, info.eventRoot)
  splits[2 * at] = transaction.length
  splits[2 * at + 1] = reader.offset
  expectHash('the state change hash', hasher.hash('WriteSet', bytes.subarray(reader.offset)), info.stateChangeHash)
  readWriteSet(reader)
  reader.expectEnd()
  return hasher.hash('TransactionInfo', infoBytes)
}

/** Versions of a chunk. @throws `invalid_backup` where they are none, or more than a file can hold */
export function recordCount({ path, firstVersion, lastVersion }: TransactionChunk): number {
  const count = Number(lastVersion - firstVersion) + 1
  if (count >= 1 && count <= 2 ** 28 && lastVersion < MAX_LEAVES) return count
  throw new LedgerStateError('invalid_backup', `${path}: versions ${firstVersion} to ${lastVersion} are no chunk`)
}

async function readRangeProof({ proofPath, firstVersion, lastVersion }: TransactionChunk, hasher: LedgerHasher) {
  const { left, right, ledger } = await readProof(proofPath, (reader) => ({
    left: readHashes(reader),
    right: readHashes(reader),
    ledger: readLedgerInfo(reader),
  }))
  if (ledger.version < lastVersion) {
    throw invalidProof(proofPath, `its ledger ends at version ${ledger.version}, before version ${lastVersion}`)
  }
  const frontier = AccumulatorFrontier.fromSubtrees(hasher, TREE, Number(firstVersion), left)
  if (!frontier) throw invalidProof(proofPath, `its left siblings are not those of version ${firstVersion}`)
  return { frontier, right, ledger }
}

export interface StateProof {
  /** Root of the state at the version. */
  readonly stateRoot: Buffer
  /** The ledger's accumulator up to and with the version. */
  readonly frontier: Uint8Array
}

/** Proves that a state root stands in the ledger at a version. @throws `invalid_backup`, `verification_failed` */
export async function proveStateRoot(proofPath: string, version: bigint, hasher: LedgerHasher): Promise<StateProof> {
  const { siblings, info, infoBytes, ledger } = await readProof(proofPath, (reader) => {
    const siblings = readHashes(reader)
    const start = reader.offset
    const info = readTransactionInfo(reader)
    return { siblings, info, infoBytes: reader.bytes.subarray(start, reader.offset), ledger: readLedgerInfo(reader) }
  })
  const left = siblings.filter((_, level) => (version >> BigInt(level)) % 2n === 1n)
  const right = siblings.filter((_, level) => (version >> BigInt(level)) % 2n === 0n)
  const frontier = AccumulatorFrontier.fromSubtrees(hasher, TREE, Number(version), left)
  frontier?.append(hasher.hash('TransactionInfo', infoBytes))
  const root = frontier?.rootWithin(Number(ledger.version) + 1, right)
  if (!frontier || !root) throw invalidProof(proofPath, `its siblings are not those of version ${version}`)
  atFile(proofPath, `version ${version}`, () => {
    expectHash(`the accumulator root of version ${ledger.version}`, root, ledger.accumulatorRoot)
  })
  if (!info.stateRoot) throw invalidProof(proofPath, `version ${version} has no state root`)
  return { stateRoot: info.stateRoot, frontier: frontier.toBytes() }
}

export interface StateChunk {
  readonly path: string
  readonly proofPath: string
  /** Entries of the state, counted from 0 in the order of their key hashes. */
  readonly firstIndex: bigint
  readonly lastIndex: bigint
  /** Whether the state ends with it. */
  readonly isLast: boolean
}

/**
 * Proves that the entries of a chunk are, behind those before it, the next of a state.
 * @param before the tree before the chunk, as this answered for the chunk before; undefined for the first
 * @throws `invalid_backup`, `verification_failed` naming file and record
 */
export async function proveStateChunk(
  { path, proofPath, firstIndex, lastIndex, isLast }: StateChunk,
  stateRoot: Buffer,
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
      if (index > lastIndex) throw surplus(path, at)
      atRecord(path, at, undefined, () => {
        const { key, stateValue } = readStateRecord(bytes)
        if (tree.append(hasher.hash('StateKey', key), hasher.hash('StateValue', stateValue))) return
        throw new LedgerStateError('invalid_backup', 'its key hash is not above the one before it')
      })
      index++
    }
  }
  if (index <= lastIndex) {
    const message = `${path} ends after ${index - firstIndex} of ${lastIndex - firstIndex + 1n} records`
    throw new LedgerStateError('invalid_backup', message)
  }
  const root = tree.rootWithin(right)
  if (!root) throw invalidProof(proofPath, 'its siblings are not those of the last entry')
  atFile(path, `entries ${firstIndex} to ${lastIndex}`, () => {
    expectHash('the state root', root, stateRoot)
    if (isLast) expectHash('the state root of all entries that the manifest lists', tree.root(), stateRoot)
  })
  const writer = new ByteWriter()
  tree.write(writer)
  return writer.toBytes()
}

async function readProof<T>(path: string, read: (reader: ByteReader) => T): Promise<T> {
  const bytes = await readContent(path, MAX_PROOF_BYTES)
  return atFile(path, 'the proof', () => read(new ByteReader(bytes)))
}

function readHashes(reader: ByteReader): Buffer[] {
  const hashes: Buffer[] = []
  for (let rest = reader.readLength(); rest > 0; rest--) hashes.push(reader.readBytes(HASH_LENGTH))
  return hashes
}

/** Runs `work`, whose faults are about a record of a file, counted from 0. */
export function atRecord<T>(path: string, record: number, firstVersion: bigint | undefined, work: () => T): T {
  const version = firstVersion === undefined ? '' : ` (version ${firstVersion + BigInt(record)})`
  return atFile(path, `record ${record}${version}`, work)
}

function atFile<T>(path: string, place: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!isLedgerStateError(error)) throw error
    const code = error.code === 'invalid_bcs' ? 'invalid_backup' : error.code
    throw new LedgerStateError(code, `${path}, ${place}: ${error.message}`, error.fields)
  }
}

function surplus(path: string, count: number): LedgerStateError {
  return new LedgerStateError('invalid_backup', `${path} holds more than the ${count} records that its manifest lists`)
}

function invalidProof(path: string, why: string): LedgerStateError {
  return new LedgerStateError('invalid_backup', `${path}: ${why}`)
}
