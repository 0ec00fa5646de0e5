// Use of the page's views in a real browser, against the real program on the demonstration ledger.
import { readFileSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { APT, ARCHIVE, ExplorerBed, mainText, NARROW_DARK, type Page, shows } from '../../testing/explorer-bed.ts'

let bed: ExplorerBed

beforeAll(async () => {
  bed = await ExplorerBed.start()
})
afterAll(() => bed.close())
afterEach(async () => {
  expect(await bed.closePages()).toEqual([])
})

describe('the explorer', () => {
  it('has files of at most 120 kB compressed in its first view, only from the node, under a strict policy', async () => {
    const page = await bed.open('/')
    await shows(page, 'Where to begin')
    const sizes = await page.evaluate(
      "performance.getEntriesByType('resource').reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)",
    )
    expect(sizes).toBeLessThan(120_000)
    const index = await fetch(bed.address)
    expect(index.headers.get('content-security-policy')).toMatch(/default-src 'none'; script-src 'self';/)
    const script = /src="(\/assets\/[^"]+\.js)"/.exec(await index.text())![1]!
    const answer = await fetch(bed.address + script, { headers: { 'accept-encoding': 'br' } })
    expect(answer.headers.get('cache-control')).toContain('immutable')
    expect(answer.headers.get('content-encoding')).toBe('br')
    expect((await fetch(`${bed.address}/assets/none.js`)).status).toBe(404)
    expect((await fetch(`${bed.address}/../../package.json`)).status).toBe(404)
  })
})

describe('the live stream', () => {
  it('is read by the page, and by any `EventSource`, with the ids of entries', async () => {
    const page = await bed.open('/')
    await shows(page, 'Where to begin')
    const read = `new Promise((resolve, reject) => {
      const source = new EventSource('/v1/stream?from=2900&account=0x1')
      const found = []
      source.onmessage = ({ data, lastEventId }) => {
        found.push([JSON.parse(data).version, lastEventId])
        if (found.length < 5) return
        source.close()
        resolve(found)
      }
      source.onerror = () => reject(new Error('no stream'))
    })`
    const found = (await page.evaluate(read)) as [string, string][]
    expect(found.map(([version]) => `${version}.0`)).toEqual(found.map(([, id]) => id))
    expect(found.map(([version]) => Number(version))).toEqual(found.map(([version]) => Number(version)).toSorted())
  })

  it('is open while the page is shown', async () => {
    const page = await bed.open('/')
    const [request] = await Promise.all([
      page.waitForRequest((one: { url(): string }) => one.url().includes('/v1/stream?account=0x1')),
      page.reload(),
    ])
    expect((await request.response())?.status()).toBe(200)
  })
})

describe('the command `start`', () => {
  it('ends with a link that opens on a curve', async () => {
    const page = await bed.open(bed.link.slice(bed.address.length))
    await page.locator('.uplot canvas').waitFor()
    await shows(page, 'Aptos Coin')
    const balance = await (
      await fetch(
        `${bed.address}/v1/accounts/0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab/balance/${APT}`,
      )
    ).text()
    const shown = async () => (await page.locator('.balance').textContent())?.replace(/[^\d]/g, '')
    await expect.poll(shown).toBe(balance)
  })
})

describe('the time machine', () => {
  it('moves to a version, a time and a block, and back and forward', async () => {
    const page = await bed.open('/account/0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab')
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
    await expect.poll(() => mainText(page)).toMatch(/sent 2\d\d transactions/)
    await page.goBack()
    await expect.poll(at).toBe('2025-01-01T00:12:30.000Z')
    await page.goForward()
    await expect.poll(at).toBe('1600')
    await page.getByRole('button', { name: 'Latest' }).click()
    await expect.poll(() => mainText(page)).toContain('sent 398 transactions')
    await expect.poll(at).toBeNull()
  })

  it('is an axis that the arrow keys move along', async () => {
    const page = await bed.open('/account/0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab')
    const axis = page.getByLabel('Version, from the oldest to the latest')
    await axis.focus()
    await axis.press('Home')
    await expect.poll(() => new URL(page.url()).searchParams.get('at')).toBe('993')
    await axis.press('ArrowRight')
    await expect.poll(() => new URL(page.url()).searchParams.get('at')).toBe('994')
    await shows(page, '2025-01-01 00:08:20 UTC')
  })

  it('says where the window begins when it was left, and who has older versions', async () => {
    const page = await bed.open('/account/0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab?at=5')
    await shows(page, 'The window of this node begins at version 993')
    expect(await page.getByRole('link', { name: ARCHIVE }).getAttribute('href')).toBe(ARCHIVE)
    await page.getByRole('button', { name: 'Look there' }).click()
    await shows(page, /sent \d+ transactions/)
  })
})

