import {
  closeSync,
  fdatasync,
  fdatasyncSync,
  fstatSync,
  ftruncate,
  ftruncateSync,
  open,
  openSync,
  readdirSync,
  rmSync,
  type Stats,
  statSync,
  write,
} from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { syncFolderAsync } from '../bytes/sync-folder.js'
import { storeFileGone } from '../errors.js'

const NAME = /^write-ahead-([1-9]\d{0,14})$/

export function writeAheadPath(folder: string, fileNumber: number): string {
  return join(folder, `write-ahead-${fileNumber}`)
}

/** The numbers of the write-ahead files in a folder, ascending. */
export function listWriteAheadFiles(folder: string): number[] {
  const numbers = readdirSync(folder).flatMap((name) => NAME.exec(name)?.slice(1).map(Number) ?? [])
  return numbers.sort((a, b) => a - b)
}

// Calls on descriptors: a file handle that is not closed would be closed by the garbage collection.
const openAsync = promisify(open)
const writeAsync = promisify(write)
const syncAsync = promisify(fdatasync)
const truncateAsync = promisify(ftruncate)

/** How far a write came, and what stopped it. */
export interface Written {
  readonly end: number
  /** Undefined if all was written. */
  readonly failure: unknown
}

/** A write-ahead file that is appended to, off the event loop. Throws what the system says. */
export class AppendFile {
  readonly path: string
  readonly #descriptor: number
  readonly #opened: Stats

  private constructor(path: string, descriptor: number) {
    this.path = path
    this.#descriptor = descriptor
    this.#opened = fstatSync(descriptor)
  }

  /** Creates a file that has its header and no records. If it is durable, so are both the header and its name. */
  static async create(folder: string, fileNumber: number, header: Uint8Array, isDurable: boolean): Promise<AppendFile> {
    const path = writeAheadPath(folder, fileNumber)
    const file = new AppendFile(path, await openAsync(path, 'w'))
    try {
      const { failure } = await file.write(header, 0, header.length)
      if (failure !== undefined) throw failure
      if (isDurable) {
        await file.sync()
        await syncFolderAsync(folder)
      }
      return file
    } catch (error) {
      file.close()
      rmSync(path)
      throw error
    }
  }

  /** Opens a file that exists, and cuts off what is beyond its length. If it is durable, so is what is left, on return. */
  static open(path: string, length: number, isDurable: boolean): AppendFile {
    const file = new AppendFile(path, openSync(path, 'r+'))
    try {
      if (file.#opened.size > length) ftruncateSync(file.#descriptor, length)
      if (isDurable) fdatasyncSync(file.#descriptor)
      return file
    } catch (error) {
      file.close()
      throw error
    }
  }

  /** @throws `store_missing` unless the file still has its name: nobody would find what is appended */
  expectInPlace(): void {
    const found = statSync(this.path, { throwIfNoEntry: false })
    if (found?.ino === this.#opened.ino && found.dev === this.#opened.dev) return
    throw storeFileGone(this.path, found ? 'replaced' : 'removed')
  }

  /** Writes a part of an image of the file to its place. Does not throw: what was written before a failure is there. */
  async write(image: Uint8Array, start: number, end: number): Promise<Written> {
    for (let at = start; ; ) {
      if (at === end) return { end, failure: undefined }
      try {
        at += (await writeAsync(this.#descriptor, image, at, end - at, at)).bytesWritten
      } catch (failure) {
        return { end: at, failure }
      }
    }
  }

  /** Writes bytes to a place of the file that has bytes already. */
  async overwrite(bytes: Uint8Array, at: number): Promise<void> {
    for (let done = 0; done < bytes.length; ) {
      done += (await writeAsync(this.#descriptor, bytes, done, bytes.length - done, at + done)).bytesWritten
    }
  }

  async truncate(length: number): Promise<void> {
    await truncateAsync(this.#descriptor, length)
  }

  async sync(): Promise<void> {
    await syncAsync(this.#descriptor)
  }

  close(): void {
    closeSync(this.#descriptor)
  }
}
