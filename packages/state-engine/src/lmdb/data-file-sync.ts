import { Buffer } from 'node:buffer'
import { closeSync, fdatasyncSync, fstatSync, openSync, readSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { isPresent, syncFile, syncFileNow } from '@ledger-state/core/files'
import type { Durability } from './durability.js'

// After a sync failed, the kernel counts the pages as clean although they are not on disk, and the next sync succeeds
// without them. Therefore the bytes that a failed sync should have covered are written again, the same ones, and synced.
//
// With a durability above `none`, each transaction syncs its pages before its meta page is written, and one that fails
// leaves nothing that the state uses. So only the two meta pages may be missing on disk. With `none`, any page may be.

/** Length of the two meta pages. */
const META_LENGTH = 2 * 4_096
const WRITTEN_AT_ONCE = 2 ** 20
/** Ending of the name of the file that tells the next writer that any page of the data file may be missing on disk. */
const IN_DOUBT = '.in-doubt'

/** Knows whether the data file that the system shows is on disk as far as it was synced. For the holder of the writer lock. */
export class DataFileSync {
  readonly #file: string
  readonly #doubtFile: string
  readonly #hasSyncedPages: boolean
  #isInDoubt = false

  constructor(file: string, durability: Durability) {
    this.#file = file
    this.#doubtFile = file + IN_DOUBT
    this.#hasSyncedPages = durability !== 'none'
  }

  get isInDoubt(): boolean {
    return this.#isInDoubt
  }

  /** Called after a sync failed, or a transaction, which may have failed because of a sync. */
  doubt(): void {
    this.#isInDoubt = true
    if (!this.#hasSyncedPages) this.#leaveNote()
  }

  /**
   * Makes the commits of previous writers durable. Those writers may have been killed, and may have had any durability.
   * @throws errors of the system
   */
  beginNow(): void {
    const isNoted = isPresent(this.#doubtFile)
    if (!this.#hasSyncedPages) {
      this.#isInDoubt = isNoted
      return
    }
    try {
      rewriteDurablyNow(this.#file, isNoted ? Number.POSITIVE_INFINITY : META_LENGTH)
    } catch (error) {
      this.#leaveNote()
      throw error
    }
    this.#removeNote()
  }

  /**
   * Makes other files of previous writers durable, before `beginNow`. Their content never changes.
   * @throws errors of the system
   */
  beginOthersNow(paths: readonly string[]): void {
    const isNoted = isPresent(this.#doubtFile)
    try {
      for (const path of paths) {
        if (!isNoted) syncFileNow(path)
        else rewriteDurablyNow(path)
      }
    } catch (error) {
      this.#leaveNote()
      throw error
    }
  }

  /**
   * Makes other files durable that were written without a sync. Their content never changes.
   * @throws errors of the system
   */
  async syncOthers(paths: readonly string[]): Promise<void> {
    try {
      for (const path of paths) {
        if (!this.#isInDoubt) await syncFile(path)
        else await rewriteDurably(path)
      }
    } catch (error) {
      this.doubt()
      throw error
    }
  }

  /**
   * Makes the newest state durable again if it is in doubt. Without synced pages it does nothing: only `regain` does.
   * Call it when no transaction is under way.
   * @throws errors of the system
   */
  async regainMeta(): Promise<void> {
    if (!this.#isInDoubt || !this.#hasSyncedPages) return
    await rewriteDurably(this.#file, META_LENGTH)
    this.#isInDoubt = false
  }

  /** Same as `regainMeta`, and also for files without synced pages. */
  async regain(): Promise<void> {
    if (this.#hasSyncedPages) {
      await this.regainMeta()
      return
    }
    await rewriteDurably(this.#file)
    this.#isInDoubt = false
    this.#removeNote()
  }

  /** The note needs no sync: after a loss of power, the system shows the content of the disk. */
  #leaveNote(): void {
    try {
      writeFileSync(this.#doubtFile, 'A sync of the data file failed. The next writer writes all of it again.\n')
    } catch {
      // The error of the sync tells more.
    }
  }

  #removeNote(): void {
    rmSync(this.#doubtFile, { force: true })
  }
}

/** Writes the first bytes of a file again, and syncs it, with turns for other work. */
async function rewriteDurably(path: string, length = Number.POSITIVE_INFINITY): Promise<void> {
  const handle = await open(path, 'r+')
  try {
    for (const _ of rewrite(handle.fd, length)) await nextTurn()
    await handle.datasync()
  } finally {
    await handle.close()
  }
}

/** Same as `rewriteDurably`, at once. */
function rewriteDurablyNow(path: string, length = Number.POSITIVE_INFINITY): void {
  const descriptor = openSync(path, 'r+')
  try {
    for (const _ of rewrite(descriptor, length));
    fdatasyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** Writes the first bytes of a file again, in steps. */
function* rewrite(descriptor: number, length: number): Generator<void> {
  const end = Math.min(length, fstatSync(descriptor).size)
  const buffer = Buffer.allocUnsafe(Math.min(end, WRITTEN_AT_ONCE))
  for (let at = 0; at < end; ) {
    const count = readSync(descriptor, buffer, 0, Math.min(buffer.length, end - at), at)
    if (count === 0) return
    for (let done = 0; done < count; ) done += writeSync(descriptor, buffer, done, count - done, at + done)
    at += count
    yield
  }
}
