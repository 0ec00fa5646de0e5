import {
  closeSync,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readdirSync,
  rmSync,
  type Stats,
  statSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { syncFolder } from '../bytes/sync-folder.js'
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

/** A write-ahead file that is appended to. Throws what the system says. */
export class AppendFile {
  readonly path: string
  readonly #descriptor: number
  readonly #opened: Stats

  constructor(path: string, descriptor: number) {
    this.path = path
    this.#descriptor = descriptor
    this.#opened = fstatSync(descriptor)
  }

  /** Creates a file that has its header and no records. If it is durable, so are both the header and its name. */
  static create(folder: string, fileNumber: number, header: Uint8Array, isDurable: boolean): AppendFile {
    const path = writeAheadPath(folder, fileNumber)
    const file = new AppendFile(path, openSync(path, 'w'))
    try {
      file.write(header, 0, header.length)
      if (isDurable) {
        file.sync()
        syncFolder(folder)
      }
      return file
    } catch (error) {
      file.close()
      rmSync(path)
      throw error
    }
  }

  /** Opens a file that exists. */
  static open(path: string): AppendFile {
    return new AppendFile(path, openSync(path, 'r+'))
  }

  /** @throws `store_missing` unless the file still has its name: nobody would find what is appended */
  expectInPlace(): void {
    const found = statSync(this.path, { throwIfNoEntry: false })
    if (found?.ino === this.#opened.ino && found.dev === this.#opened.dev) return
    throw storeFileGone(this.path, found ? 'replaced' : 'removed')
  }

  /** Writes a part of an image of the file to its place. */
  write(image: Uint8Array, start: number, end: number): void {
    for (let at = start; at < end; ) at += writeSync(this.#descriptor, image, at, end - at, at)
  }

  /** Writes bytes to a place of the file that has bytes already. */
  overwrite(bytes: Uint8Array, at: number): void {
    for (let done = 0; done < bytes.length; ) {
      done += writeSync(this.#descriptor, bytes, done, bytes.length - done, at + done)
    }
  }

  truncate(length: number): void {
    ftruncateSync(this.#descriptor, length)
  }

  sync(): void {
    fdatasyncSync(this.#descriptor)
  }

  close(): void {
    closeSync(this.#descriptor)
  }
}
