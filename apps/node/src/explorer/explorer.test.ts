// The page in a real browser, against the real program on the demonstration ledger.
import { mkdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import {
  accessibilityFindings,
  type Browser,
  type BrowserContextOptions,
  openBrowser,
  type Page,
} from '@ledger-state/explorer/testing/browser'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { CommandBed } from '../../testing/command-bed.ts'

const ARCHIVE = 'https://archive.example/v1'
const SCREENSHOTS = fileURLToPath(new URL('../../../explorer/screenshots/', import.meta.url))
const WIDE_LIGHT = { viewport: { width: 1_440, height: 900 }, colorScheme: 'light' } as const
const WIDE_DARK = { ...WIDE_LIGHT, colorScheme: 'dark' } as const
const NARROW_DARK = { viewport: { width: 360, height: 760 }, colorScheme: 'dark' } as const
const NARROW_LIGHT = { ...NARROW_DARK, colorScheme: 'light' } as const
const APT = '0x1::aptos_coin::AptosCoin'

let bed: CommandBed
let browser: Browser
let address: string
let startLines: string
let admin: string
/** What should not happen on any page. */
const faults: string[] = []
const pages: Page[] = []

beforeAll(async () => {
  bed = new CommandBed()
  mkdirSync(SCREENSHOTS, { recursive: true })
  const node = await bed.serve('start', '--archival-endpoint', ARCHIVE, '--admin-listen', '127.0.0.1:0')
  address = node.address
  startLines = await node.program.outputMatching(/the ledger to look at: .*\n/)
  admin = /probes are on (http:\/\/[^"\s]+)/.exec(startLines)![1]!
  browser = await openBrowser()
}, 120_000)

afterAll(async () => {
  await browser?.close()
  await bed.close()
})

afterEach(async () => {
  await Promise.all(pages.splice(0).map((page) => page.context().close()))
  expect(faults.splice(0)).toEqual([])
})

async function open(path: string, options: BrowserContextOptions = WIDE_LIGHT, host = address): Promise<Page> {
  const context = await browser.newContext({ locale: 'en-US', ...options })
  const page = await context.newPage()
  pages.push(page)
  page.on('pageerror', (error) => faults.push(String(error)))
  page.on('console', (message) => {
    if (/Content Security Policy/.test(message.text())) faults.push(message.text())
  })
  page.on('request', (request) => {
    if (!request.url().startsWith(host) && !request.url().startsWith('blob:')) faults.push(request.url())
  })
  await page.goto(host + path)
  return page
}

const main = async (page: Page): Promise<string> => (await page.locator('main').textContent()) ?? ''
const shows = async (page: Page, text: string | RegExp): Promise<void> => {
  await page.locator('body', { hasText: text }).waitFor({ timeout: 10_000 })
}

/** Each view, and a text that stands in it once it is drawn. */
const VIEWS: readonly (readonly [name: string, path: string, text: string | RegExp])[] = [
  ['home', '/', 'Where to begin'],
  ['account', '/account/0xa11ce', 'Bean'],
  ['resources', '/account/0xa11ce/resources', 'last changed at version'],
  ['modules', '/account/0x1/modules', 'fungible_asset'],
  ['changes', '/account/0xa11ce/changes', 'sequence_number'],
  ['balance', `/balance/0xa11ce/${APT}?point=2973`, 'since version'],
  ['resource', '/resource/0xa11ce/0x1::coin::CoinStore%3C0xdecaf::bean::Bean%3E', 'coin.value'],
  ['module', '/module/0xdecaf/harbour', 'struct Harbour'],
  ['table', '/table/0x7ab1e2?holder=0xdecaf', 'draught_millimetres'],
  ['item', `/table/0x7ab1e2?holder=0xdecaf&key=${encodeURIComponent('{"place":6,"quay":1}')}`, 'Look at this version'],
  ['block', '/block/200', 'Height'],
  ['api', '/api/get_account', 'sequence number'],
  ['past', '/account/0xa11ce?at=1500', 'Bean'],
  ['pruned', '/account/0xa11ce?at=5', 'No longer kept'],
  ['absent', '/resource/0xa11ce/0x1::no::Such', 'Not there'],
  ['future', '/account/0xa11ce?at=999999', 'Not there yet'],
  ['unknown', '/nothing/here', 'There is no such page'],
]

/** Together they have every colour. */
const OTHER_THEME: readonly string[] = ['home', 'balance', 'item', 'pruned']

describe('each view', () => {
  for (const [theme, options] of Object.entries({ 'wide-light': WIDE_LIGHT, 'narrow-dark': NARROW_DARK })) {
    it(`is drawn within its width, without findings of axe: ${theme}`, async () => {
      const page = await open('/', options)
      for (const [name, path, text] of VIEWS) {
        await page.goto(address + path)
        await shows(page, text)
        await page.screenshot({ path: `${SCREENSHOTS}${name}-${theme}.png` })
        expect([name, await accessibilityFindings(page)]).toEqual([name, []])
        const tooWide = Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth'))
        expect([name, Math.max(0, tooWide)]).toEqual([name, 0])
      }
    }, 120_000)
  }

  it('has the contrast that axe asks for in the other theme too', async () => {
    for (const options of [WIDE_DARK, NARROW_LIGHT]) {
      const page = await open('/', options)
      for (const [name, path, text] of VIEWS.filter(([one]) => OTHER_THEME.includes(one))) {
        await page.goto(address + path)
        await shows(page, text)
        expect([name, await accessibilityFindings(page)]).toEqual([name, []])
      }
    }
  }, 60_000)
})

describe('the files', () => {
  it('of the first view are at most 120 kB compressed, from the node alone, under a strict policy', async () => {
    const page = await open('/')
    await shows(page, 'Where to begin')
    const sizes = await page.evaluate(
      "performance.getEntriesByType('resource').reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)",
    )
    expect(sizes).toBeLessThan(120_000)
    const index = await fetch(address)
    expect(index.headers.get('content-security-policy')).toMatch(/default-src 'none'; script-src 'self';/)
    const script = /src="(\/assets\/[^"]+\.js)"/.exec(await index.text())![1]!
    const answer = await fetch(address + script, { headers: { 'accept-encoding': 'br' } })
    expect(answer.headers.get('cache-control')).toContain('immutable')
    expect(answer.headers.get('content-encoding')).toBe('br')
    expect((await fetch(`${address}/assets/none.js`)).status).toBe(404)
    expect((await fetch(`${address}/../../package.json`)).status).toBe(404)
  })

  it('are not served with --no-explorer', async () => {
    const plain = await bed.serve('serve', '--data-dir', bed.at('data/demo'), '--no-explorer')
    const answer = await fetch(plain.address)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([404, 'application/json; charset=utf-8'])
    await plain.program.stop('SIGINT')
  })
})

describe('start', () => {
  it('ends with a link that opens on a curve', async () => {
    const link = /the ledger to look at: (\S+)\n/.exec(startLines)![1]!
    const page = await open(link.slice(address.length))
    await page.locator('.uplot canvas').waitFor()
    await shows(page, 'Aptos Coin')
    const balance = await (await fetch(`${address}/v1/accounts/0xa11ce/balance/${APT}`)).text()
    expect((await page.locator('.balance').textContent())?.replace(/[^\d]/g, '')).toBe(balance)
  })
})

describe('the time machine', () => {
  it('moves to a version, a time and a block, and back and forward', async () => {
    const page = await open('/account/0xa11ce')
    const field = page.getByLabel('Version, time or block to go to')
    const at = () => new URL(page.url()).searchParams.get('at')
    await shows(page, 'sent 398 transactions')
    for (const [text, expected] of [
      ['1500', '1500'],
      ['2025-01-01T00:12:30Z', '2025-01-01T00:12:30.000Z'],
      ['block 200', '1600'],
    ] as const) {
      await field.fill(text)
      await field.press('Enter')
      await expect.poll(at).toBe(expected)
    }
    await expect.poll(() => main(page)).toMatch(/sent 2\d\d transactions/)
    await page.goBack()
    await expect.poll(at).toBe('2025-01-01T00:12:30.000Z')
    await page.goForward()
    await expect.poll(at).toBe('1600')
    await page.getByRole('button', { name: 'Latest' }).click()
    await expect.poll(() => main(page)).toContain('sent 398 transactions')
    expect(at()).toBeNull()
  })

  it('is an axis that the arrow keys move along', async () => {
    const page = await open('/account/0xa11ce')
    const axis = page.getByLabel('Version, from the oldest to the latest')
    await axis.focus()
    await axis.press('Home')
    await expect.poll(() => new URL(page.url()).searchParams.get('at')).toBe('993')
    await axis.press('ArrowRight')
    await expect.poll(() => new URL(page.url()).searchParams.get('at')).toBe('994')
    await shows(page, '2025-01-01 00:08:20 UTC')
  })

  it('says where the window begins when it was left, and who has older versions', async () => {
    const page = await open('/account/0xa11ce?at=5')
    await shows(page, 'The window of this node begins at version 993')
    expect(await page.getByRole('link', { name: ARCHIVE }).getAttribute('href')).toBe(ARCHIVE)
    await page.getByRole('button', { name: 'Look there' }).click()
    await shows(page, /sent \d+ transactions/)
  })
})

describe('the search field', () => {
  it('says what a text would open, and opens it, by the keyboard alone', async () => {
    const page = await open('/')
    await shows(page, 'Where to begin')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    await page.keyboard.type('0x7ab1e2')
    expect(await page.getByRole('option').allInnerTexts()).toEqual(['account 0x7ab1e2', 'table 0x7ab1e2'])
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await expect.poll(() => new URL(page.url()).pathname).toBe('/table/0x7ab1e2')
    await shows(page, 'keys of an unknown type')
  })
})

describe('a balance', () => {
  it('tells a point exactly, sees a part closer, and is saved as CSV', async () => {
    const page = await open(`/balance/0xa11ce/${APT}`)
    await page.locator('.uplot canvas').waitFor()
    await page.locator('.u-over').click({ position: { x: 300, y: 100 } })
    await shows(page, 'since version')
    const point = new URL(page.url()).searchParams.get('point')!
    const history = `${address}/v1/accounts/0xa11ce/balance/${APT}/history`
    const exact = (await (await fetch(`${history}?to=${point}&limit=2`)).json()) as { balance: string }[]
    const told = (await page.locator('.point').textContent())?.replace(/[\u2009,]/g, '')
    expect(told).toContain((Number(exact[0]!.balance) / 1e8).toString())
    expect(told).toContain(`version ${point}`)
    await page.getByRole('button', { name: 'Earlier' }).click()
    await expect.poll(() => Number(new URL(page.url()).searchParams.get('point'))).toBeLessThan(Number(point))
    await page.getByRole('button', { name: 'Closer' }).click()
    await expect.poll(() => new URL(page.url()).searchParams.has('from')).toBe(true)
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save as CSV' }).click(),
    ])
    expect(download.suggestedFilename()).toBe('balance.csv')
    const csv = await (await fetch(`${history}?limit=1000`, { headers: { accept: 'text/csv' } })).text()
    expect(readFileSync(await download.path(), 'utf8')).toBe(csv)
  })

  it('of a hundred thousand changes has a few rows in the document', async () => {
    const page = await open('/')
    const changes = Array.from({ length: 100_000 }, (_, at) => ({
      version: String(100_000 - at),
      timestamp: String(1_735_689_600_000_000 - at * 1_000_000),
      balance: String((at * 7_919) % 1_000_003),
    }))
    const body = JSON.stringify(changes)
    await page.route('**/history?limit=1000', (route) => route.fulfill({ contentType: 'application/json', body }))
    await page.goto(`${address}/balance/0xa11ce/${APT}`)
    await shows(page, '100\u2009000 changes')
    expect(await page.locator('.row').count()).toBeLessThan(60)
    await page.locator('.rows').evaluate((rows) => rows.scrollTo(0, rows.scrollHeight))
    await shows(page, 'version 1\n')
    expect(await page.locator('.row').count()).toBeLessThan(60)
  })
})

