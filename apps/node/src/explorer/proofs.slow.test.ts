// Proofs of values on the page, which the page itself verifies, in a real browser.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { accessibilityFindings, type Browser, openBrowser, type Page } from '@ledger-state/explorer/testing/browser'
import { createRequestListener, type LedgerTrust } from '@ledger-state/http'
import {
  CHECKPOINT,
  createProvenLedger,
  EPOCH,
  type ProvenLedger,
  waypointOf,
} from '@ledger-state/http/testing/proven-ledger'
import { createLedger } from '@ledger-state/ledger'
import { GENESIS, HELD, HOLDERS, u64 } from '@ledger-state/ledger/testing/view-ledger'
import { PATIENCE_MS } from '@ledger-state/testing/eventually'
import { resourceKey } from '@ledger-state/type-tag'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { excessWidth } from '../../testing/explorer-bed.ts'
import { openExplorer } from './static-files.js'

const PHONE = { viewport: { width: 360, height: 760 }, locale: 'en-US' }
const SCORE = '/resource/0xcafe/0xcafe::game::Score'
const ITEM = '/table/0x7ab1e?key_type=u64&value_type=0xcafe::game::Score&key='
const at = (path: string, version = CHECKPOINT) => `${path}${path.includes('?') ? '&' : '?'}at=${version}`
const HOLDS = `signed by 4 of 4 of epoch ${EPOCH}`
const REFUSED = 'Do not believe this value'

