import { Buffer } from 'node:buffer'
import { ByteReader, ByteWriter, isLedgerStateError, type KeyedEntry } from '@ledger-state/core'
import { HASH_LENGTH, LedgerHasher } from '@ledger-state/proof'
import { checkpointToBytes, noteToAnnotation, type TrustedState } from '@ledger-state/records'
import { invalidBackup, verificationFailed } from '../errors.js'
import { type ManifestMembers, readManifest, resolveBackupFile, STATE_MANIFEST } from '../files/backup-directory.js'
import { atRecord } from '../files/backup-place.js'
import type { BackupStorage } from '../files/backup-storage.js'
import { type ChunkObjects, fetchChunkObjects, findChunkObjects } from '../files/chunk-objects.js'
import { fetchAhead } from '../files/fetch-ahead.js'
import { readRecords } from '../files/record-file.js'
import { createProver, type Prover } from '../proof/prover.js'
import { type ProvenStateRoot, proveStateRoot, type StateChunk } from '../proof/state-proof.js'
import { LedgerClock } from '../wire/ledger-clock.js'
import { readStateRecord } from '../wire/state-record.js'
import { SignatureVerifier } from './signature-verifier.js'
import type { LedgerSource, SourceOptions, StateBase, StateDescription, StatePart } from './source.js'

/** Most entries of a part. */
const PART_ENTRIES = 5_000
/** A part ends at the entry with which its keys and values reach this length: values have up to 32 MB each. */
const PART_BYTES = 8 * 1024 * 1024

/**
 * Reads a folder with a `state.manifest`: the whole state at a version.
 * @throws `invalid_backup`, `verification_failed`
 */
export async function openStateSnapshot(
  storage: BackupStorage,
  folder: string,
  options: SourceOptions,
  { verifyEarly = true }: { readonly verifyEarly?: boolean } = {},
): Promise<LedgerSource> {
  const hasher = new LedgerHasher(options.hashSalt)
  const described = await readDescription(storage, `${folder}/${STATE_MANIFEST}`, hasher, options.verify !== false)
  const { version, chunks, proof } = described
  const prover = proof && createProver(hasher, options.thread)
  const verifier = new SignatureVerifier(storage, hasher, options)
  const signatures = new StateSignatures(verifier, proof)
  const closeReaders = async (): Promise<void> => {
    await prover?.close()
    await verifier.close()
  }
  try {
    if (verifyEarly) await signatures.verifyEarly()
  } catch (error) {
    await closeReaders()
    throw error
  }
  const snapshot = new Snapshot(storage, described, proof && { ...proof, prover: prover! }, signatures)
  return {
    description: `state snapshot at version ${version}`,
    get chainId() {
      return snapshot.clock.state.chainId
    },
    base: snapshot,
    get position() {
      return snapshot.position
    },
    get mark() {
      return proof?.frontier
    },
    get trustedState() {
      return snapshot.trustedState
    },
    hashSalt: hasher.salt,
    takeEndings: () => verifier.takeEndings(),
    get progress() {
      const total = Number(chunks.at(-1)!.lastIndex) + 1
      return { done: snapshot.done, total, unit: 'entries' as const, fetchedBytes: storage.fetchedBytes }
    },
    /** A snapshot has a state and no versions. */
    async *versions() {},
    async close() {
      await closeReaders()
      await storage.close()
    },
  }
}

/** The content of a manifest, with the proof of its state root. */
interface Description {
  /** Place of the manifest, for errors. */
  readonly place: string
  /** Name of the manifest, as metadata have it. */
  readonly handle: string
  readonly version: bigint
  readonly epoch: bigint
  readonly stateRoot: Uint8Array
  readonly chunks: readonly ListedChunk[]
  /** Undefined if the snapshot is not verified. */
  readonly proof: (ProvenStateRoot & { readonly path: string }) | undefined
}

