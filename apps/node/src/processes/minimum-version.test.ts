import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { connect } from 'node:net'
import { eventually } from '@ledger-state/testing/eventually'
import { afterEach, describe, expect, it } from 'vitest'
import { holdUntilServed, minimumHeader } from './minimum-version.js'

let server: Server | undefined
afterEach(() => {
  server?.closeAllConnections()
  server?.close()
})

/** A server that answers with the newest version, and what was sent. */
async function serve(latest: () => bigint | undefined, limits: { patienceMs?: number; mostHeld?: number } = {}) {
  const asked: string[] = []
  server = createServer((request, response) => {
    asked.push(request.url!)
    request.setEncoding('utf8')
    let body = ''
    request.on('data', (piece) => {
      body += piece
    })
    request.on('end', () => response.end(`${latest()} ${body}`))
  })
  server.on('checkContinue', (request, response) => {
    response.writeContinue()
    server!.emit('request', request, response)
  })
  holdUntilServed(server, minimumHeader('svc'), latest, limits)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as { port: number }).port}`
  const get = (minimum: string, init: RequestInit = {}) =>
    fetch(`${url}/${minimum}`, { headers: { 'x-svc-min-ledger-version': minimum }, ...init })
  return { asked, get, url }
}

describe('a request that names the version it was shown', () => {
  it('is answered at once where that is served, and where the header is no version', async () => {
    const { get, url } = await serve(() => 18_446_744_073_709_551_615n)
    for (const minimum of ['0', '18446744073709551615', '-1', 'x', '', '1e3', '9'.repeat(21)]) {
      expect(await (await get(minimum)).text()).toBe('18446744073709551615 ')
    }
    expect((await fetch(url)).status).toBe(200)
  })

  it('waits until it is, whatever its method, with its body', async () => {
    let latest: bigint | undefined
    const { get, asked } = await serve(() => latest)
    const answers = [get('7'), get('8', { method: 'POST', body: 'some words' }), get('9')]
    latest = 6n
    await (await get('5')).text()
    expect(asked).toEqual(['/5'])
    latest = 8n
    const texts = await Promise.all(answers.slice(0, 2).map(async (answer) => await (await answer).text()))
    expect(texts).toEqual(['8 ', '8 some words'])
    latest = 9n
    expect(await (await answers[2]!).text()).toBe('9 ')
  })

  it('is answered 503 where that takes too long', async () => {
    const { get, asked } = await serve(() => 6n, { patienceMs: 30 })
    const answer = await get('7')
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1'])
    expect(await answer.json()).toEqual({
      message: 'version 7 is not served here yet; the newest is 6',
      error_code: 'version_not_found',
    })
    expect(asked).toEqual([])
  })

  it('is answered 503 where too many wait; those that wait are answered', async () => {
    let latest = 6n
    const { get, asked } = await serve(() => latest, { mostHeld: 2 })
    const answers = [get('7'), get('7'), get('7')]
    const first = await Promise.race(answers)
    expect(first.status).toBe(503)
    latest = 7n
    const statuses = (await Promise.all(answers)).map(({ status }) => status)
    expect(statuses.sort()).toEqual([200, 200, 503])
    expect(asked).toEqual(['/7', '/7'])
  })

  it('of a client that leaves is dropped', async () => {
    let latest = 6n
    const { get, asked, url } = await serve(() => latest)
    const client = connect(Number(new URL(url).port), '127.0.0.1')
    client.write('GET /left HTTP/1.1\r\nhost: x\r\nx-svc-min-ledger-version: 7\r\n\r\n')
    const count = () =>
      new Promise<number>((resolve) => server!.getConnections((_, connections) => resolve(connections)))
    await eventually(
      async () => (await count()) === 1,
      () => 'a connection',
    )
    client.destroy()
    await eventually(
      async () => (await count()) === 0,
      () => 'its end',
    )
    latest = 7n
    expect(await (await get('7')).text()).toBe('7 ')
    expect(asked).toEqual(['/7'])
  })
})
