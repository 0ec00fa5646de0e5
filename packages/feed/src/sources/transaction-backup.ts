import { Buffer } from 'node:buffer'
import { dirname } from 'node:path'
import { ByteReader, isLedgerStateError, SizedCache, smaller } from '@ledger-state/core'
import {
  AccumulatorFrontier,
  HASH_LENGTH,
  LedgerHasher,
  readOutcome,
  readTransactionInfo,
  type SignedLedgerInfo,
} from '@ledger-state/proof'
import { readAuxiliaryInfo, readEvents } from '@ledger-state/proof/transactions'
import {
  checkpointToBytes,
  type KeptTransaction,
  readKeptTransaction,
  type TrustedState,
  type WholeTransaction,
} from '@ledger-state/records'
import type { PackedEpochChange } from '@ledger-state/records/epoch-change'
import { invalidBackup, signedLedgerDiffers } from '../errors.js'
import {
  type ManifestMembers,
  readBackupMetadata,
  readManifest,
  TRANSACTION_MANIFEST,
} from '../files/backup-directory.js'
import type { TransactionBackupEntry } from '../files/backup-entries.js'
import { atRecord } from '../files/backup-place.js'
import type { BackupStorage } from '../files/backup-storage.js'
import { type ChunkObjects, fetchChunkObjects, findChunkObjects } from '../files/chunk-objects.js'
import { fetchAhead } from '../files/fetch-ahead.js'
import { readRecords } from '../files/record-file.js'
import { createProver, type Prover } from '../proof/prover.js'
import {
  countRecords,
  type ProvenTransactions,
  readChunkLedgerInfo,
  type TransactionChunk,
} from '../proof/transaction-chunk-proof.js'
import { infoStartAfter, RecordReader } from '../proof/transaction-record.js'
import { LedgerClock } from '../wire/ledger-clock.js'
import { signedChainId } from '../wire/signed-chain-id.js'
import { readWriteSet } from '../wire/write-set.js'
import { openEpochEndings } from './epoch-endings.js'
import { SignatureVerifier } from './signature-verifier.js'
import type { LedgerSource, LedgerVersion, Reading, SignedRangeReading, SourceOptions } from './source.js'
import { TransactionEntries } from './transaction-entries.js'
import type { SignedVersion } from './trusted-state.js'
import { UndecodedNotices } from './undecoded-notices.js'

/**
 * Reads all transactions of a backup, which its metadata list.
 * @throws `invalid_backup`
 */
export async function openBackup(storage: BackupStorage, options: SourceOptions): Promise<LedgerSource> {
  const { transactions, snapshots, endings } = await readBackupMetadata(storage)
  if (transactions.length > 0) return new TransactionBackup(storage, transactions, options)
  if (options.endingsAlone && endings.length > 0) return openEpochEndings(storage, options)
  const state = snapshots.at(-1)
  throw invalidBackup.withoutTransactions(
    storage.root,
    state && { version: state.version, folder: dirname(state.manifest) },
  )
}

/**
 * Reads the transactions in one folder of a backup, without the metadata.
 * @throws `invalid_backup`
 */
export async function openTransactionFolder(
  storage: BackupStorage,
  folder: string,
  options: SourceOptions,
): Promise<LedgerSource> {
  const handle = `${folder}/${TRANSACTION_MANIFEST}`
  const manifest = await readManifest(storage, handle)
  const [firstVersion, lastVersion] = [manifest.version('first_version'), manifest.version('last_version')]
  return new TransactionBackup(storage, [{ firstVersion, lastVersion, manifest: handle }], options)
}

/** End of the part of a backup that is read. */
interface BackupEnd {
  /** Last version that is read. */
  readonly version?: bigint | undefined
  /** Microseconds since 1970. The first block that begins later ends the reading. */
  readonly timeUsec?: bigint | undefined
}

/** Reads some of the transactions of a backup. */
export function openTransactionEntries(
  storage: BackupStorage,
  entries: readonly TransactionBackupEntry[],
  end: BackupEnd,
  options: SourceOptions,
): LedgerSource {
  return new TransactionBackup(storage, entries, options, end)
}

