import { createSignedTransactions } from '@ledger-state/http/testing/signed-transactions'
import { beforeAll, describe, expect, it } from 'vitest'
import { openedPage } from '../../testing/check-view.ts'
import { findTargets } from '../state/find-targets.ts'

const page = openedPage(async () => (await createSignedTransactions({ seed: 7 })).engine)

it('a block of a node that keeps transactions shows each of them, and all of it on request', async () => {
  await page().goTo('/block/3')
  await page().shows('Height', /\d+ transactions?/, 'version')
  expect(page().text).not.toContain('Changed values')
  const [first, last] = /Versions(\d+) to (\d+)/.exec(page().text)!.slice(1).map(Number)
  expect(page().all('.transactions details').length).toBe(last! - first! + 1)
  await page().unfold(`version ${first}`)
  await page().shows('accumulator_root_hash')
})

it('a block of a node that keeps transactions names its proposer, epoch and round', async () => {
  await page().goTo('/block/3')
  await page().shows(/Proposer0x\w{6}….{6}/, /Epoch\d/, /Round\d/)
})

it('a transaction is found by its hash, and its block shows all of it', async () => {
  await page().goTo('/version/12')
  const row = await page().find('.transactions details[open]', 'version 12')
  await page().shows('accumulator_root_hash')
  expect(page().all('.transactions details[open]').length).toBe(1)
  const linked = page()
    .all('.transactions .member')
    .filter((member) => member.querySelector('dd > a') !== null)
  const names = linked.map((member) => member.querySelector('dt')!.textContent)
  expect(names.filter((name) => name?.endsWith('hash'))).toEqual([])
  const hash = row.querySelector('summary code')!.getAttribute('title')!
  const context = { at: undefined, head: undefined, oldestTimestampUsec: undefined }
  const { targets, missing } = await findTargets(hash, context, new AbortController().signal)
  const view = { name: 'block', by: 'version', number: '12' }
  expect(targets).toEqual([{ label: `transaction ${hash}, version 12`, view }])
  expect(missing).toEqual([])
})

describe('a node that keeps the transactions of later blocks', () => {
  beforeAll(() => page().leave())
  const later = openedPage(async () => (await createSignedTransactions({ seed: 7, wholeFrom: 60 })).engine)

  it('compares the states before and after an earlier block', async () => {
    await later().goTo('/block/3')
    await later().shows('does not keep the transactions of this block', /Compared: \d+ address/)
    await later().goTo('/version/100')
    await later().find('.transactions details[open]', 'version 100')
  })
})
