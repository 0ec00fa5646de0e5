// Behaviour of every view: it says that it loads, that the node fails, and that a version is not kept; and draws text
// as text.
import type { StateEngineReader } from '@ledger-state/engine'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { PageBed } from './page-bed.ts'
import { HOSTILE, OLDEST } from './page-ledger.ts'

interface CheckedView {
  readonly path: string
  /** Texts that the view shows for ordinary data. */
  readonly shows: readonly (string | RegExp)[]
  /** Paths of the view without content, and the text that it then shows. */
  readonly absent?: Readonly<Record<string, string>>
  /** Path of the view at a version that was pruned. */
  readonly pruned?: string
  /** Path of the view with hostile text, and the part that it shows; by default `HOSTILE` as it is. */
  readonly hostile?: string
  readonly hostileText?: string
}

/** Opens the page for the tests of a file, by default over the small ledger. */
export function openedPage(createEngine?: () => Promise<StateEngineReader>): () => PageBed {
  let bed: PageBed
  beforeAll(async () => {
    bed = await PageBed.open(await createEngine?.())
  })
  afterAll(() => bed.close())
  return () => bed
}

/** Tests the states of a view. Returns a function that has the page, for further tests. */
export function checkView({ path, shows, absent = {}, pruned, hostile, hostileText = HOSTILE }: CheckedView) {
  const page = openedPage()

  it('says that it is loading, and then shows its contents', async () => {
    await page().goTo(path, 'late')
    await page().find('[role=status]', 'Loading')
    for (const text of shows) expect(page().text).not.toMatch(text)
    page().answers('sound')
    await page().shows(...shows)
    await page().hides('Loading…')
  })

  it('says that the node fails, with its words', async () => {
    await page().goTo(path, 'failed')
    await page().shows('The node failed', 'it says internal_error')
    await page().hides('Loading…')
  })

  it.each([
    ['busy', 'The node is busy; asking again'],
    ['lost', 'The node does not answer; asking again'],
  ] as const)('says that the node is %s, and that it asks again', async (how, says) => {
    await page().goTo(path, how)
    await page().shows(says)
  })

  for (const [where, says] of Object.entries(absent)) {
    it(`says that there is nothing at ${where}`, async () => {
      await page().goTo(where)
      await page().shows(says)
      await page().hides('Loading…')
    })
  }

  if (pruned !== undefined) {
    it('says that a version is no longer kept, and leads to the oldest', async () => {
      await page().goTo(pruned)
      await page().shows('No longer kept', `The window of this node begins at version ${OLDEST}`)
      await page().click('button', 'Look there')
      await page().hides('No longer kept')
      expect(page().path).toContain(String(OLDEST))
    })
  }

  if (hostile !== undefined) {
    it('draws hostile text as text', async () => {
      await page().goTo(hostile)
      await page().shows(hostileText)
      await page().hides('Loading…')
      expect(page().all('img, b, script')).toEqual([])
    })
  }

  return page
}
