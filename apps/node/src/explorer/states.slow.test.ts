// Each view while it loads, when it is empty, and when the node cannot answer.
import { testSeed } from '@ledger-state/testing/random'
import { sampleCases } from '@ledger-state/testing/sample-cases'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import {
  APT,
  ARCHIVE,
  EXPLORER_VIEWS,
  ExplorerBed,
  keepScreenshot,
  mainText,
  type Page,
  shows,
} from '../../testing/explorer-bed.ts'

/** Paths of the API. A request for the ledger itself has no path below `/v1`. */
const LEDGER = /\/v1(?:\/.*)?$/
const BUSY = {
  status: 503,
  headers: { 'retry-after': '1' },
  contentType: 'application/json',
  body: JSON.stringify({ message: 'too many requests', error_code: 'internal_error' }),
}

let bed: ExplorerBed

beforeAll(async () => {
  bed = await ExplorerBed.start()
})
afterAll(() => bed.close())
afterEach(async () => {
  expect(await bed.closePages()).toEqual([])
})

/** Goes to a view, waits for the page's text while the node cannot answer, and then for the view itself. */
async function recovers(page: Page, path: string, meanwhile: string, text: string | RegExp): Promise<void> {
  await page.goto(bed.address + path)
  await shows(page, meanwhile)
  await page.unroute(LEDGER)
  await shows(page, text)
  await expect.poll(() => mainText(page)).not.toContain(meanwhile)
}

const SAMPLE = new Set(sampleCases(EXPLORER_VIEWS, 7))

// The balance is always tested, because a picture of it is needed.
for (const view of EXPLORER_VIEWS.filter((one) => one.name === 'balance' || SAMPLE.has(one))) {
  const { name, path, text } = view
  describe(`${name} (TEST_SEED=${testSeed()})`, () => {
    it('says that it is loading, and is drawn then', async () => {
      const page = await bed.newPage()
      let release = (): void => {}
      const released = new Promise<void>((resolve) => {
        release = resolve
      })
      await page.route(LEDGER, async (route) => {
        await released
        await route.continue()
      })
      await page.goto(bed.address + path)
      await page.locator('main [role=status]', { hasText: 'Loading' }).first().waitFor()
      if (name === 'balance') await keepScreenshot(page, 'loading-wide-light')
      release()
      await shows(page, text)
    })

    it('says that the node is busy, and asks again', async () => {
      const page = await bed.newPage()
      await page.route(LEDGER, (route) => route.fulfill(BUSY))
      await recovers(page, path, 'The node is busy; asking again', text)
    })

    it('says that the node is lost, and asks again', async () => {
      const page = await bed.newPage()
      await page.route(LEDGER, (route) => route.abort())
      await recovers(page, path, 'The node does not answer; asking again', text)
    })
  })
}

it('the content stays while the node is lost', async () => {
  const page = await bed.open('/account/0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab')
  await shows(page, '1\u2009399.002')
  await page.route(LEDGER, (route) => route.abort())
  await shows(page, 'the node does not answer; asking again')
  expect(await mainText(page)).toContain('1\u2009399.002')
  await page.unroute(LEDGER)
  await page.locator('.live:not(.is-lost)').waitFor()
})

it('an answer that is not JSON is a fault, and no endless loading', async () => {
  const page = await bed.newPage()
  await page.route('**/v1/accounts/0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab', (route) =>
    route.fulfill({ contentType: 'text/html', body: '<p>proxy</p>' }),
  )
  await page.goto(`${bed.address}/account/0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab`)
  await shows(page, 'The node failed')
})

describe('below the window', () => {
  const views = EXPLORER_VIEWS.filter(({ name }) => !['home', 'api', 'block'].includes(name))
  for (const { name, path } of views) {
    it(`${name} says where it begins, who has older versions, and leads there`, async () => {
      const page = await bed.open(`${path}${path.includes('?') ? '&' : '?'}at=5`)
      await shows(page, 'The window of this node begins at version 993')
      expect(await page.getByRole('link', { name: ARCHIVE }).first().getAttribute('href')).toBe(ARCHIVE)
      await page.getByRole('button', { name: 'Look there' }).first().click()
      await expect.poll(() => new URL(page.url()).searchParams.get('at')).toBe('993')
      await expect.poll(() => mainText(page)).not.toContain('The window of this node begins')
    })
  }

  it('a block says where the window begins, and who has older versions', async () => {
    const page = await bed.open('/block/1')
    await shows(page, 'No longer kept')
    await page.getByRole('link', { name: ARCHIVE }).waitFor()
    await page.getByRole('button', { name: 'Look there' }).click()
    await shows(page, 'Height')
  })
})

describe('where there is nothing', () => {
  const empty: readonly (readonly [path: string, text: string])[] = [
    ['/account/0xdead', 'nothing is stored at this address'],
    ['/account/0xdead/resources', 'No resources at this version.'],
    ['/account/0xdead/modules', 'No modules at this version.'],
    ['/account/0xdead/changes', 'Nothing changed.'],
    [`/balance/0xdead/${APT}`, 'It did not change in the window of this node.'],
    ['/table/0xdead?key_type=u8&value_type=u8', 'No items at this version.'],
    ['/table/0xdead?key_type=u8&value_type=u8&key=1', 'It was never there.'],
    ['/resource/0xdead/0x1::account::Account', 'It was never there.'],
    ['/module/0xdead/nothing', 'Not there'],
    ['/block/99999999', 'Not there'],
  ]
  for (const [path, text] of empty) {
    it(`${path} says so`, async () => {
      const page = await bed.open(path)
      await shows(page, text)
      await expect.poll(() => page.locator('main [role=status]', { hasText: 'Loading' }).count()).toBe(0)
    })
  }
})

it('the page of the operator says that the node is lost, keeps its content, and asks again', async () => {
  const page = await bed.open('/', undefined, bed.admin)
  await shows(page, 'reader-0')
  await page.route('**/-/history', (route) => route.abort())
  await shows(page, 'The node does not answer; asking again')
  expect(await mainText(page)).toContain('reader-0')
  await page.unroute('**/-/history')
  await expect.poll(() => mainText(page)).not.toContain('The node does not answer')
})

it('a node without the page answers programs and browsers with 404', async () => {
  const words = ['serve', '--data-dir', bed.commands.at('data/demo'), '--no-explorer']
  const { address, program } = await bed.commands.serve(...words)
  const answer = await fetch(address, { headers: { accept: 'text/html' } })
  expect([answer.status, answer.headers.get('content-type')]).toEqual([404, 'application/json; charset=utf-8'])
  await program.stop('SIGINT')
})
