import { createRandom, testSeed } from '@ledger-state/testing/random'
import { expect, it } from 'vitest'
import { damagedStores, openElsewhere } from '../../testing/damaged-stores.ts'
import { damagePages, flipAnyBit, openingPages } from '../../testing/page-damage.ts'

const ROUNDS = 6
const COPIES = 50
const LONG = { timeout: 600_000 }
const SEED = testSeed()
const stores = damagedStores({ isPruned: true })

it(`bits that are flipped anywhere end no process that opens and checks (TEST_SEED=${SEED})`, LONG, () => {
  const random = createRandom(SEED)
  for (let round = 0; round < ROUNDS; round++) {
    const paths = Array.from({ length: COPIES }, () => stores.copy((file) => flipAnyBit(file, random)))
    for (const { problems = [], error = '' } of openElsewhere(paths)) {
      for (const text of [...problems, error]) expect(text).not.toMatch(/MDB_/)
      if (error) expect(error).toMatch(/^store_(corrupt|format): /)
    }
    stores.removeCopies()
  }
})

it(`damage in pages that opening reads ends no process that reads and commits (TEST_SEED=${SEED})`, LONG, () => {
  const random = createRandom(SEED)
  const pages = openingPages(stores.file)
  for (let round = 0; round < ROUNDS; round++) {
    const paths = Array.from({ length: COPIES }, () => stores.copy((file) => damagePages(file, pages, random)))
    for (const { error } of openElsewhere(paths, 'use')) if (error) expect(error).toMatch(/^store_(corrupt|format): /)
    stores.removeCopies()
  }
})
