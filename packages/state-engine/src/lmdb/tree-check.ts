import { Buffer } from 'node:buffer'
import { type DatabaseRoot, type DataPages, type Meta, PageFault, type PageNode } from './data-pages.js'
import type { PageSet } from './page-set.js'

type Compare = (a: Buffer, b: Buffer) => number

/** A fault, or undefined after a page without one. */
export type Finding = string | undefined

/** Pages of the state of one meta page, and those that trees were found to use. */
export interface PagesInUse {
  readonly pages: DataPages
  readonly meta: Meta
  readonly used: PageSet
}

export interface Tree {
  readonly name: string
  readonly root: DatabaseRoot
  /** Flags that the root of the database must have. */
  readonly flags: number
  readonly compare?: Compare
  /** Whether its entries may be roots of databases. */
  readonly hasDatabases?: boolean
  readonly onEntry?: (node: PageNode) => void
}

/** Most levels that LMDB descends. */
const MOST_LEVELS = 32
/** Least children of a branch page: LMDB ends the process if there are fewer. */
const LEAST_CHILDREN = 2

/**
 * Checks every page of a tree: numbers, headers, nodes, the order of keys, references, and the counts of its root.
 * Returns whether the tree is sound.
 */
export function checkTree(place: PagesInUse, tree: Tree): Generator<Finding, boolean> {
  return new TreeCheck(place, tree).run()
}

class TreeCheck {
  readonly #place: PagesInUse
  readonly #tree: Tree
  readonly #compare: Compare
  readonly #found = { branchPages: 0, leafPages: 0, overflowPages: 0, entries: 0 }
  #previousKey: Buffer | undefined
  #isSound = true

  constructor(place: PagesInUse, tree: Tree) {
    this.#place = place
    this.#tree = tree
    this.#compare = tree.compare ?? Buffer.compare
  }

  *run(): Generator<Finding, boolean> {
    const { root, flags } = this.#tree
    if (root.flags !== flags) yield this.#faultOf(`its flags are ${root.flags} and not ${flags}`)
    if (root.depth > MOST_LEVELS) {
      yield this.#faultOf(`it has ${root.depth} levels`)
      return false
    }
    if (root.root !== undefined) yield* this.#checkPage(root.root, root.depth, undefined)
    // The pages below a damaged page were not counted.
    if (!this.#isSound) return false
    for (const part of ['branchPages', 'leafPages', 'overflowPages', 'entries'] as const) {
      const [found, counted] = [this.#found[part], root[part]]
      if (found !== counted) yield this.#faultOf(`it has ${found} ${part}, its root counts ${counted}`)
    }
    return this.#isSound
  }

  /** Checks a page and those below it. No key may be below `least`. */
  *#checkPage(page: number, depth: number, least: Buffer | undefined): Generator<Finding> {
    const { pages, meta, used } = this.#place
    try {
      const { isBranch, nodes } = readTreePageAt(pages, meta, page, depth)
      used.add(page, 1)
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
    const { pages, meta, used } = this.#place
    if (least && this.#compare(least, node.key) > 0) throw new PageFault(`page ${page} has keys out of order`)
    if (this.#previousKey) this.#expectAscending(page, this.#previousKey, node.key)
    if (node.isDatabase && !this.#tree.hasDatabases) throw pages.faultOf(meta, page, 'has a database as an entry')
    this.#previousKey = node.key
    this.#found.entries++
    this.#tree.onEntry?.(node)
    if (node.page === undefined) return
    const { count } = pages.readOverflow(meta, node.page, node.dataLength, false)
    used.add(node.page, count)
    this.#found.overflowPages += count
  }

  #expectAscending(page: number, before: Buffer, after: Buffer): void {
    if (this.#compare(before, after) >= 0) throw new PageFault(`page ${page} has keys out of order`)
  }

  #faultOf(text: string): string {
    this.#isSound = false
    return `${this.#tree.name}: ${text}`
  }
}

/** Reads a page of a tree at a height above its end: 1 is a leaf page. @throws `PageFault` */
export function readTreePageAt(pages: DataPages, meta: Meta, page: number, depth: number) {
  const read = pages.readTreePage(meta, page)
  if (read.isBranch !== depth > 1) throw pages.faultOf(meta, page, 'is at a wrong depth of its tree')
  if (read.nodes.length < (read.isBranch ? LEAST_CHILDREN : 1)) throw pages.faultOf(meta, page, 'has too few nodes')
  return read
}
