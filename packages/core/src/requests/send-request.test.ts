import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { bodyOfAnswer, type HttpAnswer, sendRequest, textOfAnswer } from './send-request.js'

let server: Server | undefined
afterEach(() => {
  server?.closeAllConnections()
  server?.close()
  server = undefined
})

async function serve(listener: RequestListener): Promise<string> {
  const started = createServer(listener)
  server = started
  await new Promise<void>((resolve) => started.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(started.address() as AddressInfo).port}`
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request) text += chunk
  return text
}

describe('sendRequest', () => {
  it('sends method, headers and the bytes of a body', async () => {
    const asked: unknown[] = []
    const url = await serve(async (request, response) => {
      asked.push(request.method, request.headers['x-key'], await bodyOf(request))
      response.end('yes')
    })
    for (let round = 0; round < 2; round++) {
      const body = new Uint8Array([104, 105])
      const answer = (await sendRequest(url, { method: 'POST', headers: { 'x-key': 'k' }, body })) as HttpAnswer
      expect([answer.status, await textOfAnswer(answer, 10)]).toEqual([200, 'yes'])
    }
    expect(asked).toEqual(['POST', 'k', 'hi', 'POST', 'k', 'hi'])
  })

  it('returns a failure for a server that is busy or fails, or its answer to a caller that passes failures on', async () => {
    const url = await serve((_, response) => {
      response.writeHead(503, { 'content-type': 'application/json', 'retry-after': '2' }).end('{"message":"busy"}')
    })
    for (let round = 0; round < 2; round++) {
      expect(await sendRequest(url, {})).toEqual({ why: 'status 503, busy', status: 503, retryAfterMs: 2_000 })
      const answer = (await sendRequest(url, { passesFailures: true })) as HttpAnswer
      expect([answer.status, await textOfAnswer(answer, 100)]).toEqual([503, '{"message":"busy"}'])
    }
  })

  it('refuses a redirect to another server, even for a caller that passes failures on', async () => {
    const url = await serve((_, response) => response.writeHead(307, { location: 'http://other.example/' }).end())
    for (const passesFailures of [false, true]) {
      expect(await sendRequest(url, { passesFailures })).toMatchObject({ status: 307, isFinal: true })
    }
  })

  it('ends a request, and the reading of its answer, when the server sends nothing for some time', async () => {
    let begins = false
    const url = await serve((_, response) => {
      if (begins) response.writeHead(200).write('a')
    })
    for (begins of [false, true]) {
      const answer = await sendRequest(url, { silenceMs: 200 })
      const why = 'why' in answer ? answer.why : await textOfAnswer(answer, 100).catch((error: Error) => error.message)
      expect(why).toBe('nothing came for 0.2 s')
    }
  })

  it('ends the reading of an answer that comes byte by byte without end, unless it is live and has lines', async () => {
    let [status, text] = [200, 'a']
    const url = await serve((_, response) => {
      response.writeHead(status)
      const timer = setInterval(() => response.write(text), 10)
      response.on('close', () => clearInterval(timer))
    })
    // A machine that is busy may write nothing for some hundred milliseconds.
    const silenceMs = 1_000
    const slow = (await sendRequest(url, { silenceMs })) as HttpAnswer
    await expect(bodyOfAnswer(slow, 1_000)).rejects.toThrow(/^the answer comes too slowly: \d+ bytes a second$/)
    status = 503
    expect(await sendRequest(url, { silenceMs })).toMatchObject({ why: 'status 503' })
    status = 200
    const live = (await sendRequest(url, { silenceMs, isLive: true })) as HttpAnswer
    await expect(bodyOfAnswer(live, 1_000)).rejects.toThrow(/^the answer comes too slowly: /)
    text = 'a\n'
    const lines = (await sendRequest(url, { silenceMs, isLive: true })) as HttpAnswer
    // More than one time of silence.
    expect(await textOfAnswer(lines, 240)).toBe('a\n'.repeat(120))
  })
})
