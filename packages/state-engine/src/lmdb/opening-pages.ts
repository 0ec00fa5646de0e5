import { type DatabaseRoot, type DataPages, type Meta, PageFault, type PageNode } from './data-pages.js'
import { PageSet } from './page-set.js'
import { checkDatabaseList, checkFreeList, databaseTree, freeListTree } from './store-trees.js'
import { checkTree, type Finding, type PagesInUse, readTreePageAt, type Tree } from './tree-check.js'

// LMDB trusts the pages that it reads. A signal would end the process that opens a damaged store before it could report
// the damage. So the pages that opening reads are checked first, without LMDB.

/** Most pages of a store whose trees are read whole: 8 MiB. */
const MOST_PAGES_READ_WHOLE = 2_048
/** Database whose records are read on opening. */
const META_DATABASE = 'meta'

/**
 * Checks the pages that opening a store reads: the list of databases, the root page of each, and all of the database
 * `meta`. For a writer it also checks the list of free pages, from which the first transaction takes pages: none of the
 * pages that were read may be in it. In a small store of a writer it reads all trees, to check that no free page is in
 * use.
 */
export function expectSoundOpening(pages: DataPages, meta: Meta, isWriter: boolean): void {
  const place = { pages, meta, used: new PageSet(meta.lastPage) }
  const databases = new Map<string, DatabaseRoot>()
  expectNone(checkDatabaseList(place, (name, root) => databases.set(name, root)))
  const isReadWhole = isWriter && pagesOf([...databases.values()]) <= MOST_PAGES_READ_WHOLE
  for (const [name, root] of databases) {
    const tree = databaseTree(name, root)
    if (isReadWhole || name === META_DATABASE) expectNone(checkTree(place, tree))
    else expectSoundRoot(place, tree)
  }
  if (isWriter) expectNone(checkFreeList(place))
  else expectSoundRoot(place, freeListTree(meta))
}

function pagesOf(roots: readonly DatabaseRoot[]): number {
  return roots.reduce((sum, { branchPages, leafPages, overflowPages }) => {
    return sum + branchPages + leafPages + overflowPages
  }, 0)
}

/** Checks that there is no finding. @throws `PageFault` for the first */
function expectNone(findings: Iterable<Finding>): void {
  for (const finding of findings) if (finding !== undefined) throw new PageFault(finding)
}

/** Checks the root page of a tree, and the references in it. */
function expectSoundRoot(place: PagesInUse, { name, root, flags }: Tree): void {
  const { pages, meta, used } = place
  try {
    if (root.flags !== flags) throw new PageFault(`its flags are ${root.flags} and not ${flags}`)
    if (root.root === undefined) return
    const { isBranch, nodes } = readTreePageAt(pages, meta, root.root, root.depth)
    used.add(root.root, 1)
    expectSoundReferences(place, root.root, nodes, isBranch)
  } catch (error) {
    throw error instanceof PageFault ? new PageFault(`${name}: ${error.message}`) : error
  }
}

/** Follows references to the child pages, and to the overflow pages of long data. */
function expectSoundReferences(
  { pages, meta, used }: PagesInUse,
  from: number,
  nodes: readonly PageNode[],
  isBranch: boolean,
): void {
  try {
    for (const { page, dataLength } of nodes) {
      if (page === undefined) continue
      if (isBranch) pages.expectInFile(meta, page)
      used.add(page, isBranch ? 1 : pages.readOverflow(meta, page, dataLength, false).count)
    }
  } catch (error) {
    if (!(error instanceof PageFault)) throw error
    throw pages.faultOf(meta, from, `leads to a wrong page: ${error.message}`)
  }
}
