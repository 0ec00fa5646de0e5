import { describe, expect, it } from 'vitest'
import { openedPage } from '../../testing/check-view.ts'
import { BEAN, createPageEngine, MALLORY, SHOP, TEA, teaStore } from '../../testing/page-ledger.ts'
import { savedFile } from '../../testing/saved-file.ts'
import { toStandardAddress } from '../api/program-lines.ts'

const ROOM = '0x7ea2'
const VAULT = '0x7ea3'

const page = openedPage(() =>
  createPageEngine([
    [
      teaStore(ROOM, { owner: SHOP, balance: 4_000n }),
      teaStore(VAULT, { owner: MALLORY, balance: 40n, isFrozen: true }),
    ],
  ]),
)

const owners = () => page().texts('.holder > span:nth-child(2) > a')

describe('the holders of an asset', () => {
  it('are listed with the largest first, their stores, shares, and whether they are frozen', async () => {
    await page().goTo(`/asset/${TEA}`)
    await page().shows('3 holders, the largest first')
    expect(owners()).toEqual(['0xcafe', '0xa11ce', '0xbad'])
    expect(page().texts('.holder .rank')).toEqual(['1', '2', '3'])
    expect(page().texts('.holder .share-text')).toEqual(['44.44 %', '25.00 %', '0.44 %'])
    expect(page().texts('.holder .mark')).toEqual(['frozen'])
    const store = await page().find('.holder small a', ROOM)
    expect(store.getAttribute('href')).toBe(`/account/${toStandardAddress(ROOM)}/resources`)
  })

  it('are saved as CSV, all at the version of the page', async () => {
    await page().goTo(`/asset/${TEA}`)
    await page().shows('3 holders')
    const saved = savedFile()
    await page().click('button', 'Save as CSV')
    const [names, ...rows] = (await saved).trimEnd().split('\r\n')
    expect(names).toContain('owner_address')
    expect(rows).toHaveLength(3)
  })

  it('have no share if nobody counts the supply', async () => {
    await page().goTo(`/asset/${BEAN}`)
    await page().shows('1 holder')
    expect(page().all('.share')).toEqual([])
  })

  it('are listed by address if the node refuses to sort so many', async () => {
    page().refuses('order=amount')
    await page().goTo(`/asset/${TEA}`)
    await page().shows('3 holders')
    expect(page().text).not.toContain('the largest first')
    expect(owners()).toEqual(['0xa11ce', '0xcafe', '0xbad'])
  })
})