describe('a table', () => {
  it('finds an item by a form made from the type of its key, and marks what its changes changed', async () => {
    const page = await open('/table/0x7ab1e2?holder=0xdecaf')
    await page.getByText('Find one item by its key').click()
    await page.getByLabel('quay: u16').fill('1')
    await page.getByLabel('place: u32').fill('6')
    await page.getByRole('button', { name: 'Find' }).click()
    await expect.poll(() => new URL(page.url()).searchParams.get('key')).toBe('{"quay":1,"place":6}')
    await page.locator('.differences del').first().waitFor()
    expect(await page.locator('.differences ins').count()).toBeGreaterThan(0)
  })
})

describe('for programs', () => {
  it('has lines to copy, which read the same', async () => {
    const page = await open('/account/0xa11ce?at=1500')
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.getByText('For programs').click()
    await page.getByRole('button', { name: 'Copy' }).first().click()
    await shows(page, 'Copied')
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(
      `curl '${address}/v1/accounts/0xa11ce?ledger_version=1500'`,
    )
    await shows(page, 'aptos.getAccountInfo')
    await shows(page, 'ledger-state get account 0xa11ce --version 1500')
  })

  it('sends an operation of the API out of a form', async () => {
    const page = await open('/api/get_account')
    const form = page.locator('details[open] form')
    await form.getByLabel('address').fill('0xa11ce')
    await form.getByRole('button', { name: 'Send' }).click()
    await shows(page, '200 OK')
    await shows(page, '"sequence_number":"398"')
  })
})

