import { Buffer } from 'node:buffer'
import { Readable } from 'node:stream'
import { ByteReader, bytesToHexDigits, isLedgerStateError, Lazy, larger, smaller } from '@ledger-state/core'
import { LedgerHasher, readLedgerInfo } from '@ledger-state/proof'
import type { BucketRequestOptions } from '../buckets/bucket-requests.js'
import { Spool } from '../buckets/spool.js'
import { sourceFailed } from '../errors.js'
import type { BackupStorage, ByteRange, StoredObject } from '../files/backup-storage.js'
import { readRecords } from '../files/record-file.js'
import { proveStateRoot } from '../proof/state-proof.js'
import { readTransactionRecord } from '../proof/transaction-record.js'
import { readStateRecord } from '../wire/state-record.js'
import { firstHeld } from './first-held.js'
import { METADATA_NAME, manifestOf, nameOf, parseName, type ServiceName, STRETCH_VERSIONS } from './service-names.js'
import { type PrunedCheck, ServiceRequests } from './service-requests.js'

/** Versions of a chunk. On mainnet they take 46 MB. */
const CHUNK_VERSIONS = 20_000n
const CHUNK_ENTRIES = 100_000

/** Estimated bytes of a version and of an entry. They decide how many chunks are fetched at once. */
const VERSION_BYTES = 2_300
const ENTRY_BYTES = 300

export interface ServiceStorageOptions extends BucketRequestOptions {
  readonly hashSalt?: string | undefined
  readonly sourceFolder?: string | undefined
}

/** Bounds of the numbers that a node may claim, so that manifests made from them stay small. */
const MOST_VERSIONS = 10n ** 12n
const MOST_EPOCHS = 10n ** 6n
const MOST_ENTRIES = 10n ** 11n

/** The version and epoch of the newest ledger info of a node, or of an epoch change. */
interface EpochVersion {
  readonly epoch: bigint
  readonly version: bigint
}

/** Data that a node has not pruned. */
interface Holdings {
  readonly oldestVersion: bigint
  /** Epoch changes for which the node has the state and all later transactions. */
  readonly states: readonly EpochVersion[]
}

/**
 * The backup service of a node, shown as the backup that the backup tools would write from it. Names and manifests are
 * made here; chunks and proofs are the node's answers. The backup lacks pruned data of the node. The service has no
 * byte ranges, so a transfer that is cut starts over.
 */
export class ServiceStorage implements BackupStorage {
  readonly root: string
  readonly #requests: ServiceRequests
  readonly #spool: Spool
  readonly #hasher: LedgerHasher
  readonly #state = new Lazy(() => this.#readState())
  /** The format of the newest version, which every node has; it may have pruned any other. */
  readonly #format = new Lazy(() => this.#findFormat())
  readonly #ends = new Lazy(() => this.#readEnds())
  readonly #held = new Lazy(() => this.#findHoldings())

  /** @param url of the service, without a slash at its end */
  constructor(url: string, options: ServiceStorageOptions) {
    this.root = `backup+${url}`
    this.#requests = new ServiceRequests(url, options)
    this.#spool = new Spool(options.sourceFolder)
    this.#hasher = new LedgerHasher(options.hashSalt)
  }

  get fetchedBytes(): number {
    return this.#requests.fetchedBytes
  }

  placeOf(name: string): string {
    return name === '' ? this.root : `${this.root}/${name}`
  }

  async *list(folder: string): AsyncGenerator<StoredObject, void> {
    if (folder === 'metadata') yield await this.#object(METADATA_NAME)
    const manifest = parseName(manifestOf(folder))
    if (!manifest || manifest.kind === 'endings') return
    const { chunks, proof } = JSON.parse((await this.#text(manifest)).toString()) as {
      chunks: readonly Readonly<Record<string, string>>[]
      proof?: string
    }
    for (const chunk of chunks) {
      yield await this.#object((chunk.transactions ?? chunk.blobs)!)
      yield await this.#object(chunk.proof!)
    }
    if (proof !== undefined) yield await this.#object(proof)
  }

  async find(name: string): Promise<StoredObject | undefined> {
    return name === METADATA_NAME || parseName(name) ? await this.#object(name) : undefined
  }

  open(name: string, { from, to }: ByteRange = { from: 0 }): Readable {
    return Readable.from(this.#read(name, from, to ?? Number.POSITIVE_INFINITY), { objectMode: false })
  }

  async localFile(name: string): Promise<string> {
    return await this.#spool.copy(name, () => Readable.from(this.#content(name), { objectMode: false }))
  }

  async release(path: string): Promise<void> {
    await this.#spool.release(path)
  }

  async close(): Promise<void> {
    this.#requests.close()
    await this.#spool.close()
  }

  async #object(name: string): Promise<StoredObject> {
    const parsed = parseName(name)
    const count = parsed ? Number(parsed.last - parsed.first) + 1 : 0
    const isChunk = name.endsWith('.chunk')
    const each = parsed?.kind === 'state' ? ENTRY_BYTES : VERSION_BYTES
    return { name, bytes: isChunk ? count * each : 2_000, isEstimate: true }
  }

  async *#read(name: string, from: number, to: number): AsyncGenerator<Buffer, void> {
    let at = 0
    for await (const piece of this.#content(name)) {
      const part = piece.subarray(Math.max(0, from - at), Math.max(0, to - at))
      at += piece.length
      if (part.length > 0) yield part
      if (at >= to) return
    }
  }

