import { type DatabaseRoot, DataPages, type Meta, PageFault } from './data-pages.js'
import { PageSet } from './page-set.js'
import { checkDatabaseList, checkFreeList, databaseTree } from './store-trees.js'
import { checkTree, type Finding } from './tree-check.js'

/**
 * Checks the trees of a data file page by page, without LMDB. The caller holds a read transaction, so that the pages of
 * the newest state are not reused meanwhile.
 */
export function* checkPages(file: string): Generator<Finding> {
  const pages = new DataPages(file)
  try {
    yield* findingsOfPages(pages, pages.readNewestMeta(), true)
  } catch (error) {
    if (!(error instanceof PageFault)) throw error
    yield error.message
  } finally {
    pages.close()
  }
}

/**
 * Checks the trees of a state, and the list of free pages, from which a writer takes pages: none of those that are in use
 * may be in it.
 */
export function* findingsOfPages(pages: DataPages, meta: Meta, hasFreeList: boolean): Generator<Finding> {
  const place = { pages, meta, used: new PageSet(meta.lastPage) }
  const databases = new Map<string, DatabaseRoot>()
  yield* checkDatabaseList(place, (name, root) => databases.set(name, root))
  for (const [name, root] of databases) yield* checkTree(place, databaseTree(name, root))
  if (hasFreeList) yield* checkFreeList(place)
}
