import { storeCorrupt } from '@ledger-state/engine/authoring'
import { storeCorruptErrors, storeFormat } from '../errors.js'
import { findingsOfPages } from './check-pages.js'
import { DataPages, FileTooShort, type Meta, PageFault, type PageRange, pagesOfFreeList } from './data-pages.js'

/** Most tries while a writer commits: it may overwrite pages of an earlier state. */
const MOST_TRIES = 100
/**
 * Most pages at the end of a file that may be missing because they were not written: 4 GiB, more than a transaction
 * takes and frees again.
 */
const MOST_UNWRITTEN_PAGES = 2 ** 20

/**
 * Refuses a data file that lacks pages in use, such as an incomplete copy, or whose pages that are read on opening are
 * damaged: LMDB trusts the pages that it reads, and a signal would end the process before it could report the damage. It reads
 * the list of free pages for a writer, and if the file is shorter than its meta page says.
 * @throws `store_format`, `store_corrupt`
 */
export function expectSoundFile(file: string, isWriter: boolean): void {
  const pages = new DataPages(file)
  try {
    for (let tries = 1; ; tries++) {
      const meta = readMeta(pages, file)
      const fault = findFault(pages, meta, file, isWriter)
      if (!fault) return
      const isStale = readMeta(pages, file).transaction !== meta.transaction
      if (!isStale || tries === MOST_TRIES) throw fault
    }
  } finally {
    pages.close()
  }
}

function readMeta(pages: DataPages, file: string): Meta {
  try {
    return pages.readNewestMeta()
  } catch (error) {
    if (error instanceof FileTooShort) throw storeCorruptErrors.dataFileCutShort(file, pages.size, error.needed)
    if (error instanceof PageFault) throw storeFormat.notAStore(file, error.message)
    throw error
  }
}

function findFault(pages: DataPages, meta: Meta, file: string, isWriter: boolean): Error | undefined {
  // The size is read after the meta page: a commit extends the file before it writes the meta page.
  const { size } = pages
  const needed = (meta.lastPage + 1) * meta.pageSize
  if (size < needed && !missesFreePagesOnly(pages, meta, size))
    return storeCorruptErrors.dataFileCutShort(file, size, needed)
  try {
    for (const finding of findingsOfPages(pages, meta, isWriter))
      if (finding !== undefined) throw new PageFault(finding)
    return undefined
  } catch (error) {
    if (error instanceof PageFault) return storeCorrupt(`${file}: ${error.message}`, error)
    throw error
  }
}

/**
 * Whether all pages that the file lacks are free. LMDB does not write pages at the end that a transaction took and
 * freed again, so the file may end before them.
 */
function missesFreePagesOnly(pages: DataPages, meta: Meta, size: number): boolean {
  const present = Math.floor(size / meta.pageSize)
  if (meta.lastPage + 1 - present > MOST_UNWRITTEN_PAGES) return false
  const free = new Set<number>()
  try {
    for (const [first, end] of freePages(pages, meta, meta.freeList.root, meta.freeList.depth)) {
      for (let page = Math.max(first, present); page < Math.min(end, meta.lastPage + 1); page++) free.add(page)
    }
  } catch (error) {
    // If the list cannot be read, the pages do not count as free.
    if (!(error instanceof PageFault || error instanceof RangeError)) throw error
  }
  return free.size === meta.lastPage + 1 - present
}

function* freePages(pages: DataPages, meta: Meta, root: number | undefined, depth: number): Generator<PageRange> {
  if (root === undefined || depth === 0) return
  for (const { page, dataLength, data } of pages.readTreePage(meta, root).nodes) {
    if (page === undefined) yield* pagesOfFreeList(data)
    else if (depth > 1) yield* freePages(pages, meta, page, depth - 1)
    else yield* pagesOfFreeList(pages.readOverflow(meta, page, dataLength, true).bytes)
  }
}