async function readDescription(
  storage: BackupStorage,
  handle: string,
  hasher: LedgerHasher,
  verify: boolean,
): Promise<Description> {
  const manifest = await readManifest(storage, handle)
  const version = manifest.version('version')
  const path = verify ? await resolveBackupFile(storage, manifest.fileName('proof')) : ''
  const proof = verify ? { ...(await proveStateRoot(path, version, hasher)), path } : undefined
  const stateRoot = manifest.hash('root_hash')
  if (proof && Buffer.compare(proof.stateRoot, stateRoot) !== 0) {
    throw verificationFailed.manifestStateRootDiffers(manifest.place, stateRoot, proof.stateRoot)
  }
  const chunks = manifest.list('chunks').map(
    (member): ListedChunk => ({
      handle: member.fileName('blobs'),
      proofHandle: verify ? member.fileName('proof') : '',
      firstIndex: member.version('first_idx'),
      lastIndex: member.version('last_idx'),
    }),
  )
  expectContiguous(storage, manifest, chunks)
  const epoch = manifest.version('epoch')
  if (proof && proof.ledger.version === version && proof.ledger.epoch !== epoch) {
    throw verificationFailed.otherEpoch(manifest.place, epoch, proof.ledger.epoch)
  }
  return { place: manifest.place, handle, version, epoch, stateRoot, chunks, proof }
}

/** Finds the validators that signed the state. */
class StateSignatures {
  readonly #verifier: SignatureVerifier
  readonly #proof: Description['proof']
  #early: TrustedState | undefined

  constructor(verifier: SignatureVerifier, proof: Description['proof']) {
    this.#verifier = verifier
    this.#proof = proof
  }

  /**
   * Verifies the signatures before the state is read, if a waypoint is given: only the end of the state shows its
   * network.
   */
  async verifyEarly(): Promise<void> {
    if (this.#verifier.hasWaypoint(undefined, undefined)) this.#early ??= await this.#verify(undefined)
  }

  /** Verifies the signatures of a state that was read, with the chain id that it has. */
  async verifyWith(chainId: number | undefined): Promise<TrustedState | undefined> {
    return this.#early ?? (await this.#verify(chainId))
  }

  async #verify(chainId: number | undefined): Promise<TrustedState | undefined> {
    const proof = this.#proof
    return proof && (await this.#verifier.verify(proof.path, proof.ledger, undefined, chainId))
  }
}

/** A chunk as a manifest lists it. */
interface ListedChunk extends Pick<StateChunk, 'firstIndex' | 'lastIndex'> {
  /** Name of the object with the entries, possibly without the suffix of a compression. */
  readonly handle: string
  /** Name of the object with the proof; empty if the snapshot is not verified. */
  readonly proofHandle: string
}

/** A chunk and its objects. */
interface StoredChunk extends ChunkObjects, Pick<StateChunk, 'firstIndex' | 'lastIndex' | 'isLast'> {}

/** A chunk that is being proven. */
interface ProvenChunk {
  readonly chunk: StateChunk
  /** The trees before and after the chunk. */
  readonly tree: Uint8Array | undefined
  readonly treeAfter: Promise<Uint8Array | undefined>
}

/** Finds the objects of chunks one by one: a manifest lists 100,000 of them, and a backup may be far away. */
async function* storedChunks(storage: BackupStorage, chunks: readonly ListedChunk[]): AsyncGenerator<StoredChunk> {
  for (const [at, { handle, proofHandle, firstIndex, lastIndex }] of chunks.entries()) {
    const objects = await findChunkObjects(storage, handle, proofHandle)
    yield { ...objects, firstIndex, lastIndex, isLast: at === chunks.length - 1 }
  }
}

function expectContiguous(storage: BackupStorage, manifest: ManifestMembers, chunks: readonly ListedChunk[]): void {
  let next = 0n
  for (const { handle, firstIndex, lastIndex } of chunks) {
    if (firstIndex !== next || lastIndex < firstIndex) {
      throw invalidBackup.unexpectedEntries(manifest.place, storage.placeOf(handle), [firstIndex, lastIndex], next)
    }
    next = lastIndex + 1n
  }
  if (next === 0n) throw invalidBackup.noStateChunks(manifest.place)
}

interface Proof extends ProvenStateRoot {
  readonly prover: Prover
}

/** Place at which reading resumes. */
interface SnapshotMark {
  /** Index of the next entry. */
  readonly next: bigint
  /** Index of the first entry of the chunk that holds the next one. */
  readonly chunkStart: bigint
  /** The tree before that chunk; undefined before the first chunk, and if nothing is proven. */
  readonly tree: Uint8Array | undefined
}

class Snapshot implements StateBase {
  readonly version: bigint
  readonly complete = true
  readonly stateRoot: Uint8Array
  position = ''
  done = 0
  clock = new LedgerClock()
  trustedState: TrustedState | undefined
  readonly #storage: BackupStorage
  readonly #described: Description
  readonly #proof: Proof | undefined
  readonly #signatures: StateSignatures

