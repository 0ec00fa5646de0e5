import {
  type DatabaseRoot,
  type DataPages,
  decodeDatabaseRoot,
  type Meta,
  PageFault,
  type PageNode,
  pagesOfFreeList,
} from './data-pages.js'

// LMDB trusts the pages that it meets. A process that opens a store would be ended by a signal before it could say what is
// damaged, so these pages are read before, without LMDB.

/** Read at most, of a tree that is read whole: 16 MiB. */
const MOST_PAGES = 4_096
/** LMDB descends no further. */
const MOST_LEVELS = 32
/** Of the list of free pages: its keys are numbers. */
const NUMBERS_AS_KEYS = 0x08
/** Kept with the flags of the list of free pages: one file and no folder, and how lmdb-js syncs. */
const ENVIRONMENT_FLAGS = 0x5000
const NO_FLAGS = 0
/** What opening a store reads records of. */
const META_DATABASE = 'meta'

/**
 * Checks the list of databases, the root page of each, and all of the database `meta`; for a writer also the list of free
 * pages, which its first transaction takes pages from. @throws `PageFault`
 */
export function expectSoundOpening(pages: DataPages, meta: Meta, isWriter: boolean): void {
  const tree = (name: string, root: DatabaseRoot, flags: number, isWhole: boolean): PageNode[] => {
    try {
      if (root.flags !== flags) throw new PageFault(`its flags are ${root.flags} and not ${flags}`)
      return readTree(pages, meta, root, isWhole)
    } catch (error) {
      throw error instanceof PageFault ? new PageFault(`${name}: ${error.message}`) : error
    }
  }
  const freeList = { ...meta.freeList, flags: meta.freeList.flags & ~ENVIRONMENT_FLAGS }
  const free = tree('the list of free pages', freeList, NUMBERS_AS_KEYS, isWriter)
  if (isWriter) for (const list of free) expectSoundList(pages, meta, list)
  for (const { key, data, isDatabase } of tree('the list of databases', meta.main, NO_FLAGS, true)) {
    const name = key.toString('latin1').replace(/\0$/, '')
    if (isDatabase) tree(`the database ${name}`, decodeDatabaseRoot(data), NO_FLAGS, name === META_DATABASE)
  }
}

/** The entries of a tree, or of its root page alone; at most those of `MOST_PAGES` pages. */
function readTree(pages: DataPages, meta: Meta, { root, depth }: DatabaseRoot, isWhole: boolean): PageNode[] {
  const entries: PageNode[] = []
  if (root === undefined) return entries
  if (depth > MOST_LEVELS) throw new PageFault(`it has ${depth} levels`)
  const waiting = [{ page: root, depth }]
  for (let count = 0; count < MOST_PAGES; count++) {
    const next = waiting.pop()
    if (!next) break
    const { isBranch, nodes } = pages.readTreePage(meta, next.page)
    if (isBranch !== next.depth > 1) throw pages.faultOf(meta, next.page, 'is at a wrong depth of its tree')
    if (nodes.length < (isBranch ? 2 : 1)) throw pages.faultOf(meta, next.page, 'has too few nodes')
    expectSoundReferences(pages, meta, next.page, nodes, isBranch)
    if (!isBranch) entries.push(...nodes)
    else if (isWhole) for (const { page } of nodes) waiting.push({ page: page!, depth: next.depth - 1 })
  }
  return entries
}

/** To the pages below, and to the overflow pages of long data. */
function expectSoundReferences(
  pages: DataPages,
  meta: Meta,
  from: number,
  nodes: readonly PageNode[],
  isBranch: boolean,
): void {
  try {
    for (const { page, dataLength } of nodes) {
      if (isBranch) pages.expectInFile(meta, page!)
      else if (page !== undefined) pages.readOverflow(meta, page, dataLength, false)
    }
  } catch (error) {
    if (!(error instanceof PageFault)) throw error
    throw pages.faultOf(meta, from, `leads to a wrong page: ${error.message}`)
  }
}

function expectSoundList(pages: DataPages, meta: Meta, { page, dataLength, data }: PageNode): void {
  const list = page === undefined ? data : pages.readOverflow(meta, page, dataLength, true).bytes
  for (const [first, end] of pagesOfFreeList(list)) {
    pages.expectInFile(meta, first)
    pages.expectInFile(meta, end - 1)
  }
}
