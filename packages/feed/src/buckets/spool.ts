import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { isLedgerStateError } from '@ledger-state/core'
import { makeFolderNow } from '@ledger-state/core/files'
import { spillFailed } from '../errors.js'
import { streamToFile } from '../files/stream-to-file.js'

/** Names of folders of copies. They have the number of their process, which shows whether they are still in use. */
const FOLDER = /^fetching-(\d+)-/
const LONGEST_USE_MS = 86_400_000

/**
 * Copies of objects in a separate folder; each exists as long as it is needed. Copies that a killed process left are
 * removed.
 */
export class Spool {
  readonly #parent: string
  #folder: Promise<string> | undefined
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
    let path = join(this.#parent, name)
    try {
      this.#folder ??= this.#begin()
      path = join(await this.#folder, name)
      makeFolderNow(dirname(path))
      await streamToFile(open(), path)
      return path
    } catch (cause) {
      await rm(path, { force: true })
      throw isLedgerStateError(cause) ? cause : spillFailed.cannotSpool(path, cause)
    }
  }
  async #begin(): Promise<string> {
    makeFolderNow(this.#parent)
    for (const name of await readdir(this.#parent)) {
      const pid = FOLDER.exec(name)?.[1]
      const folder = join(this.#parent, name)
      if (pid !== undefined && !(await isInUse(Number(pid), folder))) await rm(folder, { recursive: true, force: true })
    }
    return await mkdtemp(join(this.#parent, `fetching-${process.pid}-`))
  }
}

/** Another process may have got the same number since, as happens in containers. No transfer takes a day. */
async function isInUse(pid: number, folder: string): Promise<boolean> {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false
  }
  const { mtimeMs } = await stat(folder).catch(() => ({ mtimeMs: 0 }))
  return Date.now() - mtimeMs < LONGEST_USE_MS
}
