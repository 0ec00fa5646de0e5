import { Buffer } from 'node:buffer'
import { Readable } from 'node:stream'
import { ByteReader, bytesToHexDigits, isLedgerStateError } from '@ledger-state/core'
import { LedgerHasher, readLedgerInfo } from '@ledger-state/proof'
import { type BucketRequestOptions, BucketRequests, failureOf } from '../buckets/bucket-requests.js'
import { Spool } from '../buckets/spool.js'
import { serviceEmpty, serviceFormatUnknown, serviceRefused, serviceShort } from '../errors.js'
import type { BackupStorage, ByteRange, StoredObject } from '../files/backup-storage.js'
import { readRecords } from '../files/record-file.js'
import { proveStateRoot } from '../proof/state-proof.js'
import { readTransactionRecord } from '../proof/transaction-record.js'
import { readStateRecord } from '../wire/state-record.js'
import { RecordCount } from './record-count.js'
import { METADATA_NAME, manifestOf, nameOf, parseName, type ServiceName, STRETCH_VERSIONS } from './service-names.js'

/** Versions of a chunk: 46 MB of those of mainnet. */
const CHUNK_VERSIONS = 20_000n
const CHUNK_ENTRIES = 100_000

/** Bytes of a version and of an entry, as far as they decide how many chunks are fetched at once. */
const VERSION_BYTES = 2_300
const ENTRY_BYTES = 300

const MOST_SMALL_BYTES = 64 * 1024 * 1024

export interface ServiceStorageOptions extends BucketRequestOptions {
  readonly hashSalt?: string | undefined
  readonly sourceFolder?: string | undefined
}

/** The newest ledger info that a node has. */
interface NodeState {
  readonly epoch: bigint
  readonly version: bigint
}

/**
 * The backup service of a node, as the backup that its tools would write from it: names and manifests are made here, chunks and
 * proofs are what the node answers. It has no ranges, so a transfer that is cut begins anew.
 */
export class ServiceStorage implements BackupStorage {
  readonly root: string
  readonly #url: string
  readonly #requests: BucketRequests
  readonly #spool: Spool
  readonly #hasher: LedgerHasher
  #state: Promise<NodeState> | undefined
  #format: Promise<'V0' | 'V1'> | undefined
  #ends: Promise<readonly { readonly epoch: bigint; readonly version: bigint }[]> | undefined
  fetchedBytes = 0

  /** @param url of the service, without a slash at its end */
  constructor(url: string, options: ServiceStorageOptions) {
    this.root = `backup+${url}`
    this.#url = url
    this.#requests = new BucketRequests(options)
    this.#spool = new Spool(options.sourceFolder)
    this.#hasher = new LedgerHasher(options.hashSalt)
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
    yield* records === undefined ? [await this.#small(path)] : this.#records(path, records)
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

  /** Hash of the last key of a chunk of a state, which its proof is asked for by. */
  async #lastKey(chunk: string): Promise<string> {
    let last: Buffer | undefined
    for await (const records of readRecords(await this.localFile(chunk))) last = records.at(-1) ?? last
    return bytesToHexDigits(this.#hasher.hash('StateKey', readStateRecord(last!).key))
  }

  async #metadata(): Promise<Buffer> {
    const { epoch, version } = await this.#nodeState()
    const lines: object[] = []
    for (let first = 0n; first <= version; first += STRETCH_VERSIONS) {
      const last = min(version, first + STRETCH_VERSIONS - 1n)
      const manifest = nameOf({ kind: 'transactions', part: 'manifest', first, last: 0n })
      lines.push({ TransactionBackup: { first_version: Number(first), last_version: Number(last), manifest } })
    }
    const ends = await this.#endsOfEpochs()
    if (ends.length > 0) {
      const manifest = nameOf({ kind: 'endings', part: 'manifest', first: 0n, last: 0n })
      const epochs = { first_epoch: 0, last_epoch: Number(epoch) - 1 }
      const versions = { first_version: Number(ends[0]!.version), last_version: Number(ends.at(-1)!.version) }
      lines.push({ EpochEndingBackup: { ...epochs, ...versions, manifest } })
    }
    for (const end of ends) {
      const manifest = nameOf({ kind: 'state', part: 'manifest', ...end, first: 0n, last: 0n })
      lines.push({ StateSnapshotBackup: { epoch: Number(end.epoch), version: Number(end.version), manifest } })
    }
    return Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  }

  async #text(name: ServiceName): Promise<Buffer> {
    const { kind } = name
    if (kind === 'endings') {
      const last = (await this.#nodeState()).epoch - 1n
      const chunk = nameOf({ kind, part: 'chunk', first: 0n, last })
      const epochs = { first_epoch: 0, last_epoch: Number(last) }
      return json({ ...epochs, waypoints: [], chunks: [{ ...epochs, ledger_infos: chunk }] })
    }
    return kind === 'state' ? await this.#stateManifest(name) : await this.#transactionManifest(name)
  }

  async #transactionManifest({ first }: ServiceName): Promise<Buffer> {
    const { version: newest } = await this.#nodeState()
    const last = min(newest, first + STRETCH_VERSIONS - 1n)
    // A node has its newest version, and may have pruned the first one of a stretch.
    this.#format ??= this.#findFormat(newest)
    const format = await this.#format
    const chunks: object[] = []
    for (let from = first; from <= last; from += CHUNK_VERSIONS) {
      const range = { kind: 'transactions', first: from, last: min(last, from + CHUNK_VERSIONS - 1n) } as const
      chunks.push({
        first_version: Number(range.first),
        last_version: Number(range.last),
        transactions: nameOf({ ...range, part: 'chunk' }),
        proof: nameOf({ ...range, part: 'proof' }),
        format,
      })
    }
    return json({ first_version: Number(first), last_version: Number(last), chunks })
  }

