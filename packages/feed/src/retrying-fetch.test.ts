import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { fetchRetrying } from './retrying-fetch.js'

let server: Server | undefined
afterEach(() => {
  server?.closeAllConnections()
  server?.close()
})

async function serve(answer: RequestListener): Promise<string> {
  server = createServer(answer)
  await new Promise<void>((resolve) => server!.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

function options(attempts: number, signal?: AbortSignal) {
  const notices: string[] = []
  return { notices, accept: 'text/plain', attempts, signal, onNotice: (text: string) => notices.push(text) }
}

describe('fetchRetrying', () => {
  it('gives up after so many attempts, and says how the last one failed', async () => {
    const url = await serve((_, response) => {
      response.statusCode = 502
      response.end()
    })
    const twice = options(2)
    await expect(fetchRetrying(url, twice)).rejects.toMatchObject({
      code: 'source_failed',
      message: `GET ${url} failed 2 times; the last time: status 502`,
    })
    expect(twice.notices.length).toBe(1)
  })

  it('says why nobody answers', async () => {
    const url = await serve(() => {})
    server!.close()
    server!.closeAllConnections()
    await expect(fetchRetrying(url, options(1))).rejects.toThrow(/ECONNREFUSED/)
  })

  it('leaves other statuses to the caller', async () => {
    const url = await serve((request, response) => {
      response.statusCode = 418
      response.end(`you accept ${request.headers.accept}`)
    })
    const answer = await fetchRetrying(url, options(1))
    expect([answer?.status, answer?.body.toString()]).toEqual([418, 'you accept text/plain'])
  })

  it.each([
    ['in seconds', () => '1'],
    ['as a date', () => new Date(Date.now() + 2_000).toUTCString()],
  ])('waits as long as Retry-After says, %s', async (_, retryAfter) => {
    const times: number[] = []
    const url = await serve((_, response) => {
      if (times.push(performance.now()) === 1) {
        response.writeHead(429, { 'retry-after': retryAfter() })
        response.end()
      } else response.end('there')
    })
    expect((await fetchRetrying(url, options(2)))?.body.toString()).toBe('there')
    expect(times[1]! - times[0]!).toBeGreaterThan(900)
  })

  it('ends a pause, and a request, when it is told to', async () => {
    const url = await serve((_, response) => {
      response.writeHead(503, { 'retry-after': '100' })
      response.end()
    })
    const stop = new AbortController()
    setTimeout(() => stop.abort(), 100)
    expect(await fetchRetrying(url, options(Number.POSITIVE_INFINITY, stop.signal))).toBeUndefined()
    const silent = new AbortController()
    server!.removeAllListeners('request').on('request', () => silent.abort())
    expect(await fetchRetrying(url, options(3, silent.signal))).toBeUndefined()
  })
})
