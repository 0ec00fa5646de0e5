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
  type Stats,
  statSync,
  write,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { removeIfPossible, syncFolder } from '@ledger-state/core/files'
import { storeMissing } from '../errors.js'

const NAME = /^write-ahead-([1-9]\d{0,14})$/

export function walFilePath(folder: string, fileNumber: number): string {
  return join(folder, `write-ahead-${fileNumber}`)
}

export function isWalName(name: string): boolean {
  return NAME.test(name)
}

/** Numbers of the WAL files in a folder, ascending. */
export function listWalFiles(folder: string): number[] {
  const numbers = readdirSync(folder).flatMap((name) => NAME.exec(name)?.slice(1).map(Number) ?? [])
  return numbers.sort((a, b) => a - b)
}

// Calls on descriptors, because the garbage collection closes a file handle that nobody closed.
const openAsync = promisify(open)
const writeAsync = promisify(write)
const syncAsync = promisify(fdatasync)
const truncateAsync = promisify(ftruncate)

/** Result of a write: how far it came, and the error that stopped it. */
export interface Written {
  readonly end: number
  /** Error of the system; undefined if everything was written. */
  readonly failure: unknown
}

/** A WAL file to which records are appended, off the event loop. It throws the errors of the system. */
export class AppendFile {
  readonly path: string
  readonly #descriptor: number
  readonly #opened: Stats

  private constructor(path: string, descriptor: number) {
    this.path = path
    this.#descriptor = descriptor
    this.#opened = fstatSync(descriptor)
  }

  /**
   * Creates a file with its header and no records. If `isDurable`, both the header and the name are durable on return.
   */
  static async create(folder: string, fileNumber: number, header: Uint8Array, isDurable: boolean): Promise<AppendFile> {
    const path = walFilePath(folder, fileNumber)
    const file = new AppendFile(path, await openAsync(path, 'w'))
    try {
      const { failure } = await file.write(header, 0, header.length)
      if (failure !== undefined) throw failure
      if (isDurable) {
        await file.sync()
        await syncFolder(folder)
      }
      return file
    } catch (error) {
      file.close()
      removeIfPossible(path)
      throw error
    }
  }

  /** Opens an existing file, and cuts it at `length`. */
  static open(path: string, length: number): AppendFile {
    const file = new AppendFile(path, openSync(path, 'r+'))
    try {
      if (file.#opened.size > length) ftruncateSync(file.#descriptor, length)
      return file
    } catch (error) {
      file.close()
      throw error
    }
  }

  /** Writes a part of an image of the file to its place again, as it may be missing on disk. */
  rewriteNow(image: Uint8Array, start: number, end: number): void {
    for (let at = start; at < end; ) at += writeSync(this.#descriptor, image, at, end - at, at)
  }

  syncNow(): void {
    fdatasyncSync(this.#descriptor)
  }

  /**
   * Checks that the file still has its name: otherwise no later reader would find the appended records.
   * @throws `store_missing` if it does not
   */
  expectInPlace(): void {
    const found = statSync(this.path, { throwIfNoEntry: false })
    if (found?.ino === this.#opened.ino && found.dev === this.#opened.dev) return
    throw storeMissing.storeFileGone(this.path, found ? 'replaced' : 'removed')
  }

  /** Writes a part of an image of the file to its place. It does not throw: bytes written before a failure stay. */
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
