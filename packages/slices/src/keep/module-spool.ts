import { Buffer } from 'node:buffer'
import { randomUUID } from 'node:crypto'
import { closeSync, openSync, readSync, rmSync, statfsSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeFolderNow } from '@ledger-state/core/files'
import { keyName } from '@ledger-state/records/writes-hash'
import { spillFailed } from '../errors.js'

interface Place {
  readonly at: number
  readonly length: number
}

/** Space that is left free on the disk, for a store that may be on it. */
const SPARE_BYTES = 256 << 20
/** Bytes that are written between two checks of the free space. */
const LOOK_EVERY_BYTES = 16 << 20

/** The modules of a state by their keys, in a file: a whole network has too many for memory. */
export class ModuleSpool {
  readonly #folder: string
  readonly #places = new Map<string, Place>()
  #file: number | undefined
  #end = 0
  #lookAt = 0

  readonly #spareBytes: number

  /** @param folder folder for the file; by default the temporary folder of the system */
  constructor(folder: string = tmpdir(), spareBytes = SPARE_BYTES) {
    this.#folder = folder
    this.#spareBytes = spareBytes
  }

  /**
   * Adds a module.
   * @throws `spill_failed` if the disk is full, or the file cannot be written
   */
  put(key: Uint8Array, code: Uint8Array): void {
    this.#expectSpace(code.length)
    try {
      this.#file ??= openUnnamed(this.#folder)
      for (let done = 0; done < code.length; ) {
        done += writeSync(this.#file, code, done, code.length - done, this.#end + done)
      }
    } catch (error) {
      throw spillFailed.cannotSpoolModules(this.#folder, error)
    }
    this.#places.set(keyName(key), { at: this.#end, length: code.length })
    this.#end += code.length
  }

  get(key: Uint8Array): Uint8Array | undefined {
    const place = this.#places.get(keyName(key))
    if (!place) return undefined
    const code = Buffer.alloc(place.length)
    for (let done = 0; done < place.length; ) {
      const count = readSync(this.#file!, code, done, place.length - done, place.at + done)
      if (count === 0)
        throw spillFailed.cannotSpoolModules(this.#folder, new Error('the file is shorter than the bytes written'))
      done += count
    }
    return code
  }

  has(key: Uint8Array): boolean {
    return this.#places.has(keyName(key))
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file)
    this.#file = undefined
  }

  #expectSpace(length: number): void {
    if (this.#end + length < this.#lookAt) return
    const free = freeBytesAt(this.#folder)
    if (free < this.#spareBytes + length) throw spillFailed.diskOfModulesFull(this.#folder, free, this.#spareBytes)
    this.#lookAt = this.#end + LOOK_EVERY_BYTES
  }
}

function freeBytesAt(folder: string): number {
  try {
    makeFolderNow(folder)
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize
  } catch (error) {
    throw spillFailed.cannotSpoolModules(folder, error)
  }
}

/** Opens a file without a name, so that nothing is left of it however the process ends. */
function openUnnamed(folder: string): number {
  const path = join(folder, `modules-${randomUUID()}`)
  const file = openSync(path, 'wx+')
  rmSync(path)
  return file
}
