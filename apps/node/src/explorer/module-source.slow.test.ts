// The source and the package of a module, and the differences between two versions of it, on the genesis of devnet.
import { parseAddress } from '@ledger-state/core'
import { accessibilityFindings } from '@ledger-state/explorer/testing/browser'
import { openSource } from '@ledger-state/feed'
import { ingestSource } from '@ledger-state/ingest'
import { writeModule } from '@ledger-state/move-module'
import { hasSharedData, sharedPath } from '@ledger-state/testing/shared-data'
import { moduleKey } from '@ledger-state/type-tag'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BrowserBed } from '../../testing/browser-bed.ts'

const FRAMEWORK = parseAddress('0x1')

describe.skipIf(!hasSharedData)('the source of a module (skipped without ../shared)', () => {
  let bed: BrowserBed
  let address: string
  beforeAll(async () => {
    bed = await BrowserBed.open()
    address = await bed.serveStore(async (engine) => {
      await ingestSource(engine, await openSource(sharedPath('data/genesis/devnet.genesis.blob')))
      const { chainId } = engine.ledger!
      const block = { height: 1n, epoch: 2n, timestampUsec: 1_700_000_000_000_000n }
      const types = [{ kind: 'struct', name: 'Added', abilities: 0, typeParameters: [], fields: [] }] as const
      const changed = writeModule({ version: 6, address: FRAMEWORK, name: 'bcs', structs: types })
      await engine.commit([{ version: 1n, block, writes: [[moduleKey(FRAMEWORK, 'bcs'), changed]] }], { chainId })
    })
  })
  afterAll(() => bed?.close())

  it('is shown next to its package, with colours', async () => {
    const page = await bed.browser.newPage({ viewport: { width: 360, height: 740 }, locale: 'en-US' })
    await page.goto(`${address}/module/0x1/coin?at=0`)
    await page.getByText('Source and package').click()
    await page.getByText('AptosFramework').waitFor()
    await page.getByText('compatible: changes that keep').waitFor()
    const source = page.locator('pre.source')
    expect(await source.textContent()).toContain('module aptos_framework::coin {')
    expect(await source.locator('.keyword').count()).toBeGreaterThan(100)
    expect(await accessibilityFindings(page)).toEqual([])
    await page.close()
  })

  it('is compared with another version, together with the declarations', async () => {
    const page = await bed.browser.newPage({ viewport: { width: 1_440, height: 900 }, locale: 'en-US' })
    await page.goto(`${address}/module/0x1/bcs`)
    await page.getByText('Compare with another version').click()
    const compare = async (text: string) => {
      await page.getByLabel('Version or time to compare with').fill(text)
      await page.getByRole('button', { name: 'Compare' }).click()
    }
    await compare('1')
    await page.getByText('The same bytecode at 1.').waitFor()
    await compare('0')
    await page.locator('pre.source ins', { hasText: '+ struct Added' }).waitFor()
    await page.locator('pre.source del', { hasText: '- public native fun to_bytes' }).waitFor()
    await compare('7')
    await page
      .getByText(/not found|not there yet|Version 7/i)
      .first()
      .waitFor()
    await page.close()
  })
})
