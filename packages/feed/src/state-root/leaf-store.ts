import { Buffer } from 'node:buffer'
import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import { makeTemporaryFolder, removeAbandonedFolders, type TemporaryFolder } from '@ledger-state/core/files'
import { spillFailed } from '../errors.js'
import { LEAF_LENGTH } from './fold-leaves.js'

/** Parts of a tree by the first byte of the key hash. */
export const PARTS = 256
/** Depth of the root of a part. */
export const PART_DEPTH = 8
const BUFFER_BYTES = 64 * 1_024
/** Beginning of the names of temporary folders. */
export const ROOT_PREFIX = 'state-root-'

/** The content of a store of leaves, and the number of its parts. */
export interface LeafShape {
  /** Bytes of each leaf, or of another record; or how to find the bytes of a record at a place. */
  readonly length: number | ((records: Uint8Array, at: number) => number)
  /** Where the hash of its key begins. */
  readonly keyAt: number
  /** First bits of the hash of a key that name its part; at most 16. */
  readonly depth: number
}

const LEAVES_BY_FIRST_BYTE: LeafShape = { length: LEAF_LENGTH, keyAt: 0, depth: PART_DEPTH }

/** Leaves of a tree by the first bits of their key hashes: in memory up to a bound, the rest in files. */
export class LeafStore {
  readonly #memoryBytes: number
  readonly #spillFolder: string
  readonly #shape: LeafShape
  readonly #parts: readonly Part[]
  #used = 0
  /** Folder of the files; made when leaves must be written. */
  #folder: TemporaryFolder | undefined

  /** @param spillFolder an existing folder; the folder for files is made in it */
  constructor(memoryBytes: number, spillFolder: string, shape: LeafShape = LEAVES_BY_FIRST_BYTE) {
    this.#memoryBytes = memoryBytes
    this.#spillFolder = spillFolder
    this.#shape = shape
    this.#parts = Array.from({ length: 2 ** shape.depth }, () => new Part())
    removeLeft(spillFolder)
  }

  /**
   * Adds leaves.
   * @throws `spill_failed`
   */
  async add(leaves: Uint8Array): Promise<void> {
    const { length: fixed, keyAt, depth } = this.#shape
    let length = typeof fixed === 'number' ? fixed : 0
    for (let at = 0; at < leaves.length; at += length) {
      if (typeof fixed !== 'number') length = fixed(leaves, at)
      const firstBits = (leaves[at + keyAt]! << 8) | leaves[at + keyAt + 1]!
      this.#parts[firstBits >> (16 - depth)]!.push(leaves, at, length)
    }
    this.#used += leaves.length
    if (this.#used > this.#memoryBytes) await this.#spill()
  }

  /** Gives out all leaves of a part, and forgets them. */
  async take(part: number): Promise<Uint8Array<ArrayBuffer>> {
    return await this.#parts[part]!.take()
  }

  /** Removes the files. */
  async close(): Promise<void> {
    await Promise.all(this.#parts.map((part) => part.close()))
    await this.#folder?.remove()
  }

  async #spill(): Promise<void> {
    try {
      this.#folder ??= makeTemporaryFolder(this.#spillFolder, ROOT_PREFIX)
      for (const [at, part] of this.#parts.entries()) await part.spill(join(this.#folder.path, String(at)))
    } catch (error) {
      throw spillFailed.cannotSpill(this.#spillFolder, error)
    }
    this.#used = 0
  }
}

/** Removes the folders of killed processes. @throws `spill_failed` */
function removeLeft(folder: string): void {
  try {
    removeAbandonedFolders(folder, ROOT_PREFIX)
  } catch (error) {
    throw spillFailed.cannotSpill(folder, error)
  }
}

class Part {
  /** The filled part of earlier buffers. */
  readonly #full: Buffer[] = []
  #bytes = Buffer.alloc(0)
  #length = 0
  #file: FileHandle | undefined
  #fileLength = 0

  push(leaves: Uint8Array, at: number, length: number): void {
    if (this.#length + length > this.#bytes.length) this.#begin(length)
    this.#bytes.set(leaves.subarray(at, at + length), this.#length)
    this.#length += length
  }

  async spill(path: string): Promise<void> {
    for (const bytes of this.#buffers()) {
      this.#file ??= await open(path, 'w+')
      for (let done = 0; done < bytes.length; ) {
        const { bytesWritten } = await this.#file.write(bytes, done, bytes.length - done, this.#fileLength)
        done += bytesWritten
        this.#fileLength += bytesWritten
      }
    }
    this.#full.length = 0
    this.#length = 0
  }

  async take(): Promise<Uint8Array<ArrayBuffer>> {
    const buffers = this.#buffers()
    const all = new Uint8Array(buffers.reduce((sum, { length }) => sum + length, this.#fileLength))
    for (let done = 0; done < this.#fileLength; ) {
      const { bytesRead } = await this.#file!.read(all, done, this.#fileLength - done, done)
      if (bytesRead === 0)
        throw spillFailed.cannotSpill('the file of a part', new Error('it is shorter than the bytes written'))
      done += bytesRead
    }
    let at = this.#fileLength
    for (const bytes of buffers) {
      all.set(bytes, at)
      at += bytes.length
    }
    this.#full.length = 0
    this.#bytes = Buffer.alloc(0)
    this.#length = 0
    return all
  }

  async close(): Promise<void> {
    await this.#file?.close()
  }

  #buffers(): Buffer[] {
    const last = this.#bytes.subarray(0, this.#length)
    return this.#length > 0 ? [...this.#full, last] : [...this.#full]
  }

  /** Begins another buffer, so that none is copied while leaves are added. */
  #begin(length: number): void {
    if (this.#length > 0) this.#full.push(this.#bytes.subarray(0, this.#length))
    this.#bytes = Buffer.allocUnsafeSlow(Math.max(BUFFER_BYTES, length))
    this.#length = 0
  }
}
