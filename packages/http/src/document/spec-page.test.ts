import { createHash } from 'node:crypto'
import { createMemoryEngine } from '@ledger-state/engine'
import { createLedger } from '@ledger-state/ledger'
import { Browser, type BrowserPage } from 'happy-dom'
import { inject } from 'light-my-request'
import { afterEach, describe, expect, it } from 'vitest'
import { createOneItemEngine, type RunningServer, startServerOver, stopServer } from '../../testing/one-item-server.ts'
import { createRequestListener } from '../server/create-request-listener.js'
import { NEUTRAL_EXAMPLES, type RequestExamples } from './request-example.js'

const DEFAULT_LINE = `curl -s 'http://127.0.0.1:8080/v1/accounts/0x1'`

async function specPage(examples?: RequestExamples) {
  const ledger = createLedger(createMemoryEngine())
  const listener = createRequestListener({ ledger, ...(examples && { examples }) })
  return { page: await inject(listener, '/v1/spec'), script: await inject(listener, '/v1/spec.js') }
}

/** The lines, as a page without a script shows them. */
function linesOf(html: string): string[] {
  const { document } = new Browser().newPage().mainFrame
  document.write(html)
  return [...document.querySelectorAll('.example')].map(({ textContent }) => textContent)
}

describe('the page of the document', () => {
  it('allows its own script and its own style, and nothing else', async () => {
    const { page, script } = await specPage()
    const style = /<style>(.*?)<\/style>/s.exec(page.body)![1]!
    expect(page.headers['content-security-policy']).toBe(
      `default-src 'none'; script-src 'self'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    )
    expect(page.body.match(/<script.*?<\/script>/gs)).toEqual(['<script src="spec.js" defer></script>'])
    expect(page.body).not.toMatch(/ (style|on[a-z]+)=|javascript:/)
    expect([script.statusCode, script.headers['content-type']]).toEqual([200, 'text/javascript; charset=utf-8'])
  })

  it('shows the examples that it is given, and of other operations neutral ones', async () => {
    const { page } = await specPage({
      get_account: { target: '/v1/accounts/0xabc' },
      view: { target: '/v1/view', body: { it: "isn't <b>" }, pipe: 'od -c' },
    })
    const lines = linesOf(page.body)
    expect(lines).toHaveLength(Object.keys(NEUTRAL_EXAMPLES).length)
    expect(lines).toContain(`curl -s 'http://127.0.0.1:8080/v1/accounts/0xabc'`)
    expect(lines).toContain(
      `curl -s 'http://127.0.0.1:8080/v1/view' -H 'content-type: application/json' -d '{"it":"isn'\\''t <b>"}' | od -c`,
    )
    expect(lines).not.toContain(DEFAULT_LINE)
    expect(linesOf((await specPage()).page.body)).toContain(DEFAULT_LINE)
  })

  it('shows neutral examples that every ledger understands', async () => {
    const listener = createRequestListener({ ledger: createLedger(await createOneItemEngine()) })
    const answers = Object.entries(NEUTRAL_EXAMPLES).map(async ([id, { target, body }]) => {
      const payload = body && { payload: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
      const { statusCode } = await inject(listener, { method: body ? 'POST' : 'GET', url: target, ...payload })
      // Of a view, a module that is not there is 400.
      const isAbsent = statusCode === 404 || (id === 'view' && statusCode === 400)
      return [id, isAbsent ? 'absent' : statusCode === 200 ? 'read' : statusCode]
    })
    for (const [id, answer] of await Promise.all(answers)) expect(['absent', 'read'], String(id)).toContain(answer)
  })
})

describe('its script', () => {
  let server: RunningServer | undefined
  afterEach(async () => {
    if (server) await stopServer(server)
    server = undefined
  })

  async function openPage(): Promise<BrowserPage> {
    server = await startServerOver(await createOneItemEngine())
    const browser = new Browser({
      settings: { enableJavaScriptEvaluation: true, suppressInsecureJavaScriptEnvironmentWarning: true },
    })
    const page = browser.newPage()
    await page.goto(`http://127.0.0.1:${server.port}/v1/spec`)
    await page.waitUntilComplete()
    return page
  }

  it('gives each example a button that copies its line, which asks the service that the page is from', async () => {
    const page = await openPage()
    const { document, window } = page.mainFrame
    const examples = [...document.querySelectorAll('.example')]
    const buttons = examples.map(({ nextElementSibling }) => nextElementSibling as unknown as { click(): void })
    expect(document.querySelectorAll('button')).toHaveLength(examples.length)
    buttons[3]!.click()
    await page.waitUntilComplete()
    const copied = await window.navigator.clipboard.readText()
    expect(copied).toBe(`curl -s 'http://127.0.0.1:${server!.port}/v1/accounts/0x1'`)
    expect(copied).toBe(window.getSelection()!.toString())
    const texts = [...document.querySelectorAll('button')].map(({ textContent }) => textContent)
    expect(texts.filter((text) => text === 'Copied')).toHaveLength(1)
    await page.close()
  })
})
