// A node that keeps only part of the ledger, and refuses the rest as it refuses pruned versions.
import { slicedLedger } from '@ledger-state/http/testing/sliced-ledger'
import { expect, it } from 'vitest'
import { openedPage } from '../../testing/check-view.ts'
import { findTargets } from '../state/find-targets.ts'

const page = openedPage(slicedLedger)
const LEFT_OUT = 'this store keeps only part of the ledger and does not have account 0xa2'

it.each(['', '?at=1'])(
  'the page%s says that the node does not keep the data, and leads to no other version',
  async (at) => {
    await page().goTo(`/account/0xa2${at}`)
    await page().shows('Not kept by this node', LEFT_OUT)
    expect(page().text).not.toContain('No longer kept')
    expect(page().texts('[role=alert] button')).toEqual([])
  },
)

it('the search does not say that the ledger has no such account', async () => {
  await page().goTo('/watch')
  const context = { at: undefined, head: undefined, oldestTimestampUsec: undefined }
  const search = async (text: string) => (await findTargets(text, context, new AbortController().signal)).missing.join()
  expect(await search('0xa2')).toContain(LEFT_OUT)
  expect(await search('0xa2::a::B')).toContain(LEFT_OUT)
})

it('the window shows the place of a time by the version at it', async () => {
  // The versions are 0 to 3. Only version 3 is in the block of the first second.
  await page().goTo('/?at=1970-01-01T00:00:00.5Z')
  const mark = await page().find('.window-here')
  await expect.poll(() => mark.style.left).toMatch(/^66\.6/)
})