/**
 * Time that readers must have waited for proofs before another thread starts. Starting one takes about 200 ms of CPU
 * time.
 */
const THREAD_PAYS_MS = 500

/** Bytes of remembered names of functions: a few hundred, as users of a network call in some minutes. */
const FUNCTIONS_BYTES = 256 * 1024

/** A chunk and its objects. */
interface StoredChunk extends ChunkObjects, Pick<TransactionChunk, 'firstVersion' | 'lastVersion' | 'hasAuxiliary'> {
  readonly entry: TransactionBackupEntry
}

/** A chunk with its files on this machine. */
interface FetchedChunk {
  readonly chunk: TransactionChunk
  readonly entry: TransactionBackupEntry
}

/** A chunk and the results of its proof, if there is a proof. */
interface ReadyChunk extends FetchedChunk {
  readonly proven: ProvenTransactions | undefined
}

/** A record that was read, with its place. */
interface ReadRecord extends Pick<LedgerVersion, 'version' | 'block' | 'writes'> {
  readonly record: Buffer
  /** Place of the record in its chunk. */
  readonly index: number
  readonly chunk: TransactionChunk
  readonly proven: ProvenTransactions | undefined
  readonly transactionLength: number
  readonly stateRoot: Uint8Array | undefined
}

/** A chunk with a started proof. */
interface ChunkUnderWay {
  readonly chunk: TransactionChunk
  /** Settles when the proof ends. An error is thrown in the chunk's turn. */
  readonly result: Promise<ReadyChunk>
}

class TransactionBackup implements LedgerSource {
  readonly description: string
  readonly #storage: BackupStorage
  readonly #entries: TransactionEntries
  readonly #end: BackupEnd
  readonly #hasher: LedgerHasher
  readonly #prover: Prover | undefined
  readonly #verifier: SignatureVerifier
  readonly #undecoded: UndecodedNotices
  readonly #functions = new SizedCache<string>(FUNCTIONS_BYTES)
  #chainId: number | undefined
  #position: string
  #frontier: AccumulatorFrontier | undefined
  #first: bigint | undefined
  #next: bigint | undefined
  #trustedState: TrustedState | undefined
  #markBefore: Uint8Array | undefined

  constructor(
    storage: BackupStorage,
    entries: readonly TransactionBackupEntry[],
    options: SourceOptions,
    end: BackupEnd = {},
  ) {
    this.#storage = storage
    this.#entries = new TransactionEntries(entries)
    this.#end = end
    this.#hasher = new LedgerHasher(options.hashSalt, { isBulk: true })
    this.#prover = options.verify === false ? undefined : createProver(this.#hasher, options.thread)
    this.#verifier = new SignatureVerifier(storage, this.#hasher, options)
    this.#undecoded = new UndecodedNotices(options.onNotice)
    this.#position = storage.root
    const last = this.#lastVersion
    this.description = `transaction backup (versions ${this.#entries.firstVersion} to ${last})`
  }

