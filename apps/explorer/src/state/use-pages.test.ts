// Every list of the page over a real node, loaded in pages of one item.
import type { StateWriter } from '@ledger-state/engine'
import { createSignedTransactions } from '@ledger-state/http/testing/signed-transactions'
import { eventually } from '@ledger-state/testing/eventually'
import { describe, expect, it } from 'vitest'
import { openedPage } from '../../testing/check-view.ts'
import type { PageBed } from '../../testing/page-bed.ts'
import { ALICE, BEAN, createPageEngine, item, LATEST, SHOP, SHOP_TYPE, TABLE, TEA } from '../../testing/page-ledger.ts'

const TABLE_TYPES = `holder=${SHOP}&key_type=u64&value_type=0x1::string::String`

const rowsOf = (page: PageBed): number => page.all('.long-list .rows > li').length

/** Expects that a list has as many rows in pages of one item, each loaded on request, as in one page. */
async function expectSameInPages(page: PageBed, path: string): Promise<void> {
  page.limitsPages(100)
  await page.goTo(path)
  await page.find('.long-list .rows > li')
  await page.hides('Loading…')
  expect(page.all('button.more')).toEqual([])
  const rows = rowsOf(page)
  page.limitsPages(1)
  await page.goTo(path)
  let clicks = 0
  await eventually(
    () => {
      for (const button of page.all('button.more')) {
        button.click()
        clicks++
      }
      return rowsOf(page) === rows
    },
    () => `${rows} rows at ${path}, which has ${rowsOf(page)} after ${clicks} clicks and shows: ${page.text}`,
  )
  expect(clicks).toBeGreaterThan(0)
  expect(page.all('[role=alert]')).toEqual([])
}

describe('a list in pages of one item shows what it shows in one page', () => {
  const page = openedPage()

  for (const at of ['', '5']) {
    it.each([
      `/account/${ALICE}`,
      `/account/${ALICE}/activities`,
      `/account/${ALICE}/resources`,
      `/account/${SHOP}/modules`,
      `/account/${SHOP}/changes`,
      `/balance/${ALICE}/${BEAN}`,
      `/resource/${SHOP}/${SHOP_TYPE}`,
      `/table/${TABLE}?${TABLE_TYPES}`,
      `/table/${TABLE}?${TABLE_TYPES}&key=${encodeURIComponent('"2"')}`,
      `/asset/${TEA}`,
      '/view/0xcafe::shop::price?arguments=%5B%5D',
    ])(`%s ${at && `at version ${at}`}`, async (path) => {
      await expectSameInPages(page(), at === '' ? path : `${path}${path.includes('?') ? '&' : '?'}at=${at}`)
    })
  }
})

describe('a list at a version of the future', () => {
  let engine: StateWriter
  const page = openedPage(async () => (engine = await createPageEngine()))

  it('is shown once the version is there', async () => {
    const next = LATEST + 1n
    await page().goTo(`/table/${TABLE}?${TABLE_TYPES}&at=${next}`)
    await page().shows('This page shows it once it is there.')
    const block = { height: next, epoch: 1n, timestampUsec: 1_735_689_700_000_000n }
    await engine.commit([{ version: next, block, writes: [item(TABLE, 1, 'a kettle')] }], { chainId: 94n })
    await page().shows('a kettle')
  })
})

describe('a list of transactions in pages of one item shows what it shows in one page', () => {
  const page = openedPage(async () => (await createSignedTransactions({ seed: 7 })).engine)

  it('the transactions that changed an account', () => expectSameInPages(page(), '/account/0x1/transactions'))
})
