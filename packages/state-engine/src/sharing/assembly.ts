import { readdirSync, rmdirSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { followLinks, isPresent, makeFolderNow, moveDurably } from '@ledger-state/core/files'
import { folderHasStore, invalidArgumentErrors } from '../errors.js'
import { LOCK_FILE, STORE_FILE } from '../lmdb/lmdb-store.js'
import { withStoreErrors, withStoreErrorsAsync } from '../lmdb/store-errors.js'
import { acquireWriterLock } from '../lmdb/writer-lock.js'
import { removeUnnamedSegments, segmentPath } from '../segments/segment-names.js'
import { createStoreOf, type PlacedSegment } from './create-store.js'
import type { StoreFacts } from './store-segments.js'

/**
 * A store that is assembled from segment files. Until it is complete, it is in `folder`, next to its target: an
 * interrupted assembly leaves no store at the target, and the next assembly reuses the files in the folder.
 */
export interface Assembly {
  readonly folder: string
  /** Path at which the segment file with a number is put. */
  segmentPath(file: number): string
  /** Removes all segment files but these, and unfinished files. */
  keepOnly(files: ReadonlySet<number>): void
  /** Makes a store of the files in the folder. @throws `store_corrupt` if they are damaged or do not fit together */
  create(facts: StoreFacts, files: readonly PlacedSegment[]): Promise<void>
  /** Gives the complete store its place. Nobody may have it open. */
  publish(): Promise<void>
  /** Lets others continue the unpublished work. */
  close(): void
}

/**
 * Begins or resumes the assembly of a store. Symbolic links are followed, even if their target does not exist.
 * @throws `store_not_empty` if there is a store at the target; `invalid_argument` if no store can be put there, such as
 *   on a mount point; `store_locked` while another process does the same
 */
export function openAssembly(named: string): Assembly {
  const path = withStoreErrors(named, () => followLinks(named))
  expectFree(path)
  const folder = `${path}.unfinished`
  const release = withStoreErrors(folder, () => {
    makeFolderNow(folder)
    return acquireWriterLock(join(folder, LOCK_FILE))
  })
  try {
    // Another process may just have published its store.
    expectFree(path)
  } catch (error) {
    release()
    throw error
  }
  let isClosed = false
  const close = () => {
    if (!isClosed) release()
    isClosed = true
  }
  return {
    folder,
    segmentPath: (file) => segmentPath(folder, file),
    keepOnly: (files) => withStoreErrors(folder, () => removeUnnamedSegments(folder, files)),
    create: (facts, files) => createStoreOf(folder, facts, files),
    publish: async () => {
      await withStoreErrorsAsync(path, async () => {
        expectFree(path)
        if (isPresent(path)) rmdirSync(path)
        await moveDurably(folder, path)
      })
      close()
    },
    close,
  }
}

function expectFree(path: string): void {
  withStoreErrors(path, () => {
    const found = statSync(path, { throwIfNoEntry: false })
    if (!found) return
    if (!found.isDirectory()) throw invalidArgumentErrors.notAFolder(path)
    if (isPresent(join(path, STORE_FILE))) throw folderHasStore(path)
    if (readdirSync(path).length > 0) throw invalidArgumentErrors.folderNotEmpty(path)
    // The system lets nothing take the place of a mount point, and the store would be put together on another disk.
    if (found.dev !== statSync(dirname(resolve(path))).dev) throw invalidArgumentErrors.mountPoint(path)
  })
}
