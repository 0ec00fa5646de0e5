import { expect, it, vi } from 'vitest'
import { answerText, fetchFailure, statusFailure } from './failure-texts.js'

const typed = (type: string) => new Headers({ 'content-type': type })

it.each([
  [500, '', 'text/plain', 'status 500'],
  [500, '{"message":"busy"}', 'application/json', 'status 500, busy'],
  [503, '{"message":"busy"}', 'application/json', 'status 503, busy'],
  [503, 'SECRET', 'text/plain', 'status 503'],
  [502, '', '', 'status 502: a proxy or gateway answered, not the server itself'],
  [504, '', '', 'status 504: a proxy or gateway answered, not the server itself'],
  [503, '<html>SECRET', 'text/html', 'status 503: a proxy or gateway answered, not the server itself'],
  [503, ' <!DOCTYPE html>', 'text/plain', 'status 503: a proxy or gateway answered, not the server itself'],
])('says of status %i with %j of %j: %s', (status, text, type, expected) => {
  expect(statusFailure({ status, headers: typed(type) }, text)).toBe(expected)
})

it('names the proxy that the environment sets', () => {
  const before = { ...process.env }
  try {
    Object.assign(process.env, { NODE_USE_ENV_PROXY: '1', HTTPS_PROXY: 'http://u:SECRET@proxy.example' })
    const text = statusFailure({ status: 502, headers: new Headers() }, '')
    expect(text).toMatch(/; HTTPS_PROXY sends requests through a proxy/)
    const reason = new Error('Proxy response (407) !== 200 when HTTP Tunneling')
    const cause = new Error('Request was cancelled.', { cause: reason })
    const refused = fetchFailure(new TypeError('fetch failed', { cause }))
    expect(refused).toMatch(/^a proxy, not the server, answered with status 407; HTTPS_PROXY/)
    const away = fetchFailure(new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED 10.0.0.1:3128') }))
    expect(away).toMatch(
      /^fetch failed: connect ECONNREFUSED 10\.0\.0\.1:3128; HTTPS_PROXY sends requests through a proxy/,
    )
    expect(text + refused + away).not.toMatch(/SECRET/)
  } finally {
    process.env = before
  }
})

it.each([
  ['', 'text/plain', 'without a text'],
  ['role: SECRET', 'text/plain', '12 characters of text/plain'],
  ['SECRET', '', '6 characters of an unknown type'],
  ['<html>SECRET</html>', 'text/plain', 'a page in HTML'],
  ['{"secret":"SECRET"}', 'application/json', '19 characters of application/json'],
  ['{"message":"a\\u001b[2J\\nb"}', 'application/json', 'a [2J b'],
  ['<Error><Code>A</Code><Message>b</Message></Error>', 'application/xml', 'A: b'],
  ['<Error><Code>A</Code></Error>', 'application/xml', 'A'],
])('describes %j of %j as %s', (text, type, expected) => {
  expect(answerText(text, type === '' ? new Headers() : typed(type))).toBe(expected)
})

it.each(['['.repeat(2 ** 20), `[${'{},'.repeat(2 ** 20)}{}]`, `{"message":"a","b":[${'0,'.repeat(2 ** 20)}0]}`])(
  'does not parse a long text, which would take many times its memory: %#',
  (text) => {
    const parse = vi.spyOn(JSON, 'parse')
    expect(answerText(text, typed('application/json'))).toBe(`${text.length} characters of application/json`)
    expect(parse).not.toHaveBeenCalled()
    parse.mockRestore()
  },
)

it('shortens the message of an error', () => {
  const text = JSON.stringify({ message: 'x'.repeat(100_000) })
  expect(answerText(text, new Headers())).toBe(`${'x'.repeat(200)}… (100000 characters)`)
})
