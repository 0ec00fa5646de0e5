import { expect, it } from 'vitest'
import { checkView } from '../../testing/check-view.ts'
import { ALICE, CUP, HOSTILE, MALLORY } from '../../testing/page-ledger.ts'
import { toStandardAddress } from '../api/program-lines.ts'

const page = checkView({
  path: `/account/${ALICE}/objects`,
  shows: ['Cup 1', 'token', 'Cups', 'collection', 'fungible store', 'written at version 8'],
  absent: { '/account/0xdead/objects': 'It owns no objects at this version.' },
  pruned: `/account/${ALICE}/objects?at=1`,
  hostile: `/account/${MALLORY}/objects`,
  hostileText: HOSTILE,
})

it('leads to an object', async () => {
  await page().goTo(`/account/${ALICE}/objects`)
  const token = await page().find('.object-row a', 'Cup 1')
  expect(token.getAttribute('href')).toBe(`/account/${toStandardAddress(CUP)}/resources`)
})