  async #stateManifest(name: ServiceName): Promise<Buffer> {
    const version = name.version!
    const count = Number(new ByteReader(await this.#small(`state_item_count/${version}`)).readU64())
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

  async #nodeState(): Promise<NodeState> {
    this.#state ??= this.#small('db_state').then((bytes) => {
      const reader = new ByteReader(bytes)
      if (!reader.readBool()) throw serviceEmpty(this.root)
      return { epoch: reader.readU64(), version: reader.readU64() }
    })
    return await this.#state
  }

  async #endsOfEpochs() {
    this.#ends ??= this.#readEnds()
    return await this.#ends
  }

  async #readEnds(): Promise<readonly { readonly epoch: bigint; readonly version: bigint }[]> {
    const { epoch } = await this.#nodeState()
    if (epoch === 0n) return []
    const path = await this.localFile(nameOf({ kind: 'endings', part: 'chunk', first: 0n, last: epoch - 1n }))
    const ends: { readonly epoch: bigint; readonly version: bigint }[] = []
    for await (const records of readRecords(path)) {
      for (const record of records) {
        const info = readLedgerInfo(new ByteReader(record))
        ends.push({ epoch: info.epoch, version: info.version })
      }
    }
    return ends
  }

  /** Nothing says whether records have auxiliary info: the hash of the transaction decides. */
  async #findFormat(version: bigint): Promise<'V0' | 'V1'> {
    const pieces: Buffer[] = []
    for await (const piece of this.#records(`transactions/${version}/1`, 1)) pieces.push(piece)
    const record = Buffer.concat(pieces).subarray(4)
    for (const format of ['V1', 'V0'] as const) {
      try {
        readTransactionRecord(new ByteReader(record), this.#hasher, format === 'V1')
        return format
      } catch (error) {
        if (!isLedgerStateError(error)) throw error
      }
    }
    throw serviceFormatUnknown(this.root, version)
  }

  /** One answer that is complete, or asked for again. */
  async #small(path: string): Promise<Buffer> {
    const url = `${this.#url}/${path}`
    const attempts = this.#requests.attempts(url)
    for (;;) {
      const answer = await this.#requests.ask(url, {})
      if ('why' in answer) {
        await attempts.failed(answer)
        continue
      }
      const pieces: Uint8Array[] = []
      let length = 0
      try {
        for await (const piece of answer.pieces()) {
          pieces.push(piece)
          length += piece.length
          if (length > MOST_SMALL_BYTES) break
        }
      } catch (error) {
        await attempts.failed(failureOf(error))
        continue
      }
      const body = Buffer.concat(pieces)
      if (answer.status !== 200) throw serviceRefused(url, answer.status, body.subarray(0, 500).toString())
      this.fetchedBytes += length
      return body
    }
  }

  /** Records, as many as there have to be: what was given of an answer that is cut is skipped when it is asked for again. */
  async *#records(path: string, expected: number): AsyncGenerator<Buffer, void> {
    const url = `${this.#url}/${path}`
    const attempts = this.#requests.attempts(url)
    let given = 0
    for (;;) {
      const answer = await this.#requests.ask(url, {})
      if ('why' in answer) {
        await attempts.failed(answer)
        continue
      }
      if (answer.status !== 200) {
        await answer.drop()
        throw serviceRefused(url, answer.status, '')
      }
      const count = new RecordCount()
      let at = 0
      let why = ''
      try {
        for await (const piece of answer.pieces()) {
          count.add(piece)
          const part = piece.subarray(Math.max(0, given - at))
          at += piece.length
          this.fetchedBytes += piece.length
          if (part.length === 0) continue
          given += part.length
          yield Buffer.from(part.buffer, part.byteOffset, part.length)
        }
      } catch (error) {
        why = failureOf(error).why
      }
      if (why === '' && count.isComplete && count.records === expected) return
      const failure = why === '' ? `it ended after ${count.records} of ${expected} records` : why
      if (count.records === 0 && why !== '' && given === 0) throw serviceShort(url, failure)
      await attempts.failed({ why: failure, retryAfterMs: 0 }).catch((error: unknown) => {
        throw isLedgerStateError(error, 'source_failed') ? serviceShort(url, failure) : error
      })
    }
  }
}

function json(value: object): Buffer {
  return Buffer.from(JSON.stringify(value))
}

function min(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}
