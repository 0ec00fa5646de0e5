import type { StateWriter } from '@ledger-state/engine'
import { eventually } from '@ledger-state/testing/eventually'
import { afterAll, expect, it, vi } from 'vitest'
import { openedPage } from '../../testing/check-view.ts'
import { ALICE, BEAN, coinStore, createPageEngine, LATEST } from '../../testing/page-ledger.ts'
import { newest } from './ledger.ts'

let engine: StateWriter
const page = openedPage(async () => (engine = await createPageEngine()))
afterAll(() => vi.restoreAllMocks())

/** Lets the page see that the visitor has left it, or is back. */
function show(visibilityState: 'visible' | 'hidden'): void {
  vi.spyOn(document, 'visibilityState', 'get').mockReturnValue(visibilityState)
  document.dispatchEvent(new Event('visibilitychange'))
}

/** Commits another version in the place of the last one, in a block of another time. */
async function putBeans(value: bigint): Promise<void> {
  const block = { height: LATEST, epoch: 1n, timestampUsec: 1_735_689_700_000_000n + value }
  await engine.commit([{ version: LATEST, block, writes: [coinStore(ALICE, BEAN, value)] }], { chainId: 94n })
}

it('a page that was hidden while a version was replaced shows the new one, at its number, too', async () => {
  await page().goTo(`/account/${ALICE}?at=${LATEST}`)
  await page().shows('Bean', /9\s000/)
  await eventually(
    () => newest.value?.version === String(LATEST),
    () => 'the newest version',
  )
  for (const value of [700_000n, 500_000n]) {
    show('hidden')
    await engine.truncateTo(LATEST - 1n)
    await putBeans(value)
    show('visible')
    await page().shows('Bean', value === 700_000n ? /7\s000/ : /5\s000/)
    expect(page().text).not.toMatch(/9\s000/)
  }
})

it('a page without a stream shows that versions were replaced, though there are more than before', async () => {
  await page().goTo(`/account/${ALICE}?at=${LATEST}`)
  await page().shows('Bean', /5\s000/)
  await expect.poll(() => newest.value?.version).toBe(String(LATEST))
  await engine.truncateTo(LATEST - 1n)
  await putBeans(300_000n)
  const block = { height: LATEST + 1n, epoch: 1n, timestampUsec: 1_735_689_800_000_000n }
  await engine.commit([{ version: LATEST + 1n, block, writes: [] }], { chainId: 94n })
  await page().shows('Bean', /3\s000/)
  expect(page().text).not.toMatch(/5\s000/)
})
