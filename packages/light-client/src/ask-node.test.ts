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

it.each([
  ['ends of epochs', (fetch: typeof globalThis.fetch) => readEndingsFrom('http://node/v1', fetch)('0:00')],
  ['proofs', (fetch: typeof globalThis.fetch) => readProofFrom('http://node/v1', fetch)(Uint8Array.of(1), 1n)],
])('a request for %s follows no redirect and has a timeout', async (_, ask) => {
  const { redirect, signal } = await optionsOf(ask)
  expect(redirect).toBe('error')
  expect(signal).toBeInstanceOf(AbortSignal)
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
