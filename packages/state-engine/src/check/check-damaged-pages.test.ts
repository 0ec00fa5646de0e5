import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import { createRandom, testSeed } from '@ledger-state/testing/random'
import { isSlowRun } from '@ledger-state/testing/slow-run'
import { describe, expect, it } from 'vitest'
import { damagedStores, openElsewhere } from '../../testing/damaged-stores.ts'
import { changeByte, flipAnyBit, PAGE_BYTES, rootPages } from '../../testing/page-damage.ts'
import { listSegments, segmentPath } from '../segments/segment-names.js'

const COPIES = isSlowRun ? 20 : 8
const SEED = testSeed()
const stores = damagedStores({ isPruned: true })

describe('a flipped bit', () => {
  it.runIf(isSlowRun)('in a page of a database is found, and the database is named', () => {
    const roots = [...rootPages(stores.file)]
    expect(roots.map(([name]) => name)).toEqual(['meta', 'segments'])
    const faults = [
      { offset: 1, xor: 1, fault: 'has another number' },
      { offset: 18, xor: 8, fault: 'is not a page of a tree' },
      { offset: 20, xor: 1, fault: 'has a wrong header' },
      { offset: 25, xor: 0x80, fault: 'has a node beyond its end' },
    ]
    const damages = faults.flatMap((fault) => roots.map(([name, page]) => ({ ...fault, name, page })))
    const paths = damages.map(({ page, offset, xor }) =>
      stores.copy((file) => changeByte(file, page * PAGE_BYTES + offset, xor)),
    )
    for (const [at, { error }] of openElsewhere(paths).entries()) {
      const { name, page, fault } = damages[at]!
      // Opening the engine reads these pages.
      expect(error).toMatch(/^store_corrupt: /)
      expect(error).toContain(`the database ${name}: page ${page} ${fault}`)
    }
  })

  it.runIf(isSlowRun)('in a page that only reads reach is store_corrupt, and names the file and the byte', () => {
    const paths = listSegments(dirname(stores.file)).flatMap((number) =>
      [0.1, 0.3, 0.5, 0.7, 0.9].map((share) =>
        stores.copy((file) => {
          const segment = segmentPath(dirname(file), number)
          changeByte(segment, Math.floor(statSync(segment).size * share), 0x42)
        }),
      ),
    )
    const errors = openElsewhere(paths, 'read').flatMap(({ error }) => error ?? [])
    for (const error of errors) expect(error).toMatch(/^store_corrupt: the store is damaged: .*segment-\d+ at byte \d+/)
    expect(errors.length).toBeGreaterThan(0)
  })

  it(`anywhere ends no process and prints no code of LMDB (TEST_SEED=${SEED})`, () => {
    const random = createRandom(SEED)
    const paths = Array.from({ length: COPIES }, () => stores.copy((file) => flipAnyBit(file, random)))
    for (const { problems = [], error = '' } of openElsewhere(paths)) {
      for (const text of [...problems, error]) expect(text).not.toMatch(/MDB_/)
      if (error) expect(error).toMatch(/^store_(corrupt|format): /)
    }
  })
})