describe('faults of the node', () => {
  it('are told, and it is asked again: 503, and no answer at all', async () => {
    const page = await open('/')
    await shows(page, 'Where to begin')
    const busy = JSON.stringify({ message: 'too many requests', error_code: 'internal_error' })
    await page.route('**/v1/accounts/**', (route) =>
      route.fulfill({ status: 503, headers: { 'retry-after': '1' }, contentType: 'application/json', body: busy }),
    )
    await page.goto(`${address}/account/0xa11ce`)
    await shows(page, 'The node is busy; asking again')
    await page.unroute('**/v1/accounts/**')
    await shows(page, 'sent 398 transactions')
    await page.route('**/v1/**', (route) => route.abort())
    await page.getByRole('link', { name: 'Resources' }).click()
    await shows(page, 'The node does not answer; asking again')
    await page.unroute('**/v1/**')
    await shows(page, '0x1::account::Account')
  })
})

describe('the page of the operator', () => {
  it('is on the admin listener, and shows processes and the last hour', async () => {
    for (const [theme, options] of Object.entries({ 'wide-light': WIDE_LIGHT, 'narrow-dark': NARROW_DARK })) {
      const page = await open('/', options, admin)
      await shows(page, 'reader-0')
      await shows(page, 'Versions a second')
      await page.screenshot({ path: `${SCREENSHOTS}operators-${theme}.png` })
      expect(await accessibilityFindings(page)).toEqual([])
      expect(Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth'))).toBeLessThanOrEqual(0)
    }
    expect((await fetch(`${admin}/other`)).status).toBe(404)
    expect((await fetch(`${address}/-/history`)).status).toBe(404)
  })
})

describe('hostile content', () => {
  it('is shown as text, and breaks nothing', async () => {
    const page = await open('/')
    const nested = `${'['.repeat(10_000)}1${']'.repeat(10_000)}`
    const markup = '<img src=x onerror="document.title=1"><script>document.title=1</script>'
    const data = `{"markup":${JSON.stringify(markup)},"marks":"\u202eesrever\u2066","large":"${'x'.repeat(1_048_576)}","deep":${nested},"<b>key</b>":"1","__proto__":{"a":1},"huge":"115792089237316195423570985008687907853269984665640564039457584007913129639935"}`
    const type = '0x1::evil::Evil'
    const body = `[{"type":"${type}","data":${data}},{"type":${JSON.stringify(markup)},"data":{}}]`
    await page.route('**/resources?**', (route) => route.fulfill({ contentType: 'application/json', body }))
    await page.goto(`${address}/account/0xa11ce/resources`)
    await shows(page, markup)
    await shows(page, '<b>key</b>')
    await shows(page, 'all 1048576 characters')
    await shows(page, '115792089237316195423570985008687907853269984665640564039457584007913129639935')
    expect(await page.locator('main img, main script, main b').count()).toBe(0)
    expect(await page.locator('bdi', { hasText: 'esrever' }).count()).toBe(1)
    for (let level = 0; level < 5; level++) await page.locator('.fold', { hasText: '1 member' }).first().click()
    expect(await page.title()).toContain('Account')
    expect((await main(page)).length).toBeLessThan(20_000)
  })
})