  async *#content(name: string): AsyncGenerator<Buffer, void> {
    const parsed = name === METADATA_NAME ? undefined : parseName(name)
    if (!parsed || parsed.part === 'manifest') {
      yield parsed ? await this.#text(parsed) : await this.#metadata()
      return
    }
    const { path, records } = await this.#endpointOf(parsed)
    const pruned = this.#prunedCheck(parsed)
    if (records === undefined) yield await this.#requests.small(path, pruned)
    else yield* this.#requests.records(path, records, pruned)
  }

  /** Check whether an object has been pruned, as a node prunes while it is read. */
  #prunedCheck({ kind, first, version }: ServiceName): PrunedCheck | undefined {
    if (kind === 'transactions') {
      return async () => {
        if (await this.#holdsVersion(first)) return undefined
        this.#held.clear()
        return sourceFailed.servicePruned(this.root, first, (await this.#held.get()).oldestVersion)
      }
    }
    if (kind !== 'state') return undefined
    return async () => ((await this.#holdsState(version!)) ? undefined : sourceFailed.statePruned(this.root, version!))
  }

  async #holdsVersion(version: bigint): Promise<boolean> {
    return await this.#requests.holds(`transactions/${version}/1`)
  }

  async #holdsState(version: bigint): Promise<boolean> {
    return await this.#requests.holds(`state_item_count/${version}`)
  }

  async #endpointOf(name: ServiceName): Promise<{ readonly path: string; readonly records?: number }> {
    const { kind, part, first, last, version } = name
    const count = Number(last - first) + 1
    if (kind === 'endings') return { path: `epoch_ending_ledger_infos/${first}/${last + 1n}`, records: count }
    if (kind === 'transactions') {
      if (part === 'proof') return { path: `transaction_range_proof/${first}/${last}` }
      return { path: `transactions/${first}/${count}`, records: count }
    }
    if (part === 'root') return { path: `state_root_proof/${version}` }
    if (part === 'chunk') return { path: `state_snapshot_chunk/${version}/${first}/${count}`, records: count }
    const key = await this.#lastKey(nameOf({ ...name, part: 'chunk' }))
    return { path: `state_range_proof/${version}/${key}` }
  }

  /** Hash of the last key of a chunk of a state; the request for the chunk's proof names it. */
  async #lastKey(chunk: string): Promise<string> {
    let last: Buffer | undefined
    for await (const records of readRecords(await this.localFile(chunk))) last = records.at(-1) ?? last
    return bytesToHexDigits(this.#hasher.hash('StateKey', readStateRecord(last!).key))
  }

  async #metadata(): Promise<Buffer> {
    const { epoch, version } = await this.#state.get()
    const { oldestVersion, states } = await this.#held.get()
    const lines: object[] = []
    for (let first = oldestVersion; first <= version; first = stretchOf(first) + STRETCH_VERSIONS) {
      const last = smaller(version, stretchOf(first) + STRETCH_VERSIONS - 1n)
      const manifest = nameOf({ kind: 'transactions', part: 'manifest', first, last: 0n })
      lines.push({ TransactionBackup: { first_version: Number(first), last_version: Number(last), manifest } })
    }
    const ends = await this.#ends.get()
    if (ends.length > 0) {
      const manifest = nameOf({ kind: 'endings', part: 'manifest', first: 0n, last: 0n })
      const epochs = { first_epoch: 0, last_epoch: Number(epoch) - 1 }
      const versions = { first_version: Number(ends[0]!.version), last_version: Number(ends.at(-1)!.version) }
      lines.push({ EpochEndingBackup: { ...epochs, ...versions, manifest } })
    }
    for (const end of states) {
      const manifest = nameOf({ kind: 'state', part: 'manifest', ...end, first: 0n, last: 0n })
      lines.push({ StateSnapshotBackup: { epoch: Number(end.epoch), version: Number(end.version), manifest } })
    }
    return Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  }

  async #text(name: ServiceName): Promise<Buffer> {
    const { kind } = name
    if (kind === 'endings') {
      const last = (await this.#state.get()).epoch - 1n
      const chunk = nameOf({ kind, part: 'chunk', first: 0n, last })
      const epochs = { first_epoch: 0, last_epoch: Number(last) }
      return json({ ...epochs, waypoints: [], chunks: [{ ...epochs, ledger_infos: chunk }] })
    }
    return kind === 'state' ? await this.#stateManifest(name) : await this.#transactionManifest(name)
  }

  async #transactionManifest({ first: stretch }: ServiceName): Promise<Buffer> {
    const { version: newest } = await this.#state.get()
    const { oldestVersion, states } = await this.#held.get()
    const first = larger(stretch, oldestVersion)
    const last = smaller(newest, stretch + STRETCH_VERSIONS - 1n)
    const format = await this.#format.get()
    // A chunk ends at the oldest state, so that the versions after it can be read once the node prunes those before it.
    const oldestState = states[0]?.version ?? last
    const chunks: object[] = []
    for (let from = first; from <= last; ) {
      const end = smaller(last, from - (from % CHUNK_VERSIONS) + CHUNK_VERSIONS - 1n)
      const to = from <= oldestState ? smaller(end, oldestState) : end
      const range = { kind: 'transactions', first: from, last: to } as const
      chunks.push({
        first_version: Number(from),
        last_version: Number(to),
        transactions: nameOf({ ...range, part: 'chunk' }),
        proof: nameOf({ ...range, part: 'proof' }),
        format,
      })
      from = to + 1n
    }
    return json({ first_version: Number(first), last_version: Number(last), chunks })
  }

  async #stateManifest(name: ServiceName): Promise<Buffer> {
    const version = name.version!
    const counted = await this.#requests.small(`state_item_count/${version}`, this.#prunedCheck(name))
    const entries = new ByteReader(counted).readU64()
    this.#expectPlausible('entries of a state', entries, MOST_ENTRIES)
    const count = Number(entries)
    const proof = nameOf({ ...name, part: 'root' })
    const { stateRoot } = await proveStateRoot(await this.localFile(proof), version, this.#hasher)
    const chunks: object[] = []
    for (let from = 0; from < count; from += CHUNK_ENTRIES) {
      const range = { ...name, first: BigInt(from), last: BigInt(Math.min(count, from + CHUNK_ENTRIES) - 1) }
      chunks.push({
        first_idx: from,
        last_idx: Number(range.last),
        blobs: nameOf({ ...range, part: 'chunk' }),
        proof: nameOf({ ...range, part: 'proof' }),
      })
    }
    const facts = { version: Number(version), epoch: Number(name.epoch), root_hash: bytesToHexDigits(stateRoot) }
    return json({ ...facts, chunks, proof })
  }

  async #readState(): Promise<EpochVersion> {
    const reader = new ByteReader(await this.#requests.small('db_state'))
    if (!reader.readBool()) throw sourceFailed.serviceEmpty(this.root)
    const state = { epoch: reader.readU64(), version: reader.readU64() }
    this.#expectPlausible('epochs', state.epoch, MOST_EPOCHS)
    this.#expectPlausible('versions', state.version, MOST_VERSIONS)
    return state
  }

  #expectPlausible(what: string, found: bigint, most: bigint): void {
    if (found > most) throw sourceFailed.serviceImplausible(this.root, what, found, most)
  }

  async #readEnds(): Promise<readonly EpochVersion[]> {
    const { epoch } = await this.#state.get()
    if (epoch === 0n) return []
    const path = await this.localFile(nameOf({ kind: 'endings', part: 'chunk', first: 0n, last: epoch - 1n }))
    const ends: EpochVersion[] = []
    for await (const records of readRecords(path)) {
      for (const record of records) {
        const info = readLedgerInfo(new ByteReader(record))
        ends.push({ epoch: info.epoch, version: info.version })
      }
    }
    return ends
  }

  async #findHoldings(): Promise<Holdings> {
    // If the node cannot be read at all, this reports it; otherwise everything would look pruned.
    await this.#format.get()
    const { version: newest } = await this.#state.get()
    const oldestVersion = await firstHeld(newest, (version) => this.#holdsVersion(version))
    const ends = await this.#ends.get()
    const followed = ends.filter(({ version }) => version + 1n >= oldestVersion)
    const first = await firstHeld(BigInt(followed.length), (at) => this.#holdsState(followed[Number(at)]!.version))
    return { oldestVersion, states: followed.slice(Number(first)) }
  }

  /** Finds out whether records have auxiliary info: only the hash of the transaction shows it. */
  async #findFormat(): Promise<'V0' | 'V1'> {
    const { version } = await this.#state.get()
    const pieces: Buffer[] = []
    for await (const piece of this.#requests.records(`transactions/${version}/1`, 1)) pieces.push(piece)
    const record = Buffer.concat(pieces).subarray(4)
    for (const format of ['V1', 'V0'] as const) {
      try {
        readTransactionRecord(new ByteReader(record), this.#hasher, format === 'V1')
        return format
      } catch (error) {
        if (!isLedgerStateError(error)) throw error
      }
    }
    throw sourceFailed.serviceFormatUnknown(this.root, version)
  }
}

function json(value: object): Buffer {
  return Buffer.from(JSON.stringify(value))
}

/** The first version of the stretch that holds a version. */
function stretchOf(version: bigint): bigint {
  return version - (version % STRETCH_VERSIONS)
}
