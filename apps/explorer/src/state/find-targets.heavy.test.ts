import { createSignedTransactions } from '@ledger-state/http/testing/signed-transactions'
import { beforeAll, describe, expect, it } from 'vitest'
import { openedPage } from '../../testing/check-view.ts'
import {
  ALICE,
  BEAN,
  coinStore,
  core,
  createPageEngine,
  HOSTILE,
  object,
  packages,
  viewModule,
} from '../../testing/page-ledger.ts'
import { findTargets } from './find-targets.ts'

const page = openedPage()

const HEAD = {
  version: '9',
  chainId: '94',
  oldestVersion: '3',
  timestampUsec: '0',
  height: '9',
  oldestHeight: '3',
  epoch: '1',
}

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

it('says that nothing has the name', async () => {
  expect(await search('nonsense')).toMatchObject({ labels: [], missing: [expect.stringContaining('“nonsense”')] })
  const hex = await search('beef')
  expect(hex.labels).toEqual([])
  expect(hex.missing.join()).toContain('no account, object, asset or table 0xbeef')
  expect((await search('0xbeef0')).missing).toEqual(['This state has no account, object, asset or table 0xbeef0.'])
})

const UNKNOWN_HASH = `0x${'5e'.repeat(32)}`

function expectNoHash(missing: readonly string[], why: string): void {
  expect(missing).toHaveLength(1)
  expect(missing[0]).toContain(`This state has no account, object, asset or table ${UNKNOWN_HASH}.`)
  expect(missing[0]).toContain(`A transaction cannot be found by its hash. The node says: ${why}`)
}

it('says that a hash cannot be found without whole transactions', async () => {
  const { missing } = await search(UNKNOWN_HASH)
  expectNoHash(missing, 'GET /v1/transactions/by_hash/{txn_hash} is not served: ')
  expect(missing[0]).toContain('this service does not keep whole transactions.')
})

it('says that the node did not answer, and not that something does not exist', async () => {
  await page().goTo('/watch')
  for (const text of ['0xa11ce', '0xcafe::shop', '0xcafe::shop::Shop']) {
    page().answers('busy')
    const context = { at: undefined, head: undefined, oldestTimestampUsec: undefined }
    const { targets, missing } = await findTargets(text, context, new AbortController().signal)
    expect({ targets, missing }, text).toEqual({
      targets: [],
      missing: ['The node did not answer the whole search, so something may be missing.'],
    })
  }
})

