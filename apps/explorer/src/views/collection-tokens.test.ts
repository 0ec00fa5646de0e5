import { expect, it } from 'vitest'
import { openedPage } from '../../testing/check-view.ts'
import { ALICE, CUP, CUPS, collection, createPageEngine, LATEST, MALLORY, token } from '../../testing/page-ledger.ts'
import { toStandardAddress } from '../api/program-lines.ts'

const EMPTY = '0xc0b6'
const LARGE = '0xc0b7'
const LARGE_TOKENS = 101
const [LIMITED, UNLIMITED] = ['0xc0b8', '0xc0b9']
const supplyUpTo = (most: bigint) => {
  const counted = { value: '3', max_value: String(most) }
  return { '0x4::collection::ConcurrentSupply': { current_supply: counted, total_minted: counted } }
}
const tokenAddress = (at: number): string => `0xc0b7${at.toString(16).padStart(3, '0')}`

const page = openedPage(() =>
  createPageEngine([
    [
      collection(EMPTY, 'Nothing yet'),
      collection(LARGE, 'Spoons'),
      collection(LIMITED, 'Forks', supplyUpTo(7n)),
      collection(UNLIMITED, 'Knives', supplyUpTo(2n ** 64n - 1n)),
      ...Array.from({ length: LARGE_TOKENS }, (_, at) =>
        token(tokenAddress(at), { owner: ALICE, collection: LARGE, name: `Spoon ${at}` }),
      ),
    ],
    [token(CUP, { owner: MALLORY, collection: CUPS, name: 'Cup 1' })],
  ]),
)

const rows = (): readonly string[] => page().texts('section[aria-label="Tokens"] .change')

it('of a collection without tokens shows its facts, and that it has none', async () => {
  await page().goTo(`/account/${EMPTY}`)
  await page().shows('Collection Nothing yet', 'creator0xa11ce', 'transfers by its ownerallowed', 'It has no tokens.')
  expect(rows()).toEqual([])
})

it('shows no token that is still loading, and says that a list failed', async () => {
  await page().goTo(`/account/${EMPTY}`)
  page().failsAt(/\/tokens/)
  await page().shows('Collection Nothing yet', 'it says internal_error')
  expect(page().text).not.toContain('It has no tokens.')
})

it('shows the owner that a token has at the version', async () => {
  await page().goTo(`/account/${CUPS}`)
  await page().shows('Cup 1of 0xbad')
  await page().goTo(`/account/${CUPS}?at=${LATEST}`)
  await page().shows('Cup 1of 0xa11ce')
})

it('leads from a collection to a token, and from the token to its collection', async () => {
  await page().goTo(`/account/${CUPS}`)
  const row = await page().find('section[aria-label="Tokens"] a', 'Cup 1')
  expect(row.getAttribute('href')).toBe(`/account/${toStandardAddress(CUP)}/resources`)
  await page().goTo(`/account/${CUP}`)
  await page().shows('Token Cup 1')
  const link = await page().find('section[aria-label="This token"] .member a')
  expect(link.getAttribute('href')).toBe(`/account/${CUPS}`)
})

it('asks for a large collection in pages', async () => {
  await page().goTo(`/account/${LARGE}`)
  await page().shows('Collection Spoons', 'Spoon 0of 0xa11ce')
  await page().click('section[aria-label="Tokens"] button', 'More')
  await expect.poll(() => page().all('section[aria-label="Tokens"] button')).toEqual([])
})

it('shows the most tokens of a collection only if there is a most', async () => {
  await page().goTo(`/account/${LIMITED}`)
  await page().shows('Collection Forks', 'tokens3', 'at most7')
  await page().goTo(`/account/${UNLIMITED}`)
  await page().shows('Collection Knives', 'tokens3')
  expect(page().text).not.toContain('at most')
})
