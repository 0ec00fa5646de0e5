import {
  type DatabaseRoot,
  decodeDatabaseRoot,
  type Meta,
  PageFault,
  type PageNode,
  pagesOfFreeList,
} from './data-pages.js'
import { checkTree, type Finding, type PagesInUse, readTreePageAt, type Tree } from './tree-check.js'

// The trees of a data file: the list of free pages, the list of databases, and the databases.

/** Flag of the list of free pages: its keys are numbers. */
export const NUMBERS_AS_KEYS = 0x08
/**
 * Flags of the environment, kept with those of the list of free pages: a file without a folder, and how lmdb-js syncs.
 */
const ENVIRONMENT_FLAGS = 0x5000
const NO_FLAGS = 0
const NUMBER_LENGTH = 8
/** Transaction of all pages of a compact copy. Its meta page has the transaction of the original. */
const OF_COMPACT_COPY = 1n

const FREE_LIST = 'the list of free pages'

function freeListTree({ freeList }: Meta): Tree {
  const root = { ...freeList, flags: freeList.flags & ~ENVIRONMENT_FLAGS }
  return { name: FREE_LIST, root, flags: NUMBERS_AS_KEYS, compare: compareNumbers }
}

/** Checks the list of free pages: no page of the list itself, or that it names, may be in use or free twice. */
export function* checkFreeList(place: PagesInUse): Generator<Finding> {
  const lists: PageNode[] = []
  if (!(yield* checkTree(place, { ...freeListTree(place.meta), onEntry: (node) => lists.push(node) }))) return
  for (const list of lists) {
    try {
      addFreePages(place, list)
      yield undefined
    } catch (error) {
      if (!(error instanceof PageFault)) throw error
      yield `${FREE_LIST}: ${error.message}`
    }
  }
}

/** Adds the pages of one list, whose key is the number of a transaction. @throws `PageFault` */
function addFreePages({ pages, meta, used }: PagesInUse, { key, page, dataLength, data }: PageNode): void {
  const isTransaction = key.length === NUMBER_LENGTH && isBetween(key.readBigUInt64LE(), 1n, meta.transaction)
  if (!isTransaction) throw new PageFault(`${key.toString('hex')} is not the number of a transaction`)
  const list = page === undefined ? data : pages.readOverflow(meta, page, dataLength, true).bytes
  for (const [first, end] of pagesOfFreeList(list)) {
    pages.expectInFile(meta, first)
    pages.expectInFile(meta, end - 1)
    used.add(first, end - first, 'is in use, or listed twice')
  }
}

function isBetween(value: bigint, least: bigint, most: bigint): boolean {
  return value >= least && value <= most
}

/**
 * Checks the list of databases, and calls `found` with each of them. Every transaction writes its root page again, so a
 * root page of another transaction means that the meta page is older than it says, or leads to a page of an older
 * state.
 */
export function* checkDatabaseList(
  place: PagesInUse,
  found: (name: string, root: DatabaseRoot) => void,
): Generator<Finding> {
  const { pages, meta } = place
  const onEntry = ({ key, data, isDatabase }: PageNode) => {
    if (isDatabase) found(key.toString('latin1').replace(/\0$/, ''), decodeDatabaseRoot(data))
  }
  const name = 'the list of databases'
  const isSound = yield* checkTree(place, { name, root: meta.main, flags: NO_FLAGS, hasDatabases: true, onEntry })
  const { root, depth } = meta.main
  if (root === undefined || !isSound) return
  const { transaction } = readTreePageAt(pages, meta, root, depth)
  if (transaction !== meta.transaction && transaction !== OF_COMPACT_COPY) {
    yield `${name}: page ${root} is of transaction ${transaction}, its meta page of ${meta.transaction}`
  }
}

export function databaseTree(name: string, root: DatabaseRoot): Tree {
  return { name: `the database ${name}`, root, flags: NO_FLAGS }
}

/** Compares keys of the list of free pages: u64, little-endian. */
function compareNumbers(a: Buffer, b: Buffer): number {
  if (a.length !== NUMBER_LENGTH || b.length !== NUMBER_LENGTH) return 1
  const [left, right] = [a.readBigUInt64LE(0), b.readBigUInt64LE(0)]
  return left < right ? -1 : left > right ? 1 : 0
}
