import { Buffer } from 'node:buffer'
import { type DatabaseRoot, DataPages, decodeDatabaseRoot, type Meta, PageFault, type PageNode } from './data-pages.js'

type Compare = (a: Buffer, b: Buffer) => number

/** A fault, or undefined after a page without one. */
type Finding = string | undefined

/**
 * Checks the trees of a data file page by page, without LMDB. The caller holds a read transaction, so that the pages of
 * the newest state are not reused meanwhile.
 */
export function* checkPages(file: string): Generator<Finding> {
  const pages = new DataPages(file)
  try {
    const meta = pages.readNewestMeta()
    const used = new PageSet(meta.lastPage)
    yield* new TreeCheck(pages, meta, used, 'the list of free pages', meta.freeList, compareNumbers).run()
    const databases = new TreeCheck(pages, meta, used, 'the list of databases', meta.main, Buffer.compare)
    yield* databases.run()
    for (const { key, data, isDatabase } of databases.ownEntries) {
      const name = `the database ${key.toString('latin1').replace(/\0$/, '')}`
      if (isDatabase) yield* new TreeCheck(pages, meta, used, name, decodeDatabaseRoot(data), Buffer.compare).run()
    }
  } catch (error) {
    if (!(error instanceof PageFault)) throw error
    yield error.message
  } finally {
    pages.close()
  }
}

class PageSet {
  readonly #bits: Uint8Array

  constructor(lastPage: number) {
    this.#bits = new Uint8Array((lastPage >> 3) + 1)
  }

  /** @throws `PageFault` for a page that was added before */
  add(first: number, count: number): void {
    for (let page = first; page < first + count; page++) {
      const bit = 1 << (page & 7)
      if (this.#bits[page >> 3]! & bit) throw new PageFault(`page ${page} is used twice`)
      this.#bits[page >> 3]! |= bit
    }
  }
}

class TreeCheck {
  /** The first entries in their order: all databases of a store, but not all records of one. */
  readonly ownEntries: PageNode[] = []
  readonly #pages: DataPages
  readonly #meta: Meta
  readonly #used: PageSet
  readonly #name: string
  readonly #root: DatabaseRoot
  readonly #compare: Compare
  readonly #found = { branchPages: 0, leafPages: 0, overflowPages: 0, entries: 0 }
  #previousKey: Buffer | undefined
  #isWhole = true

  constructor(pages: DataPages, meta: Meta, used: PageSet, name: string, root: DatabaseRoot, compare: Compare) {
    this.#pages = pages
    this.#meta = meta
    this.#used = used
    this.#name = name
    this.#root = root
    this.#compare = compare
  }

  *run(): Generator<Finding> {
    const { root, depth } = this.#root
    if (root !== undefined) yield* this.#checkPage(root, depth, undefined)
    // What is below a damaged page was not counted.
    if (!this.#isWhole) return
    for (const part of ['branchPages', 'leafPages', 'overflowPages', 'entries'] as const) {
      const [found, counted] = [this.#found[part], this.#root[part]]
      if (found !== counted) yield this.#faultOf(`it has ${found} ${part}, its root counts ${counted}`)
    }
  }

  /** The page, and those below it; no key is below `least`. */
  *#checkPage(page: number, depth: number, least: Buffer | undefined): Generator<Finding> {
    try {
      const { isBranch, nodes } = this.#pages.readTreePage(this.#meta, page)
      if (isBranch !== depth > 1) throw new PageFault(`page ${page} is at a wrong depth of its tree`)
      this.#used.add(page, 1)
      yield undefined
      if (isBranch) {
        this.#found.branchPages++
        for (const [at, { key, page: child }] of nodes.entries()) {
          // The key of the first child is not used.
          if (at > 1) this.#expectAscending(page, nodes[at - 1]!.key, key)
          yield* this.#checkPage(child!, depth - 1, at === 0 ? least : key)
        }
      } else {
        this.#found.leafPages++
        for (const node of nodes) this.#checkEntry(page, node, least)
      }
    } catch (error) {
      if (!(error instanceof PageFault)) throw error
      yield this.#faultOf(error.message)
    }
  }

  #checkEntry(page: number, node: PageNode, least: Buffer | undefined): void {
    if (least && this.#compare(least, node.key) > 0) throw new PageFault(`page ${page} has keys out of order`)
    if (this.#previousKey) this.#expectAscending(page, this.#previousKey, node.key)
    this.#previousKey = node.key
    this.#found.entries++
    if (this.ownEntries.length < MOST_OWN_ENTRIES) this.ownEntries.push(node)
    if (node.page === undefined) return
    const { count } = this.#pages.readOverflow(this.#meta, node.page, node.dataLength, false)
    this.#used.add(node.page, count)
    this.#found.overflowPages += count
  }

  #expectAscending(page: number, before: Buffer, after: Buffer): void {
    if (this.#compare(before, after) >= 0) throw new PageFault(`page ${page} has keys out of order`)
  }

  #faultOf(text: string): string {
    this.#isWhole = false
    return `${this.#name}: ${text}`
  }
}

/** More than a store has databases. */
const MOST_OWN_ENTRIES = 16

/** Keys of the list of free pages: u64, little-endian. */
function compareNumbers(a: Buffer, b: Buffer): number {
  if (a.length !== 8 || b.length !== 8) return 1
  const [left, right] = [a.readBigUInt64LE(0), b.readBigUInt64LE(0)]
  return left < right ? -1 : left > right ? 1 : 0
}
