import { expect, it } from 'vitest'
import { checkView } from '../../testing/check-view.ts'
import { ASSET, BEAN, EVIL, HOSTILE, TEA } from '../../testing/page-ledger.ts'
import { toStandardAddress } from '../api/program-lines.ts'

const page = checkView({
  path: `/asset/${TEA}`,
  shows: [/Tea TEA/, 'Supply900 TEA', /At most9\s000 TEA/, 'Decimals1', 'fungible asset', '1 holder'],
  absent: { '/asset/0xdead': 'Not there', '/asset/zzz': 'That cannot be read', '/asset/0xdead::no::Coin': 'Not there' },
  pruned: `/asset/${TEA}?at=1`,
  hostile: `/asset/${ASSET}`,
})

it('shows each holder with its share of the supply', async () => {
  await page().goTo(`/asset/${TEA}`)
  const holder = await page().find('.holder', '25.00 %')
  expect(holder.textContent).toContain('0xa11ce')
  expect(holder.textContent).toContain('225')
  expect(holder.querySelector('a')!.getAttribute('href')).toBe(`/account/${toStandardAddress('0xa11ce')}`)
})

it('shows the supply and the holders of a past version', async () => {
  await page().goTo(`/asset/${TEA}?at=4`)
  await page().shows('Supply500 TEA', '125', '25.00 %')
})

it('has a curve of the supply, and counts its changes', async () => {
  await page().goTo(`/asset/${TEA}`)
  await page().shows('changes in the window')
  const curve = await page().find('[role=img][aria-label^="Supply: "]')
  const count = /Supply: (\d+) changes/.exec(curve.getAttribute('aria-label')!)![1]!
  expect(page().text).toContain(`${count} changes in the window`)
  // One change in each version of the window after its first, whose value may be older.
  expect(['5', '6']).toContain(count)
  await page().shows('+100')
})

it('shows a coin, whose issuer does not count its supply', async () => {
  await page().goTo(`/asset/${BEAN}`)
  await page().shows('Bean BEAN', 'Supplynot counted', 'coin', '1 holder', /9\s000/)
  expect(page().all('.share')).toEqual([])
})

it('draws the hostile name and symbol of a coin as text', async () => {
  await page().goTo(`/asset/${EVIL}`)
  await page().shows(HOSTILE.slice(0, 40), '<i>evil</i>')
  expect(page().all('img, b, i, script')).toEqual([])
})
