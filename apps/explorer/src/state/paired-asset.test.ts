import { bytesToHex } from '@ledger-state/core'
import { expect, it } from 'vitest'
import { openedPage } from '../../testing/check-view.ts'
import { ALICE, core, createPageEngine, object } from '../../testing/page-ledger.ts'

const PAIRED = '0x9a12'
const toHex = (text: string) => bytesToHex(new TextEncoder().encode(text))

const page = openedPage(() =>
  createPageEngine([
    [
      object(PAIRED, {
        '0x1::coin::PairedCoinType': {
          type: { account_address: '0xcafe', module_name: toHex('pairs_of_cups'), struct_name: toHex('Pair') },
        },
        '0x1::object::ObjectCore': core(ALICE),
        '0x1::fungible_asset::Metadata': { name: 'Pair', symbol: 'PR', decimals: 0, icon_uri: '', project_uri: '' },
      }),
    ],
  ]),
)

it('the facts of an asset are drawn once its other form is known, so none of them moves', async () => {
  await page().goTo(`/asset/${PAIRED}`, 'late')
  const release = page().holdsAt(/PairedCoinType/)
  const seen = new Set<string>()
  const watcher = new window.MutationObserver(() => {
    for (const facts of page().texts('dl.facts')) seen.add(facts)
  })
  watcher.observe(document.body, { childList: true, subtree: true, characterData: true })
  page().answers('sound')
  await page().shows('Pair')
  await release()
  await page().shows('Also a coin', 'Declared at')
  watcher.disconnect()
  for (const facts of seen) expect(facts).toContain('Also a coin')
})

it('the name of the other form wraps at its colons', async () => {
  await page().goTo(`/asset/${PAIRED}`)
  const link = await page().find('dl.facts a', 'pairs_of_cups::Pair')
  expect(link.innerHTML).toContain('pairs_of_cups::<wbr>Pair')
})
