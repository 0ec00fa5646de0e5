import { expect, it } from 'vitest'
import { refusedRedirect, sameServerTarget } from './redirects.js'

it.each([
  ['http://h.example/k', 'https://h.example/k', true],
  ['https://h.example/k', '/other', true],
  ['https://h.example/k', '//h.example/other?x', true],
  ['https://h.example:444/k', 'https://h.example:444/other', true],
  ['https://h.example/k', 'http://h.example/k', false],
  ['https://h.example/k', 'https://h.example:444/k', false],
  ['http://h.example/k', 'https://h.example:444/k', false],
  ['http://h.example:8080/k', 'https://h.example/k', false],
  ['https://h.example/k', 'https://other.example/k', false],
  ['https://h.example/k', '//other.example/k', false],
  ['https://h.example/k', 'https://u:p@h.example/k', false],
  ['https://h.example/k', 'https://h.example.evil.example/k', false],
  ['https://h.example/k', 'blob:https://h.example/k', false],
  ['https://h.example/k', 'file:///etc/passwd', false],
  ['http://h.example/k', 'http://169.254.169.254/latest/meta-data/', false],
  ['http://h.example/k', 'http://[fd00:ec2::254]/', false],
  ['http://h.example/k', 'http://127.0.0.1/', false],
  ['http://127.0.0.1:1/k', 'http://localhost:1/k', false],
  ['http://h.example/k', 'http://:0', false],
])('may lead from %s to %s: %s', (url, location, isFollowed) => {
  const target = sameServerTarget(url, new Headers({ location }))
  expect(target).toBe(isFollowed ? new URL(location, url).href : undefined)
})

it('leads nowhere without a target', () => {
  expect(sameServerTarget('http://h.example/k', new Headers())).toBeUndefined()
})

it('is described without the path that it names', () => {
  const text = (location: string) => refusedRedirect('http://h.example/', 302, new Headers({ location }))
  expect(text('http://Inner.example:81/SECRET?SECRET')).toMatch(
    /^status 302, which leads to http:\/\/inner.example:81: not/,
  )
  for (const hostile of ['http://h/SECRET', 'x:SECRET', 'http://SECRET:x@h', `http://${'secret'.repeat(30)}/`])
    expect(text(hostile)).not.toMatch(/secret/i)
})
