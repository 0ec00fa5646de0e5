import { closeSync, openSync, readSync, statSync, writeSync } from 'node:fs'
import { createRandom, testSeed } from '@ledger-state/testing/random'
import { describe, expect, it } from 'vitest'
import { damagedStores, openElsewhere } from '../../testing/damaged-stores.ts'
import { DataPages, decodeDatabaseRoot } from '../lmdb/data-pages.js'

const PAGE = 4_096
const COPIES = process.env.SLOW_TESTS === '1' ? 1_000 : 20
const SEED = testSeed()
const stores = damagedStores({ isPruned: true })

function flipBit(file: string, offset: number, bit: number): void {
  const descriptor = openSync(file, 'r+')
  const byte = Buffer.alloc(1)
  readSync(descriptor, byte, 0, 1, offset)
  byte[0]! ^= 1 << bit
  writeSync(descriptor, byte, 0, 1, offset)
  closeSync(descriptor)
}

/** The page at the root of each database. */
function rootPages(file: string): Map<string, number> {
  const pages = new DataPages(file)
  const meta = pages.readNewestMeta()
  const { nodes } = pages.readTreePage(meta, meta.main.root!)
  pages.close()
  const roots = nodes
    .filter(({ isDatabase }) => isDatabase)
    .map(({ key, data }) => [key.toString().replace('\0', ''), decodeDatabaseRoot(data).root!] as const)
  return new Map(roots)
}

describe('a flipped bit', () => {
  it('in a page of a database is found, and the database is named', () => {
    const roots = [...rootPages(stores.file)]
    expect(roots.map(([name]) => name)).toEqual(['blocks', 'generations', 'large', 'latest', 'meta', 'retired', 'run'])
    for (const [offset, fault] of [
      [1, 'has another number'],
      [18, 'is no page of a tree'],
      [20, 'has a wrong header'],
      [25, 'has a node beyond its end'],
    ] as const) {
      const paths = roots.map(([, page]) =>
        stores.copy((file) => flipBit(file, page * PAGE + offset, offset === 18 ? 3 : 0)),
      )
      const found = openElsewhere(paths)
      for (const [at, [name, page]] of roots.entries()) {
        // An engine looks at these pages as it opens.
        expect(found[at]!.error).toMatch(/^store_corrupt: /)
        expect(found[at]!.error).toContain(
          `the database ${name}: page ${page} ${offset === 20 || offset === 25 ? '' : fault}`,
        )
      }
    }
  })

  it(`anywhere ends no process and prints no code of LMDB (TEST_SEED=${SEED})`, () => {
    const random = createRandom(SEED)
    const { size } = statSync(stores.file)
    const paths = Array.from({ length: COPIES }, () =>
      stores.copy((file) => {
        // Half of them in the header of a page.
        const offset = random.below(2) === 0 ? random.below(40) : random.below(PAGE)
        flipBit(file, random.below(size / PAGE) * PAGE + offset, random.below(8))
      }),
    )
    for (const { problems = [], error = '' } of openElsewhere(paths)) {
      for (const text of [...problems, error]) expect(text).not.toMatch(/MDB_/)
      if (error) expect(error).toMatch(/^store_(corrupt|format): /)
    }
  })
})