  get #lastVersion(): bigint {
    const last = this.#entries.lastVersion
    const { version = last } = this.#end
    return smaller(version, last)
  }

  get hashSalt(): string {
    return this.#hasher.salt
  }

  get chainId(): number | undefined {
    return this.#chainId
  }

  get position(): string {
    return this.#position
  }

  get mark(): Uint8Array | undefined {
    return this.#next === BigInt(this.#frontier?.count ?? -1) ? this.#frontier!.toBytes() : undefined
  }

  get markBefore(): Uint8Array | undefined {
    return this.#markBefore
  }

  get trustedState(): TrustedState | undefined {
    return this.#trustedState
  }

  async *signedPoints(reading: SignedRangeReading): AsyncGenerator<SignedVersion> {
    if (!this.#prover) return
    const { above, upTo, checkpointAbove } = reading
    const chunk = await this.#lateChunkWithin(smaller(above, checkpointAbove ?? above), upTo)
    const isWanted = chunk !== undefined && checkpointAbove !== undefined && chunk.firstVersion > checkpointAbove
    let next = above
    if (chunk && (isWanted || chunk.lastVersion > above)) {
      const proofPath = await this.#storage.localFile(chunk.proofName)
      const info = await readChunkLedgerInfo({ ...chunk, path: '', proofPath }, this.#hasher)
      const earliest = this.#verifier.earliestWaypoint(reading.trustedState, reading.chainId) ?? 0n
      if (earliest < info.version) {
        // This comes first: once the validators of the next epoch are known, the validators of the ledger info's epoch
        // are forgotten.
        for await (const point of this.#verifier.endingsWithin({
          ...reading,
          upTo: smaller(upTo, info.version - 1n),
        })) {
          yield point
          next = point.version
        }
      }
      if (earliest <= info.version) yield* this.#pointsOfChunk(chunk, proofPath, info, isWanted, reading)
    }
    for await (const point of this.#verifier.endingsWithin({ ...reading, above: next })) yield point
  }

  /** The points that the ledger info of a chunk shows. If it ends an epoch, `endingsWithin` yields that point. */
  async *#pointsOfChunk(
    chunk: StoredChunk,
    proofPath: string,
    info: SignedLedgerInfo,
    hasCheckpoint: boolean,
    { above, upTo, trustedState: held, chainId }: SignedRangeReading,
  ): AsyncGenerator<SignedVersion> {
    const trustedState = await this.#verifier.verify(proofPath, info, held, chainId)
    if (!trustedState) return
    if (hasCheckpoint) yield* this.#checkpointOf(chunk, trustedState)
    const { version, accumulatorRoot } = info
    if (version <= upTo && version > above && info.nextEpoch === undefined)
      yield { version, accumulatorRoot, trustedState }
  }

  /** Fetches and proves a chunk, for its checkpoint. */
  async *#checkpointOf(chunk: StoredChunk, trustedState: TrustedState): AsyncGenerator<SignedVersion> {
    const fetched = await this.#fetch(chunk)
    const proven = await this.#prover!.proveTransactions(fetched.chunk, undefined)
    await this.#storage.release(fetched.chunk.path)
    const { checkpoint } = proven
    if (!checkpoint) return
    const { version } = checkpoint
    const frontier = this.#frontierFrom(proven)
    for (let index = 0; index <= Number(version - chunk.firstVersion); index++) frontier.append(leafAt(proven, index))
    const accumulatorRoot = frontier.root()
    yield {
      version,
      accumulatorRoot,
      trustedState,
      checkpoint: checkpointToBytes(checkpoint),
      mark: frontier.toBytes(),
    }
  }

  takeEndings(): readonly PackedEpochChange[] {
    return this.#verifier.takeEndings()
  }

  get progress() {
    const first = this.#first ?? this.#entries.firstVersion
    const done = Number((this.#next ?? first) - first)
    const total = Number(this.#lastVersion - first) + 1
    return { done, total, unit: 'versions' as const, fetchedBytes: this.#storage.fetchedBytes }
  }

  async *versions(from: Reading = {}): AsyncGenerator<LedgerVersion> {
    const clock = await LedgerClock.at(from.read)
    const last = this.#lastVersion
    const { timeUsec: lastUsec } = this.#end
    for await (const { chunk, proven, entry } of this.#readyChunks(from)) {
      const frontier = proven && this.#frontierFrom(proven)
      if (proven) this.#undecoded.add(chunk.path, proven.undecoded)
      await this.#storage.keepTransactions?.(entry, chunk)
      const reader = new RecordReader(this.#hasher, chunk.hasAuxiliary)
      let at = 0
      let isVerified = proven === undefined
      let trustedState: TrustedState | undefined
      const verify = async () => {
        trustedState = await this.#verifier.verify(chunk.proofPath, proven!.ledger, from.trustedState, this.#chainId)
        isVerified = true
      }
      for await (const records of readRecords(chunk.path)) {
        for (const record of records) {
          const index = at++
          const version = chunk.firstVersion + BigInt(index)
          if (version > chunk.lastVersion) throw invalidBackup.surplusRecords(chunk.path, index)
          if (version > last) return
          // Ranges may overlap.
          if (version < (this.#next ?? from.version ?? 0n)) {
            frontier?.append(leafAt(proven!, index))
            continue
          }
          this.#position = `${chunk.path}, record ${index} (version ${version})`
          this.#first ??= version
          // Strangers do not choose how much memory writes take: the signatures come first, once a waypoint is known.
          if (!isVerified && this.#verifier.hasWaypoint(from.trustedState, this.#chainId)) await verify()
          const written = atRecord(chunk.path, index, chunk.firstVersion, () =>
            this.#readWrites(record, index, proven, reader),
          )
          const block = clock.advance(version, written.writes, record)
          this.#chainId ??= clock.state.chainId ?? signedChainId(record.subarray(0, written.transactionLength))
          if (!isVerified) await verify()
          if (lastUsec !== undefined && block && block.timestampUsec > lastUsec) return
          // Nothing fails from here on: until then, the mark belongs to the last version that was yielded.
          if (this.#next === undefined && version === (from.version ?? chunk.firstVersion) && version > 0n)
            this.#markBefore = frontier?.toBytes()
          frontier?.append(leafAt(proven!, index))
          this.#frontier = frontier
          this.#trustedState = trustedState
          this.#next = version + 1n
          yield this.#toVersion({ version, block, record, index, chunk, proven, ...written })
        }
      }
      const count = countRecords(chunk)
      if (at < count) throw invalidBackup.missingRecords(chunk.path, at, count)
      await this.#storage.release(chunk.path)
      await this.#storage.release(chunk.proofPath)
    }
  }

  #toVersion({ version, block, record, index, chunk, proven, ...written }: ReadRecord): LedgerVersion {
    const { writes, transactionLength, stateRoot } = written
    const { hasAuxiliary } = chunk
    const checkpoint = this.#trustedState && proven?.checkpoint?.version === version ? proven.checkpoint : undefined
    const writeSetStart = proven?.splits[2 * index + 1]
    return {
      version,
      block,
      writes,
      stateRoot,
      readTransaction: () => this.#readTransaction(record, transactionLength, hasAuxiliary),
      readWhole:
        writeSetStart === undefined
          ? undefined
          : () => ({
              ...readParts(record, transactionLength, writeSetStart, hasAuxiliary),
              leaf: leafAt(proven!, index),
              readFrontier: () => this.#frontier!.toBytes(),
            }),
      checkpoint: checkpoint && checkpointToBytes(checkpoint),
    }
  }

  #readWrites(record: Buffer, index: number, proven: ProvenTransactions | undefined, records: RecordReader) {
    const reader = new ByteReader(record)
    let transactionLength: number
    let stateRoot: Uint8Array | undefined
    if (proven) {
      stateRoot = proven.stateRoots.get(index)
      transactionLength = proven.splits[2 * index]!
      reader.offset = proven.splits[2 * index + 1]!
    } else {
      const { transaction, info, undecoded } = records.read(reader)
      if (undecoded !== undefined) this.#undecoded.add(this.#position, [undecoded])
      transactionLength = transaction.length
      stateRoot = info.stateRoot
      readEvents(reader)
    }
    const writes = readWriteSet(reader)
    reader.expectEnd()
    return { writes, transactionLength, stateRoot }
  }

  #readTransaction(record: Buffer, transactionLength: number, hasAuxiliary: boolean): KeptTransaction {
    const infoStart = infoStartAfter(record, transactionLength, hasAuxiliary)
    const outcome = readOutcome(record, infoStart)
    return readKeptTransaction(record.subarray(0, transactionLength), outcome, this.#functions)
  }

  #frontierFrom({ frontier }: ProvenTransactions): AccumulatorFrontier {
    return AccumulatorFrontier.fromBytes(this.#hasher, 'TransactionAccumulator', frontier)!
  }

  /**
   * Proves that each chunk continues the previous one. During the proof, earlier chunks are read and later ones
   * fetched. One chunk is proven ahead, and one more each time that readers have waited long enough for proofs that
   * another thread pays off.
   */
  async *#readyChunks(from: Reading): AsyncGenerator<ReadyChunk> {
    const underWay: ChunkUnderWay[] = []
    let ahead = 1
    /** Time waited for proofs; undefined until the first chunk was taken, which is always waited for. */
    let waitedMs: number | undefined
    const take = async (): Promise<ReadyChunk> => {
      const began = performance.now()
      const chunk = await underWay.shift()!.result
      waitedMs = waitedMs === undefined ? 0 : waitedMs + performance.now() - began
      if (waitedMs > THREAD_PAYS_MS) {
        if (this.#prover?.widen()) ahead++
        waitedMs = 0
      }
      return chunk
    }
    try {
      for await (const fetched of fetchAhead(
        this.#chunks(from.version),
        ({ bytes }) => bytes,
        (stored) => this.#fetch(stored),
      )) {
        const result = this.#prove(fetched, underWay.at(-1), from)
        result.catch(() => {})
        underWay.push({ chunk: fetched.chunk, result })
        if (underWay.length > ahead) yield await take()
      }
    } catch (error) {
      // The next chunk cannot be fetched, but those under way are whole.
      while (underWay.length > 0) yield await take()
      throw error
    }
    while (underWay.length > 0) yield await take()
  }

  async #prove(fetched: FetchedChunk, before: ChunkUnderWay | undefined, from: Reading): Promise<ReadyChunk> {
    const prover = this.#prover
    if (!prover) return { ...fetched, proven: undefined }
    const { chunk } = fetched
    if (before) return { ...fetched, proven: await proveAfter(prover, chunk, before) }
    try {
      return { ...fetched, proven: await prover.proveTransactions(chunk, from.mark) }
    } catch (error) {
      throw isLedgerStateError(error, 'ledger_fork') ? await this.#signedFork(chunk, from, error) : error
    }
  }

  /** Makes the files of a chunk available on this machine. */
  async #fetch(stored: StoredChunk): Promise<FetchedChunk> {
    const { firstVersion, lastVersion, hasAuxiliary, entry } = stored
    const files = await fetchChunkObjects(this.#storage, stored)
    return { chunk: { firstVersion, lastVersion, hasAuxiliary, ...files }, entry }
  }

  /**
   * The error for a first chunk that does not continue the store. If validators signed the chunk, the store is wrong.
   */
  async #signedFork(chunk: TransactionChunk, { trustedState }: Reading, fork: unknown): Promise<unknown> {
    const { ledger } = await this.#prover!.proveTransactions(chunk, undefined)
    const signed = await this.#verifier.verify(chunk.proofPath, ledger, trustedState, this.#chainId)
    return signed ? signedLedgerDiffers(chunk.path, signed.epoch, ledger.version) : fork
  }

  /** A late chunk with its last version in a range. */
  async #lateChunkWithin(above: bigint, upTo: bigint): Promise<StoredChunk | undefined> {
    const within = this.#entries.all.filter(
      ({ firstVersion, lastVersion }) => firstVersion <= upTo && lastVersion > above,
    )
    for (const entry of within.sort((a, b) => (a.lastVersion > b.lastVersion ? -1 : 1))) {
      const manifest = await readManifest(this.#storage, entry.manifest)
      const member = manifest.list('chunks').findLast((chunk) => {
        const last = chunk.version('last_version')
        return above < last && last <= upTo
      })
      if (member) return await this.#toChunk(member, entry)
    }
    return undefined
  }

  /** The chunk that holds a version, or else the first one after it, and all following chunks. */
  async *#chunks(from: bigint | undefined): AsyncGenerator<StoredChunk> {
    let next = from ?? this.#entries.firstVersion
    let began = false
    const last = this.#lastVersion
    for (let entry = this.#entryFor(next, began); entry && next <= last; entry = this.#entryFor(next, began)) {
      const manifest = await readManifest(this.#storage, entry.manifest)
      const start = next
      for (const { member, firstVersion } of chunksInOrder(manifest)) {
        // The manifest of a backup that was kept in part names more chunks than the backup has.
        if (member.version('last_version') < next || firstVersion > smaller(last, entry.lastVersion)) continue
        if (began && firstVersion > next) throw invalidBackup.missingVersions(member.place, next, firstVersion)
        const chunk = await this.#toChunk(member, entry)
        yield chunk
        began = true
        next = chunk.lastVersion + 1n
      }
      if (next === start && next <= last)
        throw invalidBackup.missingVersions(manifest.place, next, entry.lastVersion + 1n)
    }
  }

  /** The entry to read a version from. Before the first chunk was read, a later entry is allowed, too. */
  #entryFor(version: bigint, began: boolean): TransactionBackupEntry | undefined {
    const holding = this.#entries.holding(version)
    if (holding) return holding
    const later = this.#entries.after(version)
    if (later && began) throw invalidBackup.missingVersions(this.#storage.root, version, later.firstVersion)
    return later
  }

  async #toChunk(member: ManifestMembers, entry: TransactionBackupEntry): Promise<StoredChunk> {
    const format = member.optionalText('format') ?? 'V0'
    if (format !== 'V0' && format !== 'V1') throw invalidBackup.unknownChunkFormat(member.place, format)
    const proofHandle = this.#prover ? member.fileName('proof') : ''
    const objects = await findChunkObjects(this.#storage, member.fileName('transactions'), proofHandle)
    return {
      ...objects,
      entry,
      firstVersion: member.version('first_version'),
      lastVersion: member.version('last_version'),
      hasAuxiliary: format === 'V1',
    }
  }

  async close(): Promise<void> {
    await this.#prover?.close()
    await this.#verifier.close()
    await this.#storage.close()
  }
}

/**
 * The chunks that a manifest lists.
 * @throws `invalid_backup` if they are not in the order of their versions
 */
function chunksInOrder(manifest: ManifestMembers) {
  const chunks = manifest.list('chunks').map((member) => ({ member, firstVersion: member.version('first_version') }))
  for (const [at, { member, firstVersion }] of chunks.entries()) {
    const before = chunks[at - 1]?.firstVersion
    if (before !== undefined && firstVersion < before)
      throw invalidBackup.chunksOutOfOrder(member.place, firstVersion, before)
  }
  return chunks
}

/** The parts of a record. */
function readParts(
  record: Buffer,
  transactionLength: number,
  writeSetStart: number,
  hasAuxiliary: boolean,
): Omit<WholeTransaction, 'leaf' | 'readFrontier'> {
  const reader = new ByteReader(record, transactionLength)
  const indexInBlock = hasAuxiliary ? readAuxiliaryInfo(reader).transactionIndex : undefined
  const infoStart = reader.offset
  readTransactionInfo(reader)
  return {
    transaction: record.subarray(0, transactionLength),
    info: record.subarray(infoStart, reader.offset),
    events: record.subarray(reader.offset, writeSetStart),
    writeSet: record.subarray(writeSetStart),
    indexInBlock,
  }
}

/** Proves that a chunk continues the previous one. The proof of the previous one may still be running. */
async function proveAfter(prover: Prover, chunk: TransactionChunk, before: ChunkUnderWay): Promise<ProvenTransactions> {
  const isNext = chunk.firstVersion === before.chunk.lastVersion + 1n
  const early = isNext ? prover.proveTransactions(chunk, undefined).catch(() => undefined) : undefined
  const held = (await before.result).proven!.frontierAfter
  const proven = await early
  if (proven && Buffer.compare(proven.frontier, held) === 0) return proven
  // Either chunks overlap or the proof fails; the proof against `held` shows which.
  return await prover.proveTransactions(chunk, held)
}

function leafAt({ leaves }: ProvenTransactions, index: number): Buffer {
  const start = index * HASH_LENGTH
  return Buffer.from(leaves.buffer, leaves.byteOffset + start, HASH_LENGTH)
}
