import { Buffer } from 'node:buffer'
import { posix } from 'node:path'
import { Readable } from 'node:stream'
import { SizedCache } from '@ledger-state/core'
import type { BackupStorage, ByteRange, StoredObject } from '../files/backup-storage.js'
import { listFolder } from './bucket-listing.js'
import { type BucketLocation, urlOfKey } from './bucket-location.js'
import { type BucketRequestOptions, BucketRequests } from './bucket-requests.js'
import { ObjectCache } from './object-cache.js'
import { readObject } from './object-transfer.js'
import { signerOfEnvironment } from './request-signer.js'
import { Spool } from './spool.js'

/** Listings that are remembered; more than the folders that are read at once. */
const MOST_FOLDERS = 256

/** Bytes of small objects that are remembered. Manifests and metadata are read more than once, and never change. */
const SMALL_OBJECTS_BYTES = 64 * 1024 * 1024
const SMALL_OBJECT_BYTES = 1024 * 1024

export interface BucketStorageOptions extends BucketRequestOptions {
  /**
   * Folder in which metadata and manifests are kept between runs, and copies while they are needed. By default only
   * copies are made, in the temporary folder.
   */
  readonly sourceFolder?: string | undefined
  /** Whether requests carry no account, even if the environment has credentials. */
  readonly isAnonymous?: boolean | undefined
}

type Folder = ReadonlyMap<string, StoredObject>

/** A backup in a bucket of S3, of Google's store, or of a server with the same API. */
export class BucketStorage implements BackupStorage {
  readonly root: string
  fetchedBytes = 0
  readonly #location: BucketLocation
  readonly #requests: BucketRequests
  readonly #cache: ObjectCache | undefined
  readonly #spool: Spool
  readonly #folders = new Map<string, Promise<Folder>>()
  readonly #small = new SizedCache<Buffer>(SMALL_OBJECTS_BYTES, SMALL_OBJECT_BYTES)

  constructor(location: BucketLocation, options: BucketStorageOptions) {
    this.root = location.root
    this.#location = location
    const sign = options.isAnonymous ? undefined : () => signerOfEnvironment(location, process.env)
    this.#requests = new BucketRequests({ sign, ...options })
    this.#spool = new Spool(options.sourceFolder)
    this.#cache = options.sourceFolder === undefined ? undefined : new ObjectCache(options.sourceFolder, location.root)
  }

  placeOf(name: string): string {
    return name === '' ? this.root : `${this.root}/${name}`
  }

  /**
   * Lists the objects directly in a folder.
   * @throws `invalid_argument` if there is no such bucket; `source_failed`
   */
  async *list(folder: string): AsyncGenerator<StoredObject, void> {
    yield* (await this.#folder(folder)).values()
  }

  forgetListing(folder: string): void {
    this.#folders.delete(folder)
  }

  /** Finds an object in the listing of its folder; one request serves all objects of the folder. */
  async find(name: string): Promise<StoredObject | undefined> {
    const folder = posix.dirname(name)
    return (await this.#folder(folder === '.' ? '' : folder)).get(name)
  }

  open(name: string, range: ByteRange = { from: 0 }): Readable {
    return Readable.from(this.#read(name, range), { objectMode: false })
  }

  /**
   * Path of a local copy.
   * @throws as the stream of `open`, and `spill_failed`
   */
  async localFile(name: string): Promise<string> {
    return await this.#spool.copy(name, () => this.open(name))
  }

  async release(path: string): Promise<void> {
    await this.#spool.release(path)
  }

  async close(): Promise<void> {
    this.#requests.close()
    await this.#spool.close()
  }

  async *#read(name: string, range: ByteRange): AsyncGenerator<Buffer, void> {
    const isWhole = range.from === 0 && range.to === undefined
    const held = isWhole ? this.#small.get(name) : undefined
    if (held) {
      yield held
      return
    }
    const { address, prefix } = this.#location
    const place = this.placeOf(name)
    const listedBytes = (await this.find(name))?.bytes
    const object = { url: urlOfKey(address, prefix + name), place, listedBytes }
    const keptBytes =
      isWhole && listedBytes !== undefined && listedBytes <= SMALL_OBJECT_BYTES ? listedBytes : undefined
    const cached = keptBytes === undefined ? undefined : await this.#cache?.get(name, keptBytes)
    if (cached) {
      this.#small.set(name, cached, cached.length)
      yield cached
      return
    }
    const pieces: Buffer[] = []
    for await (const piece of readObject(this.#requests, object, range)) {
      this.fetchedBytes += piece.length
      if (keptBytes !== undefined) pieces.push(piece)
      yield piece
    }
    if (keptBytes === undefined) return
    const whole = Buffer.concat(pieces)
    this.#small.set(name, whole, whole.length)
    await this.#cache?.set(name, whole)
  }

  async #folder(folder: string): Promise<Folder> {
    const held = this.#folders.get(folder)
    if (held) return await held
    const listing = listFolder(this.#requests, this.#location, folder)
    this.#folders.set(folder, listing)
    const oldest = this.#folders.keys().next().value!
    if (this.#folders.size > MOST_FOLDERS) this.#folders.delete(oldest)
    try {
      return await listing
    } catch (error) {
      this.#folders.delete(folder)
      throw error
    }
  }
}
