import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { targetUrl } from './target-url.js'

const BASE = 'https://node.example:8443/aptos/v1'
const PATH = '/v1/accounts/{address}/events/{handle}'

describe('the URL at an upstream', () => {
  it('has the parameters of a request as segments and values, whatever is in them, and nothing else of it', () => {
    const nasty = fc.oneof(
      fc.string({ unit: 'grapheme', minLength: 1 }),
      fc.stringMatching(/^[./\\%?#@:&=\r\n2ef-]{1,12}$/),
      fc.constantFrom('..', '.', '%2e%2e', '//evil.example', 'http://evil.example/', '\r\nhost: x', ''),
    )
    const query = fc.array(fc.tuple(fc.constantFrom('start', 'limit', 'admin', 'x'), nasty), { maxLength: 5 })
    fc.assert(
      fc.property(nasty, nasty, query, (address, handle, pairs) => {
        const sent = pairs.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&')
        const isRefused = [address, handle].some((text) => ['', '.', '..'].includes(text))
        const make = () => targetUrl(BASE, PATH, { address, handle }, sent, ['start', 'limit'])
        if (isRefused) {
          expect(make).toThrow()
          return
        }
        const url = new URL(make())
        const segments = url.pathname.split('/')
        expect([url.origin, url.hash, url.username]).toEqual(['https://node.example:8443', '', ''])
        expect(segments.map(decodeURIComponent)).toEqual(['', 'aptos', 'v1', 'accounts', address, 'events', handle])
        const first = (name: string) => pairs.find(([one]) => one === name)?.[1] ?? null
        expect([url.searchParams.get('start'), url.searchParams.get('limit')]).toEqual([first('start'), first('limit')])
        expect([...url.searchParams.keys()].filter((name) => name !== 'start' && name !== 'limit')).toEqual([])
      }),
    )
  })
})
