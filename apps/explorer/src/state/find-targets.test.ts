import { expect, it } from 'vitest'
import { openedPage } from '../../testing/check-view.ts'
import { HOSTILE } from '../../testing/page-ledger.ts'
import { findTargets } from './find-targets.ts'

const page = openedPage()

async function search(text: string) {
  await page().goTo('/watch')
  const context = { at: undefined, head: undefined, oldestTimestampUsec: undefined }
  const { targets, missing } = await findTargets(text, context, new AbortController().signal)
  return { labels: targets.map(({ label }) => label), views: targets.map(({ view }) => view), missing }
}

it.each<readonly [text: string, label: string, view: object]>([
  ['hop', 'module 0xcafe::shop', { name: 'module', address: '0xcafe', module: 'shop' }],
  ['PRIC', 'view 0xcafe::shop::price', { name: 'view', function: '0xcafe::shop::price' }],
  ['shop::pri', 'view 0xcafe::shop::price', { name: 'view', function: '0xcafe::shop::price' }],
  ['0xcafe::shop::price', 'view 0xcafe::shop::price', { name: 'view', function: '0xcafe::shop::price' }],
  ['ean', 'asset Bean (BEAN) 0xcafe::bean::Bean', { name: 'asset', asset: '0xcafe::bean::Bean' }],
  ['TE', 'asset Tea (TEA) 0x7ea', { name: 'asset', asset: '0x7ea' }],
  ['ups', 'collection Cups 0xc0b5', { name: 'account', address: '0xc0b5', tab: 'resources' }],
  ['cup 1', 'token Cup 1 0xc0b51', { name: 'account', address: '0xc0b51', tab: 'resources' }],
  ['bold', `token ${HOSTILE} 0xc0b52`, { name: 'account', address: '0xc0b52', tab: 'resources' }],
  ['a11ce', 'account 0xa11ce', { name: 'account', address: '0xa11ce', tab: 'balances' }],
  ['7AB1E2', 'table 0x7AB1E2', { name: 'table', handle: '0x7AB1E2', types: {} }],
  ['0xa11c', 'account 0xa11ce', { name: 'account', address: '0xa11ce', tab: 'balances' }],
  ['a11c', 'account 0xa11ce', { name: 'account', address: '0xa11ce', tab: 'balances' }],
  ['1', 'account 0x1', { name: 'account', address: '0x1', tab: 'modules' }],
])('%s finds %s', async (text, label, view) => {
  // Once more, after the names are remembered.
  for (let times = 0; times < 2; times++) {
    const { labels, views, missing } = await search(text)
    expect(labels).toContain(label)
    expect(views[labels.indexOf(label)]).toEqual(view)
    expect(missing).toEqual([])
  }
})

it('says what nothing is called', async () => {
  expect(await search('nonsense')).toMatchObject({ labels: [], missing: [expect.stringContaining('“nonsense”')] })
  const hex = await search('beef')
  expect(hex.labels).toEqual([])
  expect(hex.missing.join()).toContain('no account, object, asset or table 0xbeef')
  expect((await search('0xbeef0')).missing).toEqual(['This state has no account, object, asset or table 0xbeef0.'])
})

it('asks again after the node did not answer', async () => {
  await page().goTo('/watch')
  const search = (text: string) =>
    findTargets(text, { at: '8', head: undefined, oldestTimestampUsec: undefined }, new AbortController().signal)
  page().answers('lost')
  expect((await search('ean')).targets).toEqual([])
  page().answers('sound')
  expect((await search('ean')).targets.map(({ label }) => label)).toContain('asset Bean (BEAN) 0xcafe::bean::Bean')
})
