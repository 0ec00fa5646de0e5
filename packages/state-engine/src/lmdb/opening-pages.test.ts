import { closeSync, openSync, readSync, writeSync } from 'node:fs'
import { createRandom, testSeed } from '@ledger-state/testing/random'
import { expect, it } from 'vitest'
import { damagedStores, openElsewhere } from '../../testing/damaged-stores.ts'
import { DataPages, decodeDatabaseRoot, type Meta } from './data-pages.js'

const PAGE = 4_096
const META_BYTES = 160
const COPIES = process.env.SLOW_TESTS === '1' ? 2_000 : 60
const SEED = testSeed()
const stores = damagedStores({ isPruned: true })

/** Both meta pages, the roots of all trees, and the pages of the list of free pages. */
function pagesOfOpening(file: string): number[] {
  const pages = new DataPages(file)
  const meta = pages.readNewestMeta()
  const { nodes } = pages.readTreePage(meta, meta.main.root!)
  const roots = nodes.map(({ data }) => decodeDatabaseRoot(data).root).filter((root) => root !== undefined)
  const free = freeListPages(pages, meta)
  pages.close()
  return [0, 1, meta.main.root!, ...roots, ...free]
}

function freeListPages(pages: DataPages, meta: Meta): number[] {
  const found: number[] = []
  const waiting = meta.freeList.root === undefined ? [] : [meta.freeList.root]
  for (let page = waiting.pop(); page !== undefined; page = waiting.pop()) {
    found.push(page)
    const { isBranch, nodes } = pages.readTreePage(meta, page)
    for (const node of nodes) if (node.page !== undefined) (isBranch ? waiting : found).push(node.page)
  }
  return found
}

function changeByte(file: string, offset: number, xor: number): void {
  const descriptor = openSync(file, 'r+')
  const byte = Buffer.alloc(1)
  readSync(descriptor, byte, 0, 1, offset)
  byte[0]! ^= xor
  writeSync(descriptor, byte, 0, 1, offset)
  closeSync(descriptor)
}

it(`damage in pages that opening reads ends no process by a signal (TEST_SEED=${SEED})`, () => {
  const random = createRandom(SEED)
  const candidates = pagesOfOpening(stores.file)
  const paths = Array.from({ length: COPIES }, () =>
    stores.copy((file) => {
      for (let left = 1 + random.below(3); left > 0; left--) {
        const page = candidates[random.below(candidates.length)]!
        const offset = page < 2 ? random.below(META_BYTES) : random.below(random.below(2) === 0 ? 128 : PAGE)
        changeByte(file, page * PAGE + offset, 1 + random.below(255))
      }
    }),
  )
  const outcomes = openElsewhere(paths, 'use').map(({ error = 'none' }) => error)
  for (const error of outcomes) if (error !== 'none') expect(error).toMatch(/^store_(corrupt|format): /)
  // Much of a page is what nobody reads.
  expect(outcomes.filter((error) => error !== 'none').length).toBeGreaterThan(COPIES / 4)
})
