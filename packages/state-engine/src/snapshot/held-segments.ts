import { closeSync, fsync, linkSync, openSync, rmSync } from 'node:fs'
import { promisify } from 'node:util'
import { syncFile } from '@ledger-state/core/files'
import { runInTurns } from '../compaction/run-in-turns.js'
import { listSegments, segmentPath } from '../segments/segment-names.js'
import { copyInSteps } from './copy-in-steps.js'

const sync = promisify(fsync)

/**
 * Keeps segment files for a copy of the store, although merges remove them meanwhile: as links in the folder of the copy, or
 * open if that is on another disk. The files never change, so a link is as good as a copy.
 */
export class HeldSegments {
  readonly #from: string
  readonly #to: string
  readonly #expectGoing: () => void
  readonly #linked = new Set<number>()
  readonly #descriptors = new Map<number, number>()

  /** @param expectGoing called between steps of a copy. @throws what ends it */
  constructor(from: string, to: string, expectGoing: () => void) {
    this.#from = from
    this.#to = to
    this.#expectGoing = expectGoing
  }

  /** Holds the files that are in the folder now. */
  holdPresent(): void {
    for (const file of listSegments(this.#from)) {
      if (this.#linked.has(file) || this.#descriptors.has(file)) continue
      try {
        this.#hold(file)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
      }
    }
  }

  /** Has the copy have these files, and no others. Returns false if one was removed before it was held. */
  async copy(files: ReadonlySet<number>): Promise<boolean> {
    for (const file of this.#linked) if (!files.has(file)) rmSync(segmentPath(this.#to, file))
    for (const file of files) {
      if (this.#linked.has(file) && (await this.#isSynced(file))) continue
      const descriptor = this.#descriptors.get(file)
      if (descriptor === undefined) return false
      await copyDurably(descriptor, segmentPath(this.#to, file), this.#expectGoing)
    }
    return true
  }

  close(): void {
    for (const descriptor of this.#descriptors.values()) closeSync(descriptor)
    this.#descriptors.clear()
  }

  /** Syncs a link: the writer may have written the file without a sync. If that fails, the copy gets another file. */
  async #isSynced(file: number): Promise<boolean> {
    const path = segmentPath(this.#to, file)
    try {
      await syncFile(path)
      return true
    } catch {
      this.#descriptors.set(file, openSync(path, 'r'))
      rmSync(path)
      return false
    }
  }

  #hold(file: number): void {
    const path = segmentPath(this.#from, file)
    try {
      linkSync(path, segmentPath(this.#to, file))
      this.#linked.add(file)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      // A file of that name may be a link to this one: nobody may write to it.
      if (code === 'ENOENT' || code === 'EEXIST') throw error
      // The folder is on another disk, or the disk has no links.
      this.#descriptors.set(file, openSync(path, 'r'))
    }
  }
}

async function copyDurably(from: number, path: string, expectGoing: () => void): Promise<void> {
  const to = openSync(path, 'wx')
  try {
    await runInTurns(copyInSteps(from, to), expectGoing)
    await sync(to)
  } finally {
    closeSync(to)
  }
}
