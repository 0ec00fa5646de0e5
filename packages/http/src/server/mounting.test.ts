import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createMemoryEngine } from '@ledger-state/engine'
import { createLedger } from '@ledger-state/ledger'
import { eventually } from '@ledger-state/testing/eventually'
import { fastify } from 'fastify'
import { afterEach, describe, expect, it } from 'vitest'
import { createRequestListener } from './create-request-listener.js'

const servers: Server[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  }
})

async function listenerOfOneVersion() {
  const engine = createMemoryEngine()
  await engine.commit([{ version: 0n, block: { height: 0n, epoch: 0n, timestampUsec: 0n }, writes: [] }], {
    chainId: 4,
  })
  return createRequestListener({ ledger: createLedger(engine) })
}

async function listening(server: Server): Promise<string> {
  servers.push(server)
  if (!server.listening) {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
  }
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** A read without a body and one with a body, both at `base`. */
async function readsAt(base: string): Promise<unknown[]> {
  const balance = await fetch(`${base}/v1/accounts/0x1/balance/0xa?ledger_version=0`)
  const batch = await fetch(`${base}/v1/balances:batch`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"requests":[{"address":"0x1","asset_type":"0xa"}]}',
  })
  return [balance.headers.get('x-svc-ledger-version'), await balance.text(), await batch.text()]
}

const ANSWERS = ['0', '0', '[{"status":200,"value":0}]']

describe('the request listener', () => {
  it('works in a bare server', async () => {
    expect(await readsAt(await listening(createServer(await listenerOfOneVersion())))).toEqual(ANSWERS)
  })

  it('is mounted below a path that the host takes off the URL, as Express does', async () => {
    const listener = await listenerOfOneVersion()
    const server = createServer((request, response) => {
      response.setHeader('x-powered-by', 'the host')
      if (!request.url!.startsWith('/chain/')) return void response.writeHead(404).end()
      request.url = request.url!.slice('/chain'.length)
      listener(request, response)
    })
    const base = await listening(server)
    expect(await readsAt(`${base}/chain`)).toEqual(ANSWERS)
    const { headers } = await fetch(`${base}/chain/v1`)
    expect([headers.get('x-powered-by'), headers.get('x-svc-chain-id')]).toEqual(['the host', '4'])
    expect((await fetch(`${base}/v1`)).status).toBe(404)
  })

  it('reads a small body that the host counts, too', async () => {
    const listener = await listenerOfOneVersion()
    let counted = 0
    const count = (chunk: Buffer): void => {
      counted += chunk.length
    }
    const before = createServer((request, response) => {
      request.on('data', count)
      listener(request, response)
    })
    const afterwards = createServer((request, response) => {
      listener(request, response)
      request.on('data', count)
    })
    for (const server of [before, afterwards]) {
      counted = 0
      expect(await readsAt(await listening(server))).toEqual(ANSWERS)
      expect(counted).toBe(51)
    }
  })

  it('ends the stream of a small body for a host that listens for that', async () => {
    const listener = await listenerOfOneVersion()
    for (const event of ['end', 'close']) {
      const events: string[] = []
      const server = createServer((request, response) => {
        listener(request, response)
        request.on(event, () => events.push(request.method!))
      })
      expect(await readsAt(await listening(server))).toEqual(ANSWERS)
      await eventually(
        () => events.join() === 'GET,POST',
        () => `both requests to have the event ${event}, not only ${events}`,
      )
    }
  })

  it('gives requests for other paths back to a host that gives `next`, as Express does', async () => {
    const listener = await listenerOfOneVersion()
    const server = createServer((request, response) =>
      listener(request, response, () => void response.end('the next route')),
    )
    const base = await listening(server)
    expect(await readsAt(base)).toEqual(ANSWERS)
    for (const path of ['/', '/hello', '/v10'])
      expect(await (await fetch(`${base}${path}`)).text()).toBe('the next route')
    const ours = await fetch(`${base}/v1/nothing`)
    expect([ours.status, await ours.json()]).toEqual([404, expect.objectContaining({ message: 'not found' })])
  })

  it('answers for a route of fastify that leaves the body alone', async () => {
    const listener = await listenerOfOneVersion()
    const app = fastify()
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('*', (_request, _payload, done) => done(null))
    app.all('/*', (request, reply) => {
      reply.hijack()
      listener(request.raw, reply.raw)
    })
    await app.listen({ port: 0, host: '127.0.0.1' })
    expect(await readsAt(await listening(app.server))).toEqual(ANSWERS)
  })

  it('hands paths outside /v1 to the host if its options say so, and answers 404 if the host does not', async () => {
    const engine = createMemoryEngine()
    await engine.commit([{ version: 0n, block: { height: 0n, epoch: 0n, timestampUsec: 0n }, writes: [] }], {
      chainId: 4,
    })
    const asked: string[] = []
    const answered: unknown[] = []
    const listener = createRequestListener({
      ledger: createLedger(engine),
      otherRequests(request, response) {
        asked.push(request.url!)
        if (request.url !== '/page') return false
        response.end('a page')
        return true
      },
      onAnswered: ({ url, route, status }) => answered.push([url, route, status]),
    })
    const base = await listening(createServer(listener))
    const texts: unknown[] = []
    for (const path of ['/page', '/v1', '/v1/nothing', '/v1?x', '/v10', '/other']) {
      const response = await fetch(base + path)
      texts.push([path, response.status])
      if (path === '/page') expect(await response.text()).toBe('a page')
    }
    const posted = await fetch(`${base}/page`, { method: 'POST', body: 'x'.repeat(100_000) })
    expect([posted.status, await posted.text()]).toEqual([200, 'a page'])
    expect(texts).toEqual([
      ['/page', 200],
      ['/v1', 200],
      ['/v1/nothing', 404],
      ['/v1?x', 200],
      ['/v10', 404],
      ['/other', 404],
    ])
    expect(asked).toEqual(['/page', '/v10', '/other', '/page'])
    expect(answered[0]).toEqual(['/page', 'other', 200])
  })
})