  constructor(storage: BackupStorage, described: Description, proof: Proof | undefined, signatures: StateSignatures) {
    this.#storage = storage
    this.#described = described
    this.version = described.version
    this.stateRoot = described.stateRoot
    this.#proof = proof
    this.#signatures = signatures
  }

  get checkpoint(): Uint8Array | undefined {
    return this.trustedState && this.#proof && checkpointToBytes(this.#proof.checkpoint)
  }

  async *parts(after: Uint8Array | undefined): AsyncGenerator<StatePart> {
    await this.#signatures.verifyEarly()
    const mark = after && this.#readMark(after)
    const next = mark?.next ?? 0n
    const { chunks } = this.#described
    const holding = chunks.findIndex(({ lastIndex }) => lastIndex >= next)
    if (holding < 0) {
      this.trustedState = await this.#signatures.verifyWith(this.clock.state.chainId)
      return
    }
    // Another backup of the same ledger may cut its chunks elsewhere. Then all of them are proven again.
    const isTreeKnown = !this.#proof || !mark || mark.chunkStart === chunks[holding]!.firstIndex
    const [unread, treeBefore] = isTreeKnown ? [chunks.slice(holding), mark?.tree] : [chunks, undefined]
    let before: ProvenChunk | undefined
    try {
      for await (const chunk of fetchAhead(
        storedChunks(this.#storage, unread),
        ({ bytes }) => bytes,
        (stored) => this.#fetch(stored),
      )) {
        const tree = before ? await before.treeAfter : treeBefore
        // The next chunk is proven while this one is read. An error of the proof is thrown in its turn.
        const treeAfter = this.#prove(chunk, tree)
        treeAfter.catch(() => {})
        if (before) yield* this.#readChunk(before, next, tree)
        before = { chunk, tree, treeAfter }
      }
    } catch (error) {
      // The next chunk cannot be fetched, but this one is whole.
      if (before) yield* this.#readChunk(before, next, await before.treeAfter)
      throw error
    }
    yield* this.#readChunk(before!, next, await before!.treeAfter)
    await this.#storage.keepSnapshot?.(
      { version: this.version, manifest: this.#described.handle },
      this.#described.epoch,
    )
    this.trustedState = await this.#signatures.verifyWith(this.clock.state.chainId)
  }

  async #fetch(chunk: StoredChunk): Promise<StateChunk> {
    const { firstIndex, lastIndex, isLast } = chunk
    return { firstIndex, lastIndex, isLast, ...(await fetchChunkObjects(this.#storage, chunk)) }
  }

  async #prove(chunk: StateChunk, before: Uint8Array | undefined): Promise<Uint8Array | undefined> {
    if (!this.#proof) return undefined
    const treeAfter = await this.#proof.prover.proveState(chunk, this.#proof.stateRoot, before)
    await this.#storage.release(chunk.proofPath)
    return treeAfter
  }

  async *#readChunk(
    { chunk, tree }: ProvenChunk,
    from: bigint,
    treeAfter: Uint8Array | undefined,
  ): AsyncGenerator<StatePart> {
    const { path } = chunk
    let index = chunk.firstIndex
    let entries: KeyedEntry[] = []
    let bytes = 0
    const part = (): StatePart => {
      const isEnd = index > chunk.lastIndex
      const place = isEnd ? { chunkStart: index, tree: treeAfter } : { chunkStart: chunk.firstIndex, tree }
      const taken = { entries, mark: this.#writeMark({ next: index, ...place }) }
      entries = []
      bytes = 0
      this.done = Number(index)
      return taken
    }
    for await (const records of readRecords(path)) {
      for (const record of records) {
        const at = Number(index - chunk.firstIndex)
        if (index > chunk.lastIndex) throw invalidBackup.surplusRecords(path, at)
        index++
        if (index <= from) continue
        this.position = `${path}, record ${at}`
        const { key, value, metadata } = atRecord(path, at, undefined, () => readStateRecord(record))
        const annotation = noteToAnnotation({ metadata, isCreation: false })
        this.clock.observeEntry(key, value)
        entries.push({ key, version: this.version, value, ...(annotation && { annotation }) })
        bytes += key.length + value.length
        if (entries.length === PART_ENTRIES || bytes >= PART_BYTES) yield part()
      }
    }
    if (index <= chunk.lastIndex) {
      throw invalidBackup.missingRecords(path, index - chunk.firstIndex, chunk.lastIndex - chunk.firstIndex + 1n)
    }
    await this.#storage.release(path)
    if (index > from) yield part()
  }

  describe(): StateDescription {
    const { place, epoch: ending } = this.#described
    const { chainId, height, timestampUsec, epoch } = this.clock.state
    if (chainId === undefined || height === undefined || timestampUsec === undefined) {
      throw invalidBackup.stateWithoutBlock(this.version)
    }
    if (epoch !== undefined && epoch !== ending && epoch !== ending + 1n) {
      throw verificationFailed.otherEpochInState(place, ending, epoch)
    }
    // A snapshot is taken at the end of an epoch. The state already names the next epoch; the manifest names the ending
    // epoch.
    return { chainId, block: { height, epoch: ending, timestampUsec }, mark: this.#proof?.frontier }
  }

  // Layout of a mark: 32 bytes state root | u64 next entry | u64 first entry of its chunk | options of u8 chain id,
  // u64 height, u64 epoch, u64 time | option of the tree, as `SparseMerkleFrontier.write` | bool whether the entries are proven
  #writeMark({ next, chunkStart, tree }: SnapshotMark): Uint8Array {
    const writer = new ByteWriter().bytes(this.stateRoot).u64(next).u64(chunkStart)
    const { chainId, height, epoch, timestampUsec } = this.clock.state
    writer.bool(chainId !== undefined)
    if (chainId !== undefined) writer.u8(chainId)
    for (const number of [height, epoch, timestampUsec]) {
      writer.bool(number !== undefined)
      if (number !== undefined) writer.u64(number)
    }
    writer.bool(tree !== undefined)
    if (tree) writer.byteString(tree)
    return writer.bool(this.#proof !== undefined).toBytes()
  }

  #readMark(bytes: Uint8Array): SnapshotMark {
    const { place } = this.#described
    const mark = decodeMark(bytes)
    if (!mark) throw verificationFailed.otherSourceBegun(place)
    const { stateRoot, clock, isProven } = mark
    if (Buffer.compare(stateRoot, this.stateRoot) !== 0)
      throw verificationFailed.otherStateBegun(place, this.version, this.stateRoot, stateRoot)
    if (this.#proof && !isProven) throw verificationFailed.begunWithoutProofs(place)
    this.clock = clock
    return mark
  }
}

/** Decodes a mark; undefined for one of another kind of source. Its layout is above `#writeMark`. */
function decodeMark(bytes: Uint8Array) {
  const reader = new ByteReader(bytes)
  const u64 = (): bigint => reader.readU64()
  try {
    const stateRoot = reader.readBytes(HASH_LENGTH)
    const [next, chunkStart] = [u64(), u64()]
    const chainId = reader.readOption(() => reader.readU8())
    const [height, epoch, timestampUsec] = [reader.readOption(u64), reader.readOption(u64), reader.readOption(u64)]
    const tree = reader.readOption(() => reader.readByteString())
    const isProven = reader.remaining === 0 || reader.readBool()
    reader.expectEnd()
    const clock = new LedgerClock({ chainId, height, epoch, timestampUsec })
    return { stateRoot, next, chunkStart, tree, clock, isProven }
  } catch (error) {
    if (isLedgerStateError(error, 'invalid_bcs')) return undefined
    throw error
  }
}
