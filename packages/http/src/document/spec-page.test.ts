import { createMemoryEngine } from '@ledger-state/engine'
import { createLedger } from '@ledger-state/ledger'
import { inject } from 'light-my-request'
import { describe, expect, it } from 'vitest'
import { createOneItemEngine } from '../../testing/one-item-server.ts'
import { createRequestListener } from '../server/create-request-listener.js'
import type { RequestExamples } from './request-example.js'

async function openPage(examples: RequestExamples = {}) {
  const listener = createRequestListener({ ledger: createLedger(createMemoryEngine()), examples })
  return await inject(listener, '/v1/spec')
}

it('the document for programs that read YAML is the JSON one', async () => {
  const listener = createRequestListener({ ledger: createLedger(createMemoryEngine()) })
  const [json, yaml] = [await inject(listener, '/v1/spec.json'), await inject(listener, '/v1/spec.yaml')]
  expect([yaml.statusCode, yaml.headers['content-type']]).toEqual([200, 'application/x-yaml'])
  expect(yaml.headers['content-disposition']).toBe('inline')
  // JSON is YAML, too, without characters that YAML takes for ends of lines or forbids.
  expect(JSON.parse(yaml.body)).toEqual(JSON.parse(json.body))
  expect(yaml.body).not.toMatch(/(?!\n)[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]/u)
})

describe('the page of the operations', () => {
  it('is HTML that loads nothing', async () => {
    const { statusCode, headers, body } = await openPage()
    expect([statusCode, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
    expect(headers['content-security-policy']).toBe(
      "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    )
    expect(body).not.toMatch(/<(script|style|link|img)| (style|src|on[a-z]+)=|javascript:/)
    expect(body).toContain('<a href="spec.json">')
  })

  it('shows the examples that it is given, as text, and of other operations neutral ones', async () => {
    const { body } = await openPage({
      get_account_balance: { parameters: { address: '0xabc', asset_type: '0x1::a::B<u8>', ledger_version: '5&6' } },
      view: { body: { it: `isn't <b> & "c"` } },
    })
    const target = '/v1/accounts/0xabc/balance/0x1::a::B%3Cu8%3E?ledger_version=5%266'
    expect(body).toContain(`<a href="..${target}">${target}</a>`)
    expect(body).toContain(`<pre>{\n  &quot;it&quot;: &quot;isn't &lt;b&gt; &amp; \\&quot;c\\&quot;&quot;\n}</pre>`)
    expect(body).toContain('<a href="../v1/accounts/0x1">/v1/accounts/0x1</a>')
    expect(body).toContain('&quot;function&quot;: &quot;0x1::coin::balance&quot;')
  })

  it('has links to answers of every ledger, also behind a proxy with a path', async () => {
    const listener = createRequestListener({ ledger: createLedger(await createOneItemEngine()) })
    const { body } = await inject(listener, '/v1/spec')
    const links = [...body.matchAll(/href="([^"]+)"/g)].map(([, link]) => link!.replaceAll('&amp;', '&'))
    expect(links.length).toBeGreaterThan(15)
    for (const link of links) {
      const { pathname, search } = new URL(link, 'http://proxy/node/v1/spec')
      expect(pathname).toMatch(/^\/node\/v1/)
      const { statusCode } = await inject(listener, pathname.slice('/node'.length) + search)
      // A ledger without an index of holdings refuses to list them, and one without whole transactions has no events.
      expect([200, 403, 404], link).toContain(statusCode)
    }
  })
})
