import { expect, it } from 'vitest'
import { readEndingsFrom } from './read-endings.js'
import { readProofFrom } from './read-proof.js'

/** Calls a client once, and returns the options with which it asked the node. */
async function optionsOf(ask: (fetch: typeof globalThis.fetch) => Promise<unknown>): Promise<RequestInit> {
  const asked: RequestInit[] = []
  const refuse = (async (_: string, init: RequestInit) => {
    asked.push(init)
    return new Response('', { status: 500 })
  }) as typeof globalThis.fetch
  await expect(ask(refuse)).rejects.toThrow()
  expect(asked.length).toBe(1)
  return asked[0]!
}

const CLIENTS = [
  ['epoch changes', (fetch: typeof globalThis.fetch) => readEndingsFrom('http://node/v1', fetch)('0:00')],
  ['proofs', (fetch: typeof globalThis.fetch) => readProofFrom('http://node/v1', fetch)(Uint8Array.of(1), 1n)],
] as const

it.each(CLIENTS)('a request for %s leaves no redirect to the runtime and has a timeout', async (_, ask) => {
  const { redirect, signal } = await optionsOf(ask)
  expect(redirect).toBe('manual')
  expect(signal).toBeInstanceOf(AbortSignal)
})

it.each(CLIENTS)('a request for %s follows a redirect on the same server only', async (name, ask) => {
  const refused = async (location: string, status = 307) => {
    const asked: string[] = []
    const redirecting = (async (url: string) => {
      asked.push(url)
      return new Response(null, { status, headers: { location } })
    }) as typeof globalThis.fetch
    await expect(ask(redirecting)).rejects.toMatchObject({ code: 'invalid_answer' })
    return asked.length
  }
  for (const location of ['http://other/v1', 'http://node:81/v1', 'file:///etc/passwd', 'http://']) {
    expect(await refused(location)).toBe(1)
  }
  // Five of a series are followed.
  expect(await refused('/v1/again')).toBe(6)
  expect(await refused('https://node/v1')).toBeGreaterThan(1)
  // A `POST` must stay one.
  expect(await refused('/v1/again', 302)).toBe(name === 'proofs' ? 1 : 6)
})

it('a redirect is refused if the browser hides its target', async () => {
  const opaque = (async () => {
    const response = new Response('')
    Object.defineProperty(response, 'type', { value: 'opaqueredirect' })
    return response
  }) as typeof globalThis.fetch
  await expect(readEndingsFrom('http://node/v1', opaque)('0:00')).rejects.toMatchObject({
    code: 'invalid_answer',
    message: expect.stringContaining('give the URL that it leads to'),
  })
})

it.each([
  [
    'refuses',
    async () => Response.json({ message: 'no such version' }, { status: 410 }),
    'status 410, no such version',
  ],
  ['is a gateway', async () => new Response('', { status: 502 }), 'status 502: a proxy or gateway answered'],
  [
    'cannot be reached',
    () => Promise.reject(new TypeError('fetch failed', { cause: new Error('ECONNREFUSED') })),
    'fetch failed: ECONNREFUSED',
  ],
])('a node that %s is reported in the words of every client', async (_, fetch, text) => {
  for (const work of [
    readEndingsFrom('http://node/v1', fetch)('0:00'),
    readProofFrom('http://node/v1', fetch)(Uint8Array.of(1), 1n),
  ]) {
    await expect(work).rejects.toMatchObject({
      code: 'invalid_answer',
      message: expect.stringContaining(`the node gave no answer: ${text}`),
    })
  }
})
