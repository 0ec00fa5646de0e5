import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { sourceFailed } from '../errors.js'
import { type FetchAnswer, fetchRetrying } from './retrying-fetch.js'

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
  const onNotice = (text: string) => notices.push(text)
  return { notices, accept: 'text/plain', attempts, unusableAnswers: 2, firstPauseMs: 1, signal, onNotice }
}

const read = (answer: FetchAnswer) => ({ value: answer })

describe('fetchRetrying', () => {
  it('gives up after the attempts that it may make, and says how the last one failed', async () => {
    const url = await serve((_, response) => {
      response.statusCode = 502
      response.end()
    })
    const twice = options(2)
    await expect(fetchRetrying(() => url, twice, read)).rejects.toMatchObject({
      code: 'source_failed',
      message: `GET ${url} failed 2 times; the last time: status 502: a proxy or gateway answered, not the server itself`,
    })
    expect(twice.notices).toEqual([
      expect.stringMatching(
        /: status 502: a proxy or gateway answered, not the server itself; asking again in 0\.0 s$/,
      ),
    ])
  })

  it('says why it reached no server', async () => {
    const url = await serve(() => {})
    server!.close()
    server!.closeAllConnections()
    await expect(fetchRetrying(() => url, options(1), read)).rejects.toThrow(/ECONNREFUSED/)
  })

  it('does not ask again for a machine that it never found', async () => {
    const patient = options(8)
    await expect(fetchRetrying(() => 'http://node.invalid/v1', patient, read)).rejects.toMatchObject({
      code: 'source_failed',
      message: expect.stringMatching(
        /^node\.invalid cannot be reached: .*; is this machine connected to the network\?$/,
      ),
    })
    expect(patient.notices).toEqual([])
  })

  it('does not ask again for a port that is blocked, or for TLS of a server without it', async () => {
    const plain = await serve((_, response) => response.end())
    for (const [url, why] of [
      ['http://127.0.0.1:9/', 'no HTTP client asks a server on this port, which belongs to another protocol'],
      [
        plain.replace('http:', 'https:'),
        'the server does not speak TLS: a URL with http: instead of https: may reach it',
      ],
    ] as const) {
      const patient = options(8)
      await expect(fetchRetrying(() => url, patient, read)).rejects.toMatchObject({
        code: 'source_failed',
        message: `GET ${url} was not made: fetch failed: ${why}`,
      })
      expect(patient.notices).toEqual([])
    }
  })

  it('leaves other statuses to the caller', async () => {
    const url = await serve((request, response) => {
      response.statusCode = 418
      response.end(`you accept ${request.headers.accept}`)
    })
    const answer = await fetchRetrying(() => url, options(1), read)
    expect([answer?.status, answer?.body.toString()]).toEqual([418, 'you accept text/plain'])
  })

  it('asks again for an answer that the caller cannot use, and throws its error in the end', async () => {
    let answers = 0
    const url = await serve((_, response) => response.end(String(++answers)))
    const unusable = sourceFailed.notBcs(url, 'text/html', 'application/x-bcs')
    const isThird = ({ body }: FetchAnswer) => (body.toString() === '3' ? { value: 'third' } : { unusable })
    const patient = { ...options(5), unusableAnswers: 3 }
    expect(await fetchRetrying(() => url, patient, isThird)).toBe('third')
    expect(patient.notices).toEqual(Array(2).fill(expect.stringMatching(/answered text\/html.*; asking again in/)))
    await expect(
      fetchRetrying(
        () => url,
        options(5),
        () => ({ unusable }),
      ),
    ).rejects.toBe(unusable)
    expect(answers).toBe(5)
  })

  it('sends further headers, and does not follow a redirect with them', async () => {
    const asked: (string | undefined)[] = []
    const url = await serve((request, response) => {
      asked.push(request.headers['x-key'] as string | undefined)
      if (request.url === '/') response.writeHead(302, { location: '/elsewhere' }).end()
      else response.end()
    })
    expect((await fetchRetrying(() => url, options(1), read))?.status).toBe(200)
    const withKey = { ...options(1), headers: { 'x-key': 'k' } }
    await expect(fetchRetrying(() => url, withKey, read)).rejects.toMatchObject({
      code: 'source_failed',
      message: expect.stringMatching(/was not answered: status 302, which leads to http:.*: not followed/),
    })
    expect(asked).toEqual([undefined, undefined, 'k'])
  })

  it.each([301, 302, 303, 307, 308])(
    'does not follow %i to another server, and does not repeat its texts',
    async (status) => {
      const inner = createServer((_, response) => response.end('SECRET'))
      let asked = 0
      inner.on('request', () => asked++)
      await new Promise<void>((resolve) => inner.listen(0, '127.0.0.1', resolve))
      const location = `http://127.0.0.1:${(inner.address() as AddressInfo).port}/SECRET`
      const url = await serve((_, response) => response.writeHead(status, { location }).end('SECRET'))
      try {
        // Twice, since a client may remember where a server led.
        for (let round = 0; round < 2; round++) {
          const error = await fetchRetrying(() => url, options(8), read).catch((thrown: Error) => thrown)
          expect(error).toMatchObject({ code: 'source_failed', message: expect.stringMatching(/: not followed/) })
          expect(String(error)).not.toMatch(/SECRET/)
        }
        expect(asked).toBe(0)
      } finally {
        inner.close()
      }
    },
  )

  it('waits as long as Retry-After says', async () => {
    const url = await serve((_, response) => {
      response.writeHead(429, { 'retry-after': '7' })
      response.end()
    })
    const stop = new AbortController()
    const notices: string[] = []
    const onNotice = (text: string) => {
      notices.push(text)
      stop.abort()
    }
    expect(await fetchRetrying(() => url, { ...options(2, stop.signal), onNotice }, read)).toBeUndefined()
    expect(notices).toEqual([expect.stringMatching(/status 429; asking again in 7\.0 s/)])
  })

  it('ends a pause, and a request, when its signal is aborted', async () => {
    const url = await serve((_, response) => {
      response.writeHead(503, { 'retry-after': '100' })
      response.end()
    })
    const stop = new AbortController()
    const pausing = {
      ...options(Number.POSITIVE_INFINITY, stop.signal),
      onNotice: () => setImmediate(() => stop.abort()),
    }
    expect(await fetchRetrying(() => url, pausing, read)).toBeUndefined()
    const silent = new AbortController()
    server!.removeAllListeners('request').on('request', () => silent.abort())
    expect(await fetchRetrying(() => url, options(3, silent.signal), read)).toBeUndefined()
  })
})
