import { createWriteStream } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { isLedgerStateError } from '@ledger-state/core'
import { cannotSpool } from '../errors.js'

/** Copies of objects in a temporary folder, each for as long as it is needed. */
export class Spool {
  #folder: Promise<string> | undefined
  readonly #copies = new Map<string, Promise<string>>()

  /**
   * Path of a copy of an object, which is made unless it is there. It ends with the name, which is in messages then.
   * @throws what the stream throws; `spill_failed`
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
    const folder = await this.#folder
    const name = folder && path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : ''
    if (this.#copies.delete(name)) await rm(path, { force: true })
  }

  /** Removes everything. */
  async close(): Promise<void> {
    const folder = await this.#folder?.catch(() => undefined)
    await Promise.allSettled(this.#copies.values())
    this.#copies.clear()
    if (folder) await rm(folder, { recursive: true, force: true })
    this.#folder = undefined
  }

  async #make(name: string, open: () => Readable): Promise<string> {
    let path = join(tmpdir(), name)
    try {
      this.#folder ??= mkdtemp(join(tmpdir(), 'ledger-state-'))
      path = join(await this.#folder, name)
      await mkdir(dirname(path), { recursive: true })
      await pipeline(open(), createWriteStream(path))
      return path
    } catch (cause) {
      await rm(path, { force: true })
      throw isLedgerStateError(cause) ? cause : cannotSpool(path, cause)
    }
  }
}