describe('the window', () => {
  it('has an axis of versions, and one of time at whose ticks the ledger was at that time', async () => {
    const page = await bed.open('/')
    const places = async (axis: string) =>
      Object.fromEntries(
        await page
          .locator(`.axis-${axis} .tick`)
          .evaluateAll((ticks) => ticks.map(({ textContent, style }) => [textContent, Number.parseFloat(style.left)])),
      )
    const placeOf = (version: number): number => ((version - 993) / (2_999 - 993)) * 100
    const versions = { '1\u2009000': placeOf(1_000), '2\u2009000': placeOf(2_000) }
    await expect.poll(() => places('versions')).toMatchObject(roundly(versions))
    const read = `${bed.address}/v1/accounts/0x1/balance/0xa?ledger_timestamp=2025-01-01T00:15:00Z`
    const version = Number((await fetch(read)).headers.get('x-svc-read-version'))
    await expect.poll(() => places('times')).toMatchObject(roundly({ '00:15': placeOf(version) }))
  })
})

function roundly(places: Readonly<Record<string, number>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(places).map(([name, place]) => [name, expect.closeTo(place, 3)]))
}

describe('a balance', () => {
  it('shows the exact values of a point, enlarges a part, and is saved as CSV', async () => {
    const page = await bed.open(`/balance/0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab/${APT}`)
    await page.locator('.uplot canvas').waitFor()
    await page.locator('.u-over').click({ position: { x: 300, y: 100 } })
    await shows(page, 'since version')
    const point = new URL(page.url()).searchParams.get('point')!
    const history = `${bed.address}/v1/accounts/0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab/balance/${APT}/history`
    const exact = (await (await fetch(`${history}?to=${point}&limit=2`)).json()) as { balance: string }[]
    const told = async () => (await page.locator('.point').textContent())?.replace(/[\u2009,]/g, '')
    // The text may end within the decimals of the coin.
    await expect.poll(told).toContain((Number(exact[0]!.balance) / 1e8).toString())
    await expect.poll(told).toContain(`version ${point}`)
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
})

it('a balance has its curve in a browser whose language is not a BCP 47 tag', async () => {
  const page = await bed.open(`/balance/0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab/${APT}`, {
    locale: 'en-US@posix',
  })
  await page.locator('.uplot canvas').waitFor()
  expect(await page.evaluate('Intl.getCanonicalLocales(navigator.language)')).toEqual(['en'])
})

describe('a table', () => {
  it('finds an item by a form made from the type of its key, and marks the parts that each change changed', async () => {
    const page = await bed.open(
      '/table/0x7ab1e2?holder=0xdecaf98bba3d57bd1852e6e200d6a6d168cd8ce646d30dd6d6dcc2362ab9ef15',
    )
    await page.getByText('Find one item by its key').click()
    await page.getByLabel('quay: u16').fill('1')
    await page.getByLabel('place: u32').fill('6')
    await page.getByRole('button', { name: 'Find' }).click()
    await expect.poll(() => new URL(page.url()).searchParams.get('key')).toBe('{"quay":1,"place":6}')
    await page.locator('.differences del').first().waitFor()
    await page.locator('.differences ins').first().waitFor()
  })
})

describe('amounts', () => {
  it('are in decimals in a resource, in its changes, and in the differences of an account', async () => {
    const store =
      '0x1::coin::CoinStore%3C0xdecaf98bba3d57bd1852e6e200d6a6d168cd8ce646d30dd6d6dcc2362ab9ef15::bean::Bean%3E'
    const page = await bed.open(`/resource/0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab/${store}`)
    const history = `${bed.address}/v1/accounts/0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab/resource/${store}/history?limit=2`
    const values = (await (await fetch(history)).json()) as { readonly value: { readonly coin: { value: string } } }[]
    const [after, before] = values.map(({ value }) => Number(value.coin.value))
    const amounts = async () =>
      (await page.locator('.in-units').allTextContents()).map((one) => one.replaceAll('\u2009', ''))
    await expect.poll(amounts).toContain(`${after! / 1_000} BEAN`)
    const change = `${Math.abs(after! - before!) / 1_000}`
    await expect
      .poll(amounts)
      .toContainEqual(expect.stringMatching(new RegExp(`→ ${after! / 1_000} BEAN, .${change}$`)))
    await page.goto(`${bed.address}/account/0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab/changes`)
    await expect.poll(amounts).toContainEqual(expect.stringMatching(/→ [\d.]+ BEAN, [+−][\d.]+$/))
    await page.goto(
      `${bed.address}/account/0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab/resources`,
    )
    await expect.poll(amounts).toContainEqual(expect.stringMatching(/^[\d.]+ BEAN$/))
  })
})

describe('uses of a type in all accounts', () => {
  const begin = async (page: Page): Promise<void> => {
    await page.getByRole('button', { name: 'Search all accounts' }).first().click()
  }

  it('are found by a search that somebody asks for', async () => {
    const page = await bed.open('/module/0x1/string')
    await begin(page)
    await shows(page, /\d+ uses; all \d+ keys seen/)
    const answer = await (await fetch(`${bed.address}/v1/types/0x1::string::String/uses`)).json()
    const { uses } = answer as { readonly uses: readonly unknown[] }
    await expect.poll(() => page.locator('.use').count()).toBe(uses.length)
    await page.locator('.use').getByRole('link', { name: 'module harbour' }).click()
    await shows(page, 'struct Harbour')
  })

  it('are searched page after page of one state; it stops, continues, and asks again', async () => {
    const page = await bed.newPage()
    const asked: string[] = []
    let isBusy = false
    let isHeld = true
    await page.route('**/v1/types/**', async (route) => {
      const url = new URL(route.request().url())
      const start = Number.parseInt(url.searchParams.get('start')?.slice(2, 4) ?? '0', 16)
      asked.push(`${url.searchParams.get('ledger_version')} ${start}`)
      if (isBusy) return route.fulfill({ status: 503, headers: { 'retry-after': '1' }, json: { message: 'busy' } })
      // The third page waits until somebody has stopped the search.
      if (isHeld && start === 2) return undefined
      const headers = { 'x-svc-ledger-version': '2999', ...(start < 4 && { 'x-svc-cursor': `000${start + 1}` }) }
      const uses = [{ address: `0x${start + 10}`, resource: '0x1::string::String' }]
      return route.fulfill({ headers, json: { scanned: 1_000, uses } })
    })
    await page.goto(`${bed.address}/module/0x1/string`)
    await begin(page)
    await shows(page, '2 uses; 2\u2009000 keys seen, 0.8 % of all addresses')
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByRole('button', { name: 'Continue' }).waitFor()
    isHeld = false
    isBusy = true
    await page.getByRole('button', { name: 'Continue' }).click()
    await shows(page, 'The node is busy; asking again')
    isBusy = false
    await shows(page, '5 uses; all 5\u2009000 keys seen')
    expect(await page.locator('.use').count()).toBe(5)
    expect(await page.locator('main [role=alert]').count()).toBe(0)
    expect([...new Set(asked)]).toEqual(['null 0', '2999 1', '2999 2', '2999 3', '2999 4'])
  })
})

describe('a page', () => {
  it('has lines to copy for programs, which read the same state', async () => {
    const page = await bed.open('/account/0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab?at=1500')
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.getByText('For programs').click()
    await page.getByRole('button', { name: 'Copy curl' }).first().click()
    await shows(page, 'Copied')
    await expect
      .poll(() => page.evaluate('navigator.clipboard.readText()'))
      .toBe(
        `curl '${bed.address}/v1/accounts/0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab?ledger_version=1500'`,
      )
    await shows(
      page,
      'ledger-state get account 0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab --version 1500',
    )
    // The ts-sdk reads an account only at the latest version.
    expect(await mainText(page)).not.toContain('aptos.')
    await page.goto(`${bed.address}/account/0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab`)
    await shows(page, 'aptos.getAccountInfo')
  })

  it('sends an operation of the API out of a form, which begins with an example', async () => {
    const page = await bed.open('/api/get_account')
    const form = page.locator('details[open] form')
    const send = form.getByRole('button', { name: 'Send' })
    await send.click()
    await shows(page, '"sequence_number":"398"')
    await form.getByLabel('address').fill('0xbad')
    await shows(page, `curl ${bed.address}/v1/accounts/0xbad`)
    await send.click()
    await shows(page, '404 Not Found')
  })

  it('shows an answer of the API that is only bytes as hex', async () => {
    const page = await bed.open('/api/get_raw_table_item')
    const form = page.locator('details[open] form')
    await form.getByRole('button', { name: 'Send' }).click()
    await shows(page, /200 OK0x[0-9a-f]{112}/)
    await shows(page, '| od -c')
  })
})

it('the page of the operator is on the admin listener, and shows processes and the last hour', async () => {
  const page = await bed.open('/', NARROW_DARK, bed.admin)
  await shows(page, 'reader-0')
  await shows(page, 'Versions a second')
  expect((await fetch(`${bed.admin}/other`)).status).toBe(404)
  expect((await fetch(`${bed.address}/-/history`)).status).toBe(404)
})

describe('hostile content', () => {
  it('is shown as text, and breaks nothing', async () => {
    const page = await bed.open('/')
    const nested = `${'['.repeat(10_000)}1${']'.repeat(10_000)}`
    const markup = '<img src=x onerror="document.title=1"><script>document.title=1</script>'
    const data = `{"markup":${JSON.stringify(markup)},"marks":"\u202eesrever\u2066","large":"${'x'.repeat(1_048_576)}","deep":${nested},"<b>key</b>":"1","__proto__":{"a":1},"huge":"115792089237316195423570985008687907853269984665640564039457584007913129639935"}`
    const type = '0x1::evil::Evil'
    const body = `[{"type":"${type}","data":${data}},{"type":${JSON.stringify(markup)},"data":{}}]`
    await page.route('**/resources?**', (route) => route.fulfill({ contentType: 'application/json', body }))
    await page.goto(
      `${bed.address}/account/0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab/resources`,
    )
    await shows(page, markup)
    await shows(page, '<b>key</b>')
    await shows(page, '50000 of 1048576 characters')
    await shows(page, '115792089237316195423570985008687907853269984665640564039457584007913129639935')
    expect(await page.locator('main img, main script, main b').count()).toBe(0)
    expect(await page.locator('bdi', { hasText: 'esrever' }).count()).toBe(1)
    for (let level = 0; level < 5; level++) await page.locator('.fold', { hasText: '1 member' }).first().click()
    await expect.poll(() => page.title()).toContain('Account')
    expect((await mainText(page)).length).toBeLessThan(20_000)
  })

  it('is shown as text in uses of a type and in amounts of an asset, too', async () => {
    const page = await bed.newPage()
    const markup = '<img src=x onerror="document.title=1"><b>b</b>'
    const uses = [
      {
        address: '0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab',
        module: markup,
        declarations: Array.from({ length: 60_000 }, () => markup),
      },
      {
        address: '0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab',
        resource: 'x'.repeat(1_048_576),
      },
    ]
    await page.route('**/v1/types/**', (route) => route.fulfill({ json: { scanned: 2, uses } }))
    await page.goto(`${bed.address}/module/0x1/string`)
    await page.getByRole('button', { name: 'Search all accounts' }).click()
    await shows(page, `module ${markup}`)
    const facts = { data: { name: markup, symbol: markup, decimals: 255 } }
    await page.route('**/resource/0x1**CoinInfo**', (route) => route.fulfill({ json: facts }))
    expect((await mainText(page)).length).toBeLessThan(20_000)
    await page.goto(
      `${bed.address}/resource/0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab/0x1::coin::CoinStore%3C0xdecaf98bba3d57bd1852e6e200d6a6d168cd8ce646d30dd6d6dcc2362ab9ef15::bean::Bean%3E`,
    )
    await shows(page, `0.${'0'.repeat(248)}1399002 ${markup.slice(0, 12)}`)
    expect(await page.locator('main img, main b').count()).toBe(0)
  })

  it('is shown as text in times and binaries that cannot be read, too', async () => {
    const page = await bed.newPage()
    const change = { version: '18446744073709551615', timestamp: '18446744073709551615', value: { a: '1' } }
    await page.route('**/history?**', (route) => route.fulfill({ json: [change] }))
    await page.goto(
      `${bed.address}/resource/0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab/0x1::account::Account`,
    )
    await shows(
      page,
      'version 18\u2009446\u2009744\u2009073\u2009709\u2009551\u2009615 18\u2009446\u2009744\u2009073\u2009709\u2009551\u2009615 µs',
    )
    await page.route('**/module/evil', (route) => route.fulfill({ json: { bytecode: '0xa11ceb0bffff', abi: null } }))
    await page.goto(`${bed.address}/module/0x1/evil`)
    await shows(page, 'its bytes are not a module')
  })

  it('that no view can draw leaves the rest of the page', async () => {
    const page = await bed.newPage()
    await page.route('**/accounts/0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab', (route) =>
      route.fulfill({ json: { sequence_number: 7 } }),
    )
    await page.goto(`${bed.address}/account/0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab`)
    await shows(page, 'This cannot be shown')
    await page.unroute('**/accounts/0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab')
    await page.getByRole('link', { name: 'API' }).click()
    await shows(page, 'The document for programs')
  })
})
