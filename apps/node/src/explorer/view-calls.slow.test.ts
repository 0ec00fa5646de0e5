// The form of a view function in a real browser, on the genesis of devnet, and its history, on a ledger with views made
// for it.
import type { Write } from '@ledger-state/core'
import { accessibilityFindings } from '@ledger-state/explorer/testing/browser'
import { commitViewLedger, HELD, HOLDERS, u64 } from '@ledger-state/ledger/testing/view-ledger'
import { hasSharedData, sharedPath } from '@ledger-state/testing/shared-data'
import { resourceKey } from '@ledger-state/type-tag'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BrowserBed } from '../../testing/browser-bed.ts'

describe.skipIf(!hasSharedData)('the form of a view function (skipped without ../shared)', () => {
  let bed: BrowserBed
  let address: string
  beforeAll(async () => {
    bed = await BrowserBed.open()
    address = (await bed.serve('start', '--from', sharedPath('data/genesis/devnet.genesis.blob'))).address
  })
  afterAll(() => bed?.close())

  it('is reached from its module, calls the function, and leaves the call in the address of the page', async () => {
    const page = await bed.browser.newPage({ viewport: { width: 1_440, height: 900 }, locale: 'en-US' })
    await page.goto(`${address}/module/0x1/coin`)
    await page.locator('a[href="/view/0x1::coin::name"]').click()
    const form = page.getByRole('form', { name: 'Call' })
    const call = form.getByRole('button', { name: 'Call' })
    await call.click()
    await form.getByText('A type is missing').waitFor()
    await form.getByLabel('T0, a type').fill('0x1::aptos_coin::AptosCoin')
    await call.click()
    const answer = page.getByRole('region', { name: 'Answer' })
    await answer.getByText('Aptos Coin', { exact: true }).waitFor()
    const query = new URL(page.url()).searchParams
    expect([query.getAll('type'), query.get('arguments')]).toEqual([['0x1::aptos_coin::AptosCoin'], '[]'])
    expect(await accessibilityFindings(page)).toEqual([])
    await page.close()
  })

  it('takes arguments by their types, and opens again from its address in a narrow window', async () => {
    const page = await bed.browser.newPage({ viewport: { width: 360, height: 760 }, locale: 'en-US' })
    await page.goto(`${address}/view/0x1::account::exists_at`)
    const form = page.getByRole('form', { name: 'Call' })
    await form.getByLabel('argument 1: address').fill('0x1')
    await form.getByRole('button', { name: 'Call' }).click()
    const answer = page.getByRole('region', { name: 'Answer' })
    await answer.getByText('true', { exact: true }).waitFor()
    await page.goto(page.url())
    await answer.getByText('true', { exact: true }).waitFor()
    const tooWide = Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth'))
    expect([Math.max(0, tooWide), await accessibilityFindings(page)]).toEqual([0, []])
    await page.close()
  })

  it('says why a call fails', async () => {
    const page = await bed.browser.newPage({ locale: 'en-US' })
    const shown = async (call: string, text: string) => {
      await page.goto(`${address}/view/${call}`)
      await page.getByText(text).first().waitFor()
    }
    await shown('0x1::account::exists_at?arguments=%5B%22x%22%5D', 'parse arguments[0] failed')
    await shown('0x1::account::exists_at?arguments=x', 'are not a JSON array')
    await shown('0x1::account::no_such?arguments=%5B%5D', 'no such function at this version')
    await shown('0x1::coin::deposit', 'not marked as a view')
    await page.close()
  })
})

describe('the history of a view function', () => {
  let bed: BrowserBed
  let address: string
  beforeAll(async () => {
    bed = await BrowserBed.open()
    const key = resourceKey(HOLDERS[0]!, HELD)
    const writes = Array.from({ length: 40 }, (_, at): Write[] => [[key, u64((at >> 1) * 1_000)]])
    address = await bed.serveStore((engine) => commitViewLedger(engine, 0n, writes))
  })
  afterAll(() => bed?.close())

  it('is a curve and a list under its form, whose versions the page goes to', async () => {
    const page = await bed.browser.newPage({ viewport: { width: 1_440, height: 900 }, locale: 'en-US' })
    await page.goto(`${address}/view/0x42::main::value?arguments=%5B%220xa1%22%5D`)
    const history = page.getByRole('region', { name: 'History' })
    await history.getByText('21 changes').waitFor()
    await history.getByRole('img', { name: 'Answer: 21 changes' }).waitFor()
    await history.getByLabel('decimals').fill('3')
    await history.getByText('19', { exact: true }).waitFor()
    await history.getByRole('button', { name: 'version 37' }).click()
    await page.getByRole('region', { name: 'Answer' }).getByText('18000', { exact: true }).waitFor()
    expect(new URL(page.url()).searchParams.get('at')).toBe('37')
    expect(await accessibilityFindings(page)).toEqual([])
    await page.close()
  })

  it('has calls that are watched side by side, at one version, and are kept by the browser', async () => {
    const context = await bed.browser.newContext({ viewport: { width: 360, height: 760 }, locale: 'en-US' })
    const page = await context.newPage()
    for (const call of ['main::value?arguments=%5B%220xa1%22%5D', 'main::parity_of_time?arguments=%5B%5D']) {
      await page.goto(`${address}/view/0x42::${call}`)
      // When the form appears, it moves everything below it, even between the two halves of a click.
      await page.getByRole('form', { name: 'Call' }).waitFor()
      await page.getByRole('button', { name: 'Watch', exact: true }).click()
      await page.getByRole('button', { name: 'Watched', exact: true }).waitFor()
    }
    await page.goto(`${address}/watch?at=5`)
    const value = page.getByRole('region', { name: '0x42::main::value' })
    await value.getByText('2000').waitFor()
    await page.getByRole('region', { name: '0x42::main::parity_of_time' }).waitFor()
    const tooWide = Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth'))
    expect([Math.max(0, tooWide), await accessibilityFindings(page)]).toEqual([0, []])
    await value.getByRole('button', { name: 'Watch no longer' }).click()
    await value.waitFor({ state: 'detached' })
    await page.reload()
    await page.getByRole('region', { name: '0x42::main::parity_of_time' }).waitFor()
    expect(await page.getByRole('region', { name: '0x42::main::value' }).count()).toBe(0)
    await context.close()
  })
})