it('says that a state is not kept, and not that it lacks something', async () => {
  await page().goTo('/watch')
  const context = { at: '1', head: undefined, oldestTimestampUsec: undefined }
  for (const text of ['0xa11ce', '0xcafe::shop', '0xcafe::shop::Shop']) {
    const { missing } = await findTargets(text, context, new AbortController().signal)
    expect(missing, text).toEqual(['The node does not say it: Ledger version(1) has been pruned.'])
  }
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

describe('a node that keeps whole transactions, and does not index their hashes', () => {
  beforeAll(() => page().leave())
  const unindexed = openedPage(async () => {
    return (await createSignedTransactions({ seed: 7, indexes: new Set(['sender', 'affected']) })).engine
  })

  it('says so, and not that it keeps none', async () => {
    await unindexed().goTo('/watch')
    const context = { at: undefined, head: { ...HEAD, chainId: '3' }, oldestTimestampUsec: undefined }
    const { missing, targets } = await findTargets(UNKNOWN_HASH, context, new AbortController().signal)
    expect(targets).toEqual([])
    expectNoHash(missing, 'this store does not index transactions by their hash')
    expect(missing[0]).not.toContain('does not keep whole transactions')
  })
})

describe('a ledger with names far behind its first entries', () => {
  const far = (digits: string) => `0xff${digits.padStart(62, '0')}`
  const account = (address: string) => packages(address, 'Filler', 'none', '')
  const fungible = (address: string, name: string) =>
    object(address, {
      '0x1::object::ObjectCore': core(ALICE),
      '0x1::fungible_asset::Metadata': { name, symbol: 'Q', decimals: 1, icon_uri: '', project_uri: '' },
    })
  const token = (address: string, name: string) =>
    object(address, {
      '0x1::object::ObjectCore': core(ALICE),
      '0x4::token::Token': { collection: { inner: '0xc0b5' }, name },
    })
  const filler = Array.from({ length: 3_500 }, (_, at) => coinStoreOf(at))
  const further = [
    ...filler,
    ...Array.from({ length: 20 }, (_, at) => fungible(far(`a${at + 10}`), `Filling ${at}`)),
    fungible(far('aff'), 'Zebra gold'),
    ...Array.from({ length: 120 }, (_, at) => token(far(`b${at + 100}`), `Lamp ${at}`)),
    token(far('bfff'), 'Zebra lamp'),
    ...Array.from({ length: 12 }, (_, at) => account(far(`d${at + 10}`))),
    account(far('dff')),
    viewModule(far('dff'), 'zebra_barn', 'zebra_count'),
    ...Array.from({ length: 230 }, (_, at) => viewModule(far('dff'), `filling_${at}`, 'nothing')),
    viewModule(far('dff'), 'zz_last', 'zebra_last'),
  ]
  beforeAll(() => page().leave())
  const large = openedPage(() => createPageEngine([further]))
  const search = async (text: string, at: string) => {
    await large().goTo('/watch')
    const context = { at, head: undefined, oldestTimestampUsec: undefined }
    const { targets, missing } = await findTargets(text, context, new AbortController().signal)
    return { labels: targets.map(({ label }) => label), missing }
  }

  it('is searched to its end: for assets, tokens, modules and functions', async () => {
    const { labels, missing } = await search('ebra', '9')
    expect(missing).toEqual([])
    expect(labels.toSorted()).toEqual([
      `asset Zebra gold (Q) ${far('aff')}`,
      `module ${far('dff')}::zebra_barn`,
      `token Zebra lamp ${far('bfff')}`,
      `view ${far('dff')}::zebra_barn::zebra_count`,
      `view ${far('dff')}::zz_last::zebra_last`,
    ])
  })

  it('says how many names match a text that more match than are shown', async () => {
    const { labels, missing } = await search('lamp', '9')
    expect(labels.length).toBe(8)
    expect(missing).toEqual([
      '121 collections and tokens match; the first 8 are shown, and a longer text finds the others.',
    ])
  })

  it('says that the node did not answer a part of the search, and asks again', async () => {
    await large().goTo('/watch')
    large().failsAt(/Metadata\/uses.*start=/)
    const context = { at: '9', head: { ...HEAD, chainId: '1' }, oldestTimestampUsec: undefined }
    const ask = () => findTargets('zebra gold', context, new AbortController().signal)
    expect((await ask()).missing.at(-1)).toBe('The node did not answer the whole search, so something may be missing.')
    large().failsAt(undefined)
    expect(await ask()).toMatchObject({ targets: [{ label: `asset Zebra gold (Q) ${far('aff')}` }], missing: [] })
  })
})

describe('a ledger that is larger than a search', () => {
  beforeAll(() => page().leave())
  const larger = openedPage(() => createPageEngine([Array.from({ length: 12_000 }, (_, at) => coinStoreOf(at))]))

  it('is searched up to an address, which the search says', async () => {
    await larger().goTo('/watch')
    const context = { at: '9', head: { ...HEAD, chainId: '2' }, oldestTimestampUsec: undefined }
    for (const text of ['zebra', 'ean']) {
      const { missing } = await findTargets(text, context, new AbortController().signal)
      expect(missing.join()).toMatch(
        /The search looked at \d+ % of all addresses, starting at 0x0; more names may be at the others\./,
      )
    }
  })
})

/** A balance of one of many accounts, whose addresses are spread over all. */
function coinStoreOf(at: number) {
  return coinStore(`0x${((at * 40_503) % 65_536).toString(16).padStart(4, '0')}${'0'.repeat(59)}1`, BEAN, 1n)
}
