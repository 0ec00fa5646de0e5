import { parseAddress, type Write } from '@ledger-state/core'
import { slicedLedger } from '@ledger-state/http/testing/sliced-ledger'
import { HELD, HOLDERS, u64 } from '@ledger-state/ledger/testing/view-ledger'
import { resourceKey, tableItemKey } from '@ledger-state/type-tag'
import { beforeAll, describe, expect, it } from 'vitest'
import { openedPage } from '../../testing/check-view.ts'
import { ALICE, createPageEngine, item, TABLE, teaStore } from '../../testing/page-ledger.ts'

const page = openedPage()

it('shows the accounts and the tables that a block changed, with the values before and after', async () => {
  await page().goTo('/block/5')
  await page().shows('Changed values', 'account 0xa11ce', 'coin.value', '500000 → 600000', 'Compared: 3 addresses')
  await page().shows('account 0xcafe', '104 → 105', '1 changed item', 'a cup → a saucer')
  expect(page().text).not.toContain('a teapot')
})

it('compares further accounts and objects on request, until all are compared', async () => {
  await page().goTo('/block/5')
  await page().click('button', 'Compare more accounts')
  await page().click('button', 'Compare more accounts')
  await page().shows('every object that is there before or after the block', '500 → 600 TEA')
  await page().hides('Compare more accounts')
})

it('says that the state before the oldest block is not kept', async () => {
  await page().goTo('/block/3')
  await page().shows('The state before this block is no longer kept')
})

it('says that the node fails while it compares, and compares the rest later', async () => {
  await page().goTo('/block/5')
  await page().shows('Compared: 3 addresses, 1 table.', 'the framework, holders of tables')
  page().answers('failed')
  await page().click('button', 'Compare more accounts')
  await page().shows('The node failed')
  page().answers('sound')
  await page().click('button', 'Compare more accounts')
  await page().click('button', 'Compare more accounts')
  await page().shows('every object that is there before or after the block', '500 → 600 TEA')
  await page().hides('The node failed')
})

it('goes on by itself after the node was busy', async () => {
  await page().goTo('/block/5')
  await page().shows('Compared: 3 addresses, 1 table.')
  page().answers('busy')
  await page().click('button', 'Compare more accounts')
  await page().shows('The node is busy; asking again')
  page().answers('sound')
  await page().hides('The node is busy')
})

describe.each([
  ['lists no tables', /types\/0x1::table::Table\/uses/, ', no tables.'],
  ['does not answer the holder of a table', /resource\/0xcafe%3A%3Ashop/, ', no tables.'],
  ['does not answer the items before the block', /items\?limit=100.*ledger_version=4/, ', no tables.'],
  ['does not answer the items after the block', /items\?limit=100.*ledger_version=5/, ', no tables.'],
])('a node that %s', (_, paths, says) => {
  it('has failed, and its tables are not shown until it answers', async () => {
    await page().goTo('/block/5')
    page().failsAt(paths)
    await page().shows('The node failed', says, 'The node did not list or answer some tables.')
    expect(page().text).not.toContain('a saucer')
    page().failsAt(undefined)
    await page().click('button', 'Compare more accounts')
    await page().shows('a cup → a saucer', ', 1 table.')
    await page().hides('did not list')
    await page().hides('The node failed')
  })
})

describe('a block that changes a long table', () => {
  const items = (text: string) => Array.from({ length: 101 }, (_, at) => item(TABLE, at, text))
  beforeAll(() => page().leave())
  const long = openedPage(() => createPageEngine([items('bread'), items('cake')]))

  it('says that not all items were compared', async () => {
    await long().goTo('/block/10')
    await long().shows('bread → cake', '100 changed items')
    await long().shows('It compared only the first 100 items of each table. Changes of other tables are not shown.')
  })
})

describe('a block that deletes an object', () => {
  const made = teaStore('0xde1', { owner: ALICE, balance: 7n })
  beforeAll(() => page().leave())
  const deleting = openedPage(() => createPageEngine([[made], [[made[0], null]]]))

  it('is shown with the object, which no state after it has', async () => {
    await deleting().goTo('/block/10')
    await deleting().click('button', 'Compare more accounts')
    await deleting().click('button', 'Compare more accounts')
    await deleting().shows('account 0xde1', 'deleted', 'every object that is there before or after the block')
    await deleting().hides('Compare more accounts')
  })
})

describe('a node that keeps a slice', () => {
  const versionOf = (value: number): readonly Write[] => [
    [resourceKey(HOLDERS[0]!, HELD), u64(value)],
    [tableItemKey(parseAddress('0x8'), u64(1)), u64(value)],
  ]
  beforeAll(() => page().leave())
  const sliced = openedPage(() => slicedLedger({ tables: ['0x8'], further: [versionOf(5), [], versionOf(6)] }))

  it('compares its members, and says how many it knows only in part', async () => {
    await sliced().goTo('/block/2')
    await sliced().shows('every member that it knows completely', 'account 0xa1', 'table 0x8', '5 → 6', ', 1 table.')
    await sliced().shows('0x0500000000000000 → 0x0600000000000000', /The changes of \d others are unknown\./)
    await sliced().hides('Compare more accounts')
    await sliced().hides('Not kept by this node')
  })
})
