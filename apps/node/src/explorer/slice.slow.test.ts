// Views of a store that keeps a slice, on the demonstration ledger.
import { accessibilityFindings } from '@ledger-state/explorer/testing/browser'
import { ingestSource } from '@ledger-state/ingest'
import { parseSliceSpec } from '@ledger-state/slices'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BrowserBed } from '../../testing/browser-bed.ts'
import { HARBOUR } from '../demo/demo-addresses.js'
import { openDemoLedger } from '../demo/demo-ledger.js'

describe('the home of a store that keeps a slice', () => {
  let bed: BrowserBed
  let address: string
  beforeAll(async () => {
    bed = await BrowserBed.open()
    const spec = parseSliceSpec({ accounts: [HARBOUR], types: ['0x1::fungible_asset::Supply'] })
    address = await bed.serveStore(async (engine) => {
      await ingestSource(engine, openDemoLedger(), { only: { spec } })
    })
  })
  afterAll(() => bed?.close())

  it('states its specification, its members, and the excluded data', async () => {
    const page = await bed.browser.newPage({ viewport: { width: 360, height: 740 }, locale: 'en-US' })
    await page.goto(address)
    await page.getByText('a slice: the data of 1 account, 1 type').waitFor()
    await page.getByText('Outside: other accounts, objects and tables').waitFor()
    await page.getByText(/Left out so far: [1-9][\d\s]* writes \([1-9][\d\s]* bytes\) of transactions\./).waitFor()
    const members = page.getByRole('region', { name: 'Members of the slice' })
    await members.getByText('asked for; known completely').first().waitFor()
    expect(await members.getByText('its handle is in a kept value').count()).toBeGreaterThan(0)
    expect(await accessibilityFindings(page)).toEqual([])
    await page.getByLabel('only those that joined after version').check()
    await page
      .getByText(/Nobody joined later\.|known since version \d+/)
      .first()
      .waitFor()
    await page.close()
  })
})
