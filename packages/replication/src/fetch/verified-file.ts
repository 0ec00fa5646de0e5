import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { sourceFailed } from '../errors.js'
import { type SnapshotFile, splitAtPieces } from '../snapshot-manifest.js'

/**
 * A file of a snapshot while it is fetched. Each piece is written to disk only after its hash was found right, so a
 * fetch that was cut short resumes at the end of the file.
 */
export class VerifiedFile {
  readonly #handle: FileHandle
  readonly #file: SnapshotFile
  readonly #pieceBytes: number
  #hash = createHash('sha256')
  #length: number

  private constructor(handle: FileHandle, file: SnapshotFile, pieceBytes: number, length: number) {
    this.#handle = handle
    this.#file = file
    this.#pieceBytes = pieceBytes
    this.#length = length
  }

  /** Opens or creates the file at a path. A file that is longer than expected is emptied. */
  static async open(path: string, file: SnapshotFile, pieceBytes: number): Promise<VerifiedFile> {
    const handle = await open(path, 'a')
    try {
      const { size } = await handle.stat()
      if (size > file.bytes) await handle.truncate(0)
      const length = size > file.bytes ? 0 : size
      const opened = new VerifiedFile(handle, file, pieceBytes, length)
      if (length < file.bytes) await opened.#readPartialPiece(path)
      return opened
    } catch (error) {
      await handle.close()
      throw error
    }
  }

  /** Number of bytes that were received. */
  get length(): number {
    return this.#length
  }

  /** Number of bytes of the pieces with verified hashes. */
  get verified(): number {
    return this.isComplete ? this.#length : this.#pieceStart
  }

  get isComplete(): boolean {
    return this.#length === this.#file.bytes
  }

  /**
   * Appends bytes; those beyond the end of the file are left out.
   * @throws `source_failed` if a piece is damaged; none of it is kept
   */
  async append(chunk: Uint8Array): Promise<void> {
    const wanted = chunk.subarray(0, this.#file.bytes - this.#length)
    for (const part of splitAtPieces(wanted, this.#length, this.#pieceBytes)) {
      this.#hash.update(part)
      const end = this.#length + part.length
      if (end % this.#pieceBytes === 0 || end === this.#file.bytes) await this.#expectSound()
      await this.#handle.appendFile(part)
      this.#length = end
    }
  }

  /**
   * Makes the appended bytes durable. If that fails, nothing of the file is kept: a later sync would not report missing
   * bytes, and the next fetch would resume after them.
   */
  async close(): Promise<void> {
    try {
      await this.#handle.sync()
    } catch (error) {
      await this.#handle.truncate(0)
      throw error
    } finally {
      await this.#handle.close()
    }
  }

  async #readPartialPiece(path: string): Promise<void> {
    const start = this.#pieceStart
    if (start === this.#length) return
    for await (const chunk of createReadStream(path, { start })) this.#hash.update(chunk as Uint8Array)
  }

  get #pieceStart(): number {
    return this.#length - (this.#length % this.#pieceBytes)
  }

  async #expectSound(): Promise<void> {
    const start = this.#pieceStart
    const found = this.#hash.digest('hex')
    this.#hash = createHash('sha256')
    if (found === this.#file.pieces[start / this.#pieceBytes]) return
    await this.#handle.truncate(start)
    this.#length = start
    throw sourceFailed.pieceDamaged(this.#file.name, start)
  }
}
