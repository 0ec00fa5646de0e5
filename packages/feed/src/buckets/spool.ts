import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { isLedgerStateError } from '@ledger-state/core'
import { makeFolderNow, makeTemporaryFolder, type TemporaryFolder } from '@ledger-state/core/files'
import { spillFailed } from '../errors.js'
import { streamToFile } from '../files/stream-to-file.js'

const PREFIX = 'ledger-state-fetching-'

/**
 * Copies of objects in a separate folder; each exists as long as it is needed. Copies that a killed process left are
 * removed.
 */
export class Spool {
  readonly #parent: string
  #folder: TemporaryFolder | undefined
  readonly #copies = new Map<string, Promise<string>>()

  /** @param parent folder for the folder of copies; by default the temporary folder of the system */
  constructor(parent: string = tmpdir()) {
    this.#parent = parent
  }

  /**
   * Path of a copy of an object. The copy is made unless it exists. The path ends with the object's name, so that
   * messages show it.
   * @throws the errors of the stream; `spill_failed`
   */
  async copy(name: string, open: () => Readable): Promise<string> {
    const held = this.#copies.get(name)
    if (held) return await held
    const made = this.#make(name, open)
    this.#copies.set(name, made)
    try {
      return await made
    } catch (error) {
      this.#copies.delete(name)
      throw error
    }
  }

  /** Removes a copy, if the path is one. */
  async release(path: string): Promise<void> {
    const folder = this.#folder?.path
    const name = folder && path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : ''
    if (this.#copies.delete(name)) await rm(path, { force: true })
  }

  /** Removes everything. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#copies.values())
    this.#copies.clear()
    const folder = this.#folder
    this.#folder = undefined
    await folder?.remove()
  }

  async #make(name: string, open: () => Readable): Promise<string> {
    let path = join(this.#parent, name)
    try {
      this.#folder ??= this.#begin()
      path = join(this.#folder.path, name)
      makeFolderNow(dirname(path))
      await streamToFile(open(), path)
      return path
    } catch (cause) {
      await rm(path, { force: true })
      throw isLedgerStateError(cause) ? cause : spillFailed.cannotSpool(path, cause)
    }
  }

  #begin(): TemporaryFolder {
    makeFolderNow(this.#parent)
    return makeTemporaryFolder(this.#parent, PREFIX)
  }
}
