import { closeSync, openSync, readSync, statSync, writeSync } from 'node:fs'
import type { Random } from '@ledger-state/testing/random'
import { DataPages, decodeDatabaseRoot, type Meta } from '../src/lmdb/data-pages.ts'

export const PAGE_BYTES = 4_096
const META_BYTES = 160

export function changeByte(file: string, offset: number, xor: number): void {
  const descriptor = openSync(file, 'r+')
  const byte = Buffer.alloc(1)
  readSync(descriptor, byte, 0, 1, offset)
  byte[0]! ^= xor
  writeSync(descriptor, byte, 0, 1, offset)
  closeSync(descriptor)
}

/** Flips one bit anywhere in the file, half of the time in the header of a page. */
export function flipAnyBit(file: string, random: Random): void {
  const offset = random.below(2) === 0 ? random.below(40) : random.below(PAGE_BYTES)
  const page = random.below(statSync(file).size / PAGE_BYTES)
  changeByte(file, page * PAGE_BYTES + offset, 1 << random.below(8))
}

/** Changes up to three bytes of some of these pages. */
export function damagePages(file: string, pages: readonly number[], random: Random): void {
  for (let left = 1 + random.below(3); left > 0; left--) {
    const page = random.pick(pages)
    const offset = page < 2 ? random.below(META_BYTES) : random.below(random.below(2) === 0 ? 128 : PAGE_BYTES)
    changeByte(file, page * PAGE_BYTES + offset, 1 + random.below(255))
  }
}

/** Root page of each database. */
export function rootPages(file: string): Map<string, number> {
  return withPages(file, (pages, meta) => {
    const { nodes } = pages.readTreePage(meta, meta.main.root!)
    const roots = nodes
      .filter(({ isDatabase }) => isDatabase)
      .map(({ key, data }) => [key.toString().replace('\0', ''), decodeDatabaseRoot(data).root!] as const)
    return new Map(roots)
  })
}

/**
 * Pages that opening a store reads: both meta pages, the list of databases, their roots, and the list of free pages.
 */
export function openingPages(file: string): number[] {
  const roots = rootPages(file).values()
  return withPages(file, (pages, meta) => [0, 1, meta.main.root!, ...roots, ...freeListPages(pages, meta)])
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

function withPages<T>(file: string, read: (pages: DataPages, meta: Meta) => T): T {
  const pages = new DataPages(file)
  try {
    return read(pages, pages.readNewestMeta())
  } finally {
    pages.close()
  }
}
