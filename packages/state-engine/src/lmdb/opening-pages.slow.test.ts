import { createRandom, testSeed } from '@ledger-state/testing/random'
import { expect, it } from 'vitest'
import { damagedStores, openElsewhere } from '../../testing/damaged-stores.ts'
import { damagePages, openingPages } from '../../testing/page-damage.ts'

const COPIES = 40
const SEED = testSeed()
const stores = damagedStores({ isPruned: true })

it(`damage in pages that opening reads ends no process by a signal (TEST_SEED=${SEED})`, () => {
  const random = createRandom(SEED)
  const pages = openingPages(stores.file)
  const paths = Array.from({ length: COPIES }, () => stores.copy((file) => damagePages(file, pages, random)))
  const errors = openElsewhere(paths, 'use').flatMap(({ error }) => error ?? [])
  for (const error of errors) expect(error).toMatch(/^store_(corrupt|format): /)
  // Many bytes of a page are never read.
  expect(errors.length).toBeGreaterThan(COPIES / 8)
})