describe('the proof of a value', () => {
  let proven: ProvenLedger
  let server: Server
  let browser: Browser
  let address: string
  let trust: LedgerTrust
  const byWaypoint = { waypoint: waypointOf(1), version: CHECKPOINT, epoch: BigInt(EPOCH), power: undefined }
  beforeEach(() => {
    trust = { signed: byWaypoint, contradicted: undefined }
  })
  beforeAll(async () => {
    proven = await createProvenLedger({ further: [...GENESIS, [resourceKey(HOLDERS[0]!, HELD), u64(11)]] })
    const api = createRequestListener({
      ledger: createLedger(proven.engine),
      proofs: proven.proofs,
      readTrust: () => trust,
      maxEventLoopDelayMs: Number.POSITIVE_INFINITY,
    })
    const page = openExplorer()!
    server = createServer((request: IncomingMessage, response: ServerResponse) => {
      if (!page.answer(request, response)) api(request, response)
    })
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    browser = await openBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    server?.close()
    proven?.close()
  })

  /** Runs a test with a separate page, on which no error may occur. */
  async function onPage(run: (page: Page) => Promise<void>): Promise<void> {
    const context = await browser.newContext(PHONE)
    context.setDefaultTimeout(PATIENCE_MS)
    const page = await context.newPage()
    const faults: string[] = []
    page.on('pageerror', (error) => faults.push(String(error)))
    page.on('console', (message) => {
      if (/Content Security Policy/.test(message.text())) faults.push(message.text())
    })
    await run(page)
    await context.close()
    expect(faults).toEqual([])
  }

  it('is verified in the browser, for a resource, an item, and a missing one', async () => {
    await onPage(async (page) => {
      // A node that is busy for a moment is asked again.
      await page.route(/proof=true/, (route) => route.fulfill({ status: 503, headers: { 'retry-after': '1' } }), {
        times: 1,
      })
      for (const [path, text] of [
        [SCORE, HOLDS],
        ['/resource/0xcafe/0xcafe::game::Member', HOLDS],
        [`${ITEM}%223%22`, HOLDS],
        [`${ITEM}%2277%22`, `That there is no value is ${HOLDS}`],
        ['/resource/0xcafe/0xcafe::game::Missing', `That there is no value is ${HOLDS}`],
      ] as const) {
        await page.goto(address + at(path))
        await page.getByText(text).waitFor()
        expect(await page.getByText(REFUSED).count()).toBe(0)
        expect([path, await excessWidth(page)]).toEqual([path, 0])
      }
      await page.getByText('The node is trusted for the validators').click()
      await page.getByText(waypointOf(1)).waitFor()
      expect(await accessibilityFindings(page)).toEqual([])
      expect(await excessWidth(page)).toBe(0)
    })
  })

  it('is shown next to the signed versions, the signers, and contradictions', async () => {
    await onPage(async (page) => {
      const shows = async (state: LedgerTrust, ...lines: readonly string[]) => {
        trust = state
        await page.goto(address)
        for (const line of lines) await page.getByText(line, { exact: true }).waitFor()
      }
      await shows(trust, `to version ${CHECKPOINT}, by the waypoint itself`)
      const signed = { ...byWaypoint, power: { signed: 1_080n, total: 1_090n } }
      const signers = `to version ${CHECKPOINT}, by 1\u2009080 of 1\u2009090 of the voting power of epoch ${EPOCH}`
      await shows({ signed, contradicted: undefined }, signers)
      const contradiction = `validators signed another ledger up to version ${CHECKPOINT + 5n}: the rest is not served`
      await shows({ signed, contradicted: { version: CHECKPOINT + 5n, epoch: BigInt(EPOCH) } }, signers, contradiction)
      await shows({ signed: undefined, contradicted: undefined }, 'no verified signatures')
    })
  })

  it('is verified for a module, and for one that does not exist; a list, changes and histories say that nothing proves them', async () => {
    await onPage(async (page) => {
      for (const [path, text] of [
        ['/module/0xcafe/game', HOLDS],
        ['/module/0xcafe/other', `That there is no value is ${HOLDS}`],
        [
          '/account/0xcafe/modules',
          'Each module is verified in this browser on its own page. That the list is whole is not',
        ],
        ['/account/0xcafe/changes', 'Changes are not proven: a proof is of the state at one version'],
        [SCORE, 'A history is not proven: a proof is of the state at one version'],
        ['/balance/0xcafe/0xa', 'A balance and its history are not proven'],
        ['/view/0xcafe::game::best?arguments=%5B%5D', 'The history of a view is not proven'],
      ] as const) {
        await page.goto(address + at(path))
        await page.getByText(text).waitFor()
        expect(await page.getByText(REFUSED).count()).toBe(0)
        expect([path, await excessWidth(page), await accessibilityFindings(page)]).toEqual([path, 0, []])
      }
    })
  })

  const CALL = '/view/0x42::main::value?arguments=%5B%220xa1%22%5D'

  it('is made of an answer of a view when the visitor asks: the browser runs the view over proven values', async () => {
    await onPage(async (page) => {
      const asked: string[] = []
      page.on('request', (request) => asked.push(request.url()))
      await page.goto(address + at(CALL))
      const compute = page.getByRole('button', { name: 'Compute it here from signed state' })
      await compute.waitFor()
      expect(asked.filter((url) => url.includes('verifier') || url.includes('proof=true'))).toEqual([])
      expect(await accessibilityFindings(page)).toEqual([])
      await compute.click()
      await page.getByText(/Computed here from \d+ values, signed by 4 of 4 of epoch/).waitFor()
      expect(await page.getByText(REFUSED).count()).toBe(0)
      expect([await excessWidth(page), await accessibilityFindings(page)]).toEqual([0, []])
      await page.goto(address + at(CALL, CHECKPOINT + 1n))
      await page.getByText('Not proven at this version').waitFor()
    })
  })

  it('is refused if the view has another result in the browser than the page shows', async () => {
    for (const isProven of [true, false]) {
      await onPage(async (page) => {
        await page.route('**/v1/view?**', async (route) => {
          const response = await route.fetch()
          const isThis = route.request().url().includes('proof=true') === isProven
          const text = await response.text()
          await route.fulfill({ response, body: isThis ? text.replace('["11"]', '["12"]') : text })
        })
        await page.goto(address + at(CALL))
        await page.getByRole('button', { name: 'Compute it here from signed state' }).click()
        const alert = page.getByRole('alert').filter({ hasText: REFUSED })
        await alert.waitFor()
        expect(await alert.textContent()).toContain(isProven ? 'the answer says' : 'the node showed a different one')
      })
    }
  })

  it('is refused if a module has other code', async () => {
    await onPage(async (page) => {
      await page.route('**/v1/accounts/*/module/**', async (route) => {
        const response = await route.fetch()
        const body = await response.text()
        await route.fulfill({
          response,
          body: body.replace(/(?<="bytecode":"0x[^"]{40})../, (two) => (two === '00' ? '01' : '00')),
        })
      })
      await page.goto(address + at('/module/0xcafe/game'))
      const alert = page.getByRole('alert').filter({ hasText: REFUSED })
      await alert.waitFor()
      expect(await alert.textContent()).toContain('the node showed a different one')
    })
  })

  it('exists only at signed versions, and the page leads to the nearest', async () => {
    await onPage(async (page) => {
      const asked: string[] = []
      page.on('request', (request) => asked.push(request.url()))
      await page.goto(address + at(SCORE, CHECKPOINT + 1n))
      await page.getByText('Not proven at this version').waitFor()
      expect(await accessibilityFindings(page)).toEqual([])
      // The verifying code is loaded with the first proof.
      expect(asked.filter((url) => url.includes('proof-'))).toEqual([])
      await page.getByRole('button', { name: `Look at version ${CHECKPOINT}` }).click()
      await page.getByText(HOLDS).waitFor()
      expect(new URL(page.url()).searchParams.get('at')).toBe(String(CHECKPOINT))
    })
  })

  it('is refused if the answer or the page has another value', async () => {
    for (const isProven of [true, false]) {
      await onPage(async (page) => {
        await page.route('**/v1/accounts/*/resource/**', async (route) => {
          const response = await route.fetch()
          const isThis = route.request().url().includes('proof=true') === isProven
          const text = await response.text()
          await route.fulfill({ response, body: isThis ? text.replace('"second":"4"', '"second":"5"') : text })
        })
        await page.goto(address + at(SCORE))
        const alert = page.getByRole('alert').filter({ hasText: REFUSED })
        await alert.waitFor()
        expect(await alert.textContent()).toContain(isProven ? 'the answer says' : 'the node showed a different one')
        expect(await page.getByText(HOLDS).count()).toBe(0)
        expect(await accessibilityFindings(page)).toEqual([])
        expect(await excessWidth(page)).toBe(0)
      })
    }
  })

  it('is refused next to an account that does not follow from its absence', async () => {
    const key = `0x${'0'.repeat(60)}feed`
    const lies = [
      { sequence_number: '0', authentication_key: `0x${'66'.repeat(32)}` },
      { sequence_number: '3', authentication_key: key },
      { sequence_number: '0', authentication_key: key },
    ]
    for (const lie of lies) {
      const isImplied = lie === lies.at(-1)
      for (const isProven of [true, false]) {
        await onPage(async (page) => {
          await page.route('**/v1/accounts/0xfeed?**', async (route) => {
            const response = await route.fetch()
            const text = await response.text()
            const value = JSON.stringify(lie)
            if (!route.request().url().includes('proof=true')) {
              await route.fulfill({ status: 200, headers: response.headers(), body: value })
            } else
              await route.fulfill({
                response,
                body: isProven ? text.replace('"value":null', `"value":${value}`) : text,
              })
          })
          await page.goto(address + at('/account/0xfeed'))
          if (isImplied) await page.getByText(`That there is no value is ${HOLDS}`).waitFor()
          else await page.getByRole('alert').filter({ hasText: REFUSED }).waitFor()
        })
      }
    }
  })

  it('is verified for an account, for opened resources and for visible items, one after the other', async () => {
    await onPage(async (page) => {
      let [running, most] = [0, 0]
      await page.route('**/v1/**proof=true**', async (route) => {
        const isEntry = route.request().url().includes('proof_from')
        if (isEntry) most = Math.max(most, ++running)
        const response = await route.fetch()
        if (isEntry) running--
        await route.fulfill({ response })
      })
      await page.goto(address + at('/account/0xfeed/resources'))
      await page.getByText(`That there is no value is ${HOLDS}`).waitFor()
      await page.getByText('Each resource is verified in this browser when it is opened').waitFor()
      // That there is no account, and both resources, which are open as they are few.
      await page.getByText(HOLDS).nth(2).waitFor()
      expect(await excessWidth(page)).toBe(0)
      expect(await accessibilityFindings(page)).toEqual([])
      await page.goto(address + at('/account/0xcafe'))
      await page.getByText(HOLDS).waitFor()
      await page.getByText('Balances are not proven').waitFor()
      await page.goto(address + at('/table/0x7ab1e?key_type=u64&value_type=0xcafe::game::Score'))
      await page.getByText(HOLDS).nth(3).waitFor()
      expect(await page.getByText(REFUSED).count()).toBe(0)
      expect(await excessWidth(page)).toBe(0)
      expect(most).toBe(1)
      await page.goto(address + at('/table/0x7ab1e?key_type=u64&value_type=0xcafe::game::Score', CHECKPOINT + 1n))
      await page.getByText('Not proven at this version').waitFor()
      expect(await page.getByText(HOLDS).count()).toBe(0)
    })
  })

  it('is refused in a list only at the entry that has another value', async () => {
    await onPage(async (page) => {
      await page.route('**/v1/accounts/*/resources**', async (route) => {
        const response = await route.fetch()
        await route.fulfill({ response, body: (await response.text()).replace('"second":"4"', '"second":"5"') })
      })
      await page.goto(address + at('/account/0xfeed/resources'))
      const alert = page.getByRole('alert').filter({ hasText: REFUSED })
      await alert.waitFor()
      expect(await alert.textContent()).toContain('the node showed a different one')
      await page.getByText(HOLDS).nth(1).waitFor()
      expect(await alert.count()).toBe(1)
    })
  })

  it('begins at the waypoint that the visitor chooses, which the browser keeps', async () => {
    await onPage(async (page) => {
      await page.goto(address + at(SCORE))
      const unfold = async () => {
        if ((await page.locator('details.trusted[open]').count()) === 0)
          await page.locator('details.trusted summary').click()
      }
      const choose = async (waypoint: string) => {
        await unfold()
        await page.getByLabel('Trust another waypoint').fill(waypoint)
        await page.getByRole('button', { name: 'Trust it' }).click()
      }
      await page.getByText(HOLDS).waitFor()
      await choose(waypointOf(1).replace(/.$/, (digit) => (digit === '0' ? '1' : '0')))
      await page.getByRole('alert').filter({ hasText: REFUSED }).waitFor()
      await page.reload()
      await page.getByRole('alert').filter({ hasText: REFUSED }).waitFor()
      await choose(waypointOf(2))
      await page.getByText(HOLDS).waitFor()
      await page.getByText('From a trusted waypoint').waitFor()
      await choose(`999999:${'0'.repeat(64)}`)
      await page.getByText('Not verified:').waitFor()
      await unfold()
      await page.getByRole('button', { name: 'Forget my choice' }).click()
      await page.getByText('The node is trusted for the validators').waitFor()
      await page.getByText(HOLDS).waitFor()
    })
  })
})
