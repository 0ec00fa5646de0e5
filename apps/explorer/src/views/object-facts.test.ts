import type { StateWriter } from '@ledger-state/engine'
import { expect, it } from 'vitest'
import { openedPage } from '../../testing/check-view.ts'
import { ALICE, ASSET, CUPS, core, createPageEngine, HOSTILE, LATEST, object } from '../../testing/page-ledger.ts'

let engine: StateWriter
const page = openedPage(async () => {
  engine = await createPageEngine()
  return engine
})

it('shows the kind of an asset and its owner, with its texts as text', async () => {
  await page().goTo(`/account/${ASSET}`)
  await page().shows(
    `Fungible asset ${HOSTILE}`,
    'symbolEVL',
    'decimals3',
    `icon${HOSTILE}`,
    'transfers by its ownerallowed',
  )
  const owner = await page().find('.member a', '0xbad')
  expect(owner.getAttribute('href')).toBe('/account/0xbad')
  expect(page().all('img, b, script')).toEqual([])
})

it('leads from an asset to its supply and its holders', async () => {
  await page().goTo(`/account/${ASSET}`)
  await page().click('a', 'Supply and holders of this asset')
  await page().shows('Nobody holds it at this version.')
  expect(page().path).toBe(`/asset/${ASSET}`)
})

it('lists the tokens of a collection with their owners, with their names as text', async () => {
  await page().goTo(`/account/${CUPS}`)
  await page().shows('Collection Cups', 'Cup 1of 0xa11ce', `${HOSTILE}of 0xbad`)
  expect(page().all('img, b, script')).toEqual([])
})

it('shows nothing of an account that is no object', async () => {
  await page().goTo(`/account/${ALICE}`)
  await page().shows('sent 41 transactions', 'Bean')
  expect(page().all('section[aria-label^="This "]')).toEqual([])
})

it('shows the new owner of an object when it changes hands, also after the node was busy', async () => {
  await page().goTo(`/account/${ASSET}`)
  await page().shows('owner0xbad')
  for (const [at, holder] of ['0xbeef', '0xfeed'].entries()) {
    page().answers('busy')
    const version = LATEST + 1n + BigInt(at)
    const block = { height: version, epoch: 1n, timestampUsec: 1_735_689_700_000_000n + version }
    const writes = [object(ASSET, { '0x1::object::ObjectCore': core(holder) })]
    await engine.commit([{ version, block, writes }], { chainId: 94n })
    page().answers('sound')
    await page().shows(`owner${holder}`)
  }
})
