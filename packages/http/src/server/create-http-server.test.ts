import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { brotliCompressSync, brotliDecompressSync, deflateSync, gunzipSync, gzipSync } from 'node:zlib'
import { parseAddress } from '@ledger-state/core'
import { createMemoryEngine } from '@ledger-state/engine'
import { createLedger } from '@ledger-state/ledger'
import { eventually, PATIENCE_MS } from '@ledger-state/testing/eventually'
import { openRawConnection, type RawConnection } from '@ledger-state/testing/raw-connection'
import { isSlowRun } from '@ledger-state/testing/slow-run'
import { tableItemKey } from '@ledger-state/type-tag'
import { type InjectOptions, inject } from 'light-my-request'
import { afterAll, describe, expect, it } from 'vitest'
import { createHttpServer, type HttpServerOptions } from './create-http-server.js'
import type { AnswerReport } from './request-listener-options.js'

const open: Server[] = []
const sockets: Socket[] = []
afterAll(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await Promise.all(open.splice(0).map(stop))
})

function injected(server: Server, options: InjectOptions) {
  return inject((request, response) => void server.emit('request', request, response), options)
}

/** Time limit for a loaded machine to do work that normally takes no time. */
const PATIENCE = { timeout: PATIENCE_MS }

async function stop(server: Server): Promise<void> {
  server.closeAllConnections()
  if (!server.listening) return
  server.close()
  await once(server, 'close')
}

const LARGE = Buffer.alloc(12_000_000, 'abc')
const RAW_LARGE_ITEM = {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: '{"key":"0x02"}',
}

/** A server with a small item under key 1 and a large one under key 2 of table 0x7. */
async function startServer(options: Partial<HttpServerOptions> = {}): Promise<{ server: Server; port: number }> {
  const engine = createMemoryEngine()
  const block = { height: 0n, epoch: 0n, timestampUsec: 0n }
  const key = (byte: number) => tableItemKey(parseAddress('0x7'), Uint8Array.of(byte))
  await engine.commit(
    [
      {
        version: 0n,
        block,
        writes: [
          [key(1), Uint8Array.of(7)],
          [key(2), LARGE],
        ],
      },
    ],
    { chainId: 4 },
  )
  const ledger = createLedger(engine)
  const server = createHttpServer({ ledger, maxEventLoopDelayMs: Number.POSITIVE_INFINITY, ...options })
  open.push(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { server, port: (server.address() as AddressInfo).port }
}

function openSocket(port: number): RawConnection {
  const connection = openRawConnection(port)
  sockets.push(connection.socket)
  return connection
}

function connectionCount(server: Server): Promise<number> {
  return promisify(server.getConnections.bind(server))()
}

const rawItem = (key: string) =>
  `POST /v1/tables/0x7/raw_item HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 14\r\n\r\n{"key":"0x0${key}"}`
const statusOf = (port: number, path: string) => fetch(`http://127.0.0.1:${port}${path}`).then(({ status }) => status)
const healthy = (port: number) => statusOf(port, '/v1/-/healthy')

/** Expects an answer with patience: on a busy machine a request may take longer than the limits of these tests. */
async function expectHealthy(port: number): Promise<void> {
  await eventually(
    async () => (await healthy(port)) === 200,
    () => 'health to be answered',
  )
}

// These tests mostly wait, so they run at the same time.
describe.concurrent('the server', () => {
  it('answers a body that trickles in with 408 and drops its connection', async () => {
    const { port } = await startServer({ requestTimeoutMs: 300 })
    const { socket, received, closed } = openSocket(port)
    socket.write(
      'POST /v1/tables/0x7/item HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n',
    )
    const trickle = setInterval(() => socket.write(' '), 50)
    await closed
    clearInterval(trickle)
    expect(received()).toMatch(/^HTTP\/1.1 408 /)
    await expectHealthy(port)
  })

  it('drops a connection whose headers never end', async () => {
    const { port } = await startServer({ requestTimeoutMs: 300 })
    const { socket, closed } = openSocket(port)
    const trickle = setInterval(() => socket.write('a: b\r\n'), 50)
    socket.write('GET /v1 HTTP/1.1\r\nhost: x\r\n')
    await closed
    clearInterval(trickle)
    await expectHealthy(port)
  })

  it.runIf(isSlowRun)('drops a client that stops reading, and serves others meanwhile', async () => {
    const { server, port } = await startServer({ idleTimeoutMs: 2_000 })
    const { socket, closed } = openSocket(port)
    socket.pause()
    socket.write(rawItem('2'))
    await once(server, 'request')
    await expectHealthy(port)
    await eventually(
      async () => (await connectionCount(server)) === 0,
      () => 'the connection to be dropped',
    )
    socket.resume()
    await closed
    expect(socket.bytesRead).toBeLessThan(LARGE.length)
  })

  it('drops a connection on which nothing is sent', async () => {
    const { port } = await startServer({ idleTimeoutMs: 200 })
    const { closed } = openSocket(port)
    await closed
  })
})

describe('a client that leaves', () => {
  it('in the middle of its request or its answer disturbs no other client', async () => {
    const { server, port } = await startServer({ maxRequestsInFlight: 2 })
    for (let round = 0; round < 10; round++) {
      const { socket } = openSocket(port)
      socket.write(round % 2 ? rawItem('2') : rawItem('2').slice(0, -5))
      await once(server, 'request')
      socket.destroy()
    }
    await expect.poll(() => statusOf(port, '/v1'), PATIENCE).toBe(200)
  })
})

describe('closing the server', () => {
  it('lets requests under way end, closes each connection after its answer, and silent ones at once', async () => {
    const { server, port } = await startServer()
    const [silent, begun] = [openSocket(port), openSocket(port)]
    begun.socket.write(rawItem('1').slice(0, -5))
    await once(server, 'request')
    const ended = once(server.close(), 'close')
    await silent.closed
    begun.socket.write(rawItem('1').slice(-5))
    await begun.closed
    expect([silent.received(), begun.statuses()]).toEqual(['', [200]])
    expect(begun.received()).toContain('connection: close')
    await ended
  })

  it('drops requests that have not ended by their deadline', async () => {
    const { server, port } = await startServer({ drainTimeoutMs: 100 })
    const begun = openSocket(port)
    begun.socket.write(rawItem('1').slice(0, -5))
    await once(server, 'request')
    await once(server.close(), 'close')
    await begun.closed
    expect(begun.received()).toBe('')
  })
})

describe('load', () => {
  it('above the limit of requests in flight is shed with 503 and Retry-After, and taken in again afterwards', async () => {
    const { port } = await startServer({ maxRequestsInFlight: 2 })
    // Answers that are not read are under way.
    const reading = [openSocket(port), openSocket(port)]
    for (const { socket } of reading) {
      socket.pause()
      socket.write(rawItem('2'))
    }
    const ask = async () => {
      const response = await fetch(`http://127.0.0.1:${port}/v1`)
      const { error_code } = (await response.json()) as { error_code?: string }
      return [response.status, response.headers.get('retry-after'), error_code]
    }
    await expect.poll(ask, PATIENCE).toEqual([503, '5', 'internal_error'])
    expect(await healthy(port)).toBe(200)
    for (const { socket } of reading) socket.resume()
    await expect.poll(async () => (await ask())[0], PATIENCE).toBe(200)
  })

  it('of unread answers is bounded by their bytes: they give way to others, and small reads are answered', async () => {
    const answered: AnswerReport[] = []
    const { port } = await startServer({ maxAnswerBytes: 2 * LARGE.length, onAnswered: (one) => answered.push(one) })
    const unread = [openSocket(port), openSocket(port)]
    let dropped = 0
    for (const { socket } of unread) {
      socket.pause()
      socket.write(rawItem('2'))
      socket.on('close', () => dropped++)
    }
    await eventually(
      () => answered.length === 2,
      () => 'two large answers',
    )
    expect(await statusOf(port, '/v1')).toBe(200)
    const large = () => fetch(`http://127.0.0.1:${port}/v1/tables/0x7/raw_item`, RAW_LARGE_ITEM)
    // There is no room as long as the unread answers have not stalled.
    const statuses: number[] = []
    await eventually(
      async () => {
        const answer = await large()
        statuses.push(answer.status)
        if (answer.status !== 200) await answer.text()
        else expect((await answer.arrayBuffer()).byteLength).toBe(LARGE.length)
        return answer.status === 200
      },
      () => `a large answer, have ${statuses}`,
    )
    for (const { socket } of unread) socket.resume()
    await eventually(
      () => dropped === 1,
      () => `one unread answer to be dropped, not ${dropped}`,
    )
  })

  it('of requests whose answers are not read is one answer for each connection; once read, answers come in order', async () => {
    const answered: AnswerReport[] = []
    const { port } = await startServer({ onAnswered: (one) => answered.push(one) })
    const { socket } = openSocket(port)
    socket.pause()
    socket.write(rawItem('2').repeat(5) + rawItem('9').repeat(2))
    await eventually(
      () => answered.length > 0,
      () => 'an answer',
    )
    for (let asked = 0; asked < 20; asked++) expect(await statusOf(port, '/v1')).toBe(200)
    const raw = () => answered.filter(({ route }) => route.endsWith('raw_item'))
    expect(raw()).toHaveLength(1)
    let readBytes = 0
    let end = ''
    socket.on('data', (chunk) => {
      readBytes += chunk.length
      end = (end + chunk.toString('latin1')).slice(-4_000)
    })
    socket.resume()
    await eventually(
      () => end.match(/HTTP\/1.1 404/g)?.length === 2,
      () => `all answers, have ${raw().length}`,
    )
    expect(raw().map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 404, 404])
    expect(readBytes).toBeGreaterThan(5 * LARGE.length)
  })

  it('of a client that leaves while its requests wait ends, and other clients are answered', async () => {
    const answered: AnswerReport[] = []
    const { port } = await startServer({ maxRequestsInFlight: 2, onAnswered: (one) => answered.push(one) })
    for (let round = 0; round < 3; round++) {
      const { socket } = openSocket(port)
      socket.pause()
      socket.write(rawItem('2').repeat(3))
      const before = answered.length
      await eventually(
        () => answered.length > before,
        () => 'an answer',
      )
      socket.destroy()
      await eventually(
        () => answered.length === before + 3,
        () => `three ends, have ${answered.length - before}`,
      )
    }
    expect(answered.map(({ status }) => status)).toEqual([200, 499, 499, 200, 499, 499, 200, 499, 499])
    await expect.poll(() => statusOf(port, '/v1'), PATIENCE).toBe(200)
  })

  it('of requests without end on one connection is refused by closing it', async () => {
    const { port } = await startServer()
    const { socket, closed } = openSocket(port)
    socket.pause()
    socket.write(rawItem('2') + 'GET /v1 HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(6_000))
    socket.on('close', () => socket.resume())
    socket.on('error', () => {})
    setTimeout(() => socket.resume(), 0)
    await closed
    expect(await statusOf(port, '/v1')).toBe(200)
  })

  it('that holds the event loop is shed until it comes round in time again', async () => {
    const { server } = await startServer({ maxEventLoopDelayMs: 50 })
    const status = async () => (await injected(server, { url: '/v1' })).statusCode
    await expect.poll(status, PATIENCE).toBe(200)
    const hold = async () => {
      const until = performance.now() + 200
      while (performance.now() < until);
      await sleep(1)
    }
    await hold()
    await hold()
    expect(await status()).toBe(503)
    await expect.poll(status, PATIENCE).toBe(200)
  })

  it('above the limit of connections is closed as it comes', async () => {
    const { port } = await startServer({ maxConnections: 3 })
    const three = Array.from({ length: 3 }, () => openSocket(port))
    await Promise.all(three.map(({ socket }) => once(socket, 'connect')))
    await openSocket(port).closed
    three[0]!.socket.write(rawItem('1'))
    await expect.poll(three[0]!.received, PATIENCE).toMatch(/^HTTP\/1.1 200 /)
  })
})

describe('the server, sent broken HTTP,', () => {
  it.each([
    ['noise', '\u0000\u0001noise\r\n\r\n', 400],
    ['two lengths', 'POST /v1 HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n', 400],
    [
      'length and chunks',
      'POST /v1 HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
    ],
    ['endless headers', `GET /v1 HTTP/1.1\r\nhost: x\r\na: ${'a'.repeat(40_000)}\r\n\r\n`, 431],
  ])('refuses %s in JSON and continues', async (_name, bytes, status) => {
    const { port } = await startServer()
    const { socket, received, closed } = openSocket(port)
    socket.write(bytes)
    await closed
    expect(received()).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
    expect(JSON.parse(received().split('\r\n\r\n')[1]!)).toMatchObject({ error_code: 'web_framework_error' })
    expect(received()).toContain('x-svc-ledger-version: 0')
    expect(await healthy(port)).toBe(200)
  })
})

describe('a connection', () => {
  it.each([
    ['a chunk that is not a number', 'transfer-encoding: chunked\r\n\r\nzz\r\n', 400],
    ['chunked in the middle of encodings', 'transfer-encoding: chunked, identity\r\n\r\n0\r\n\r\n', 400],
    ['a negative length', 'content-length: -1\r\n\r\n', 400],
    ['a length that is not a number', 'content-length: 1e3\r\n\r\n', 400],
    ['a space before the colon', 'content-length : 2\r\n\r\n{}', 400],
    ['a folded header', 'x: a\r\n b\r\ncontent-length: 2\r\n\r\n{}', 400],
    ['a bare line feed in a header', 'x: a\nb: c\r\ncontent-length: 2\r\n\r\n{}', 400],
    ['no host', '', 400],
    ['two hosts', 'Host: y\r\ncontent-length: 2\r\n\r\n{}', 400],
    ['the same host twice', 'host: x\r\ncontent-length: 2\r\n\r\n{}', 400],
  ])('with %s is refused', async (name, rest, status) => {
    const { port } = await startServer({ requestTimeoutMs: 10_000 })
    const { socket, received, closed } = openSocket(port)
    const host = name === 'no host' ? '\r\n' : 'host: x\r\n'
    socket.write(
      `POST /v1/tables/0x7/item HTTP/1.1\r\n${name === 'no host' ? '' : 'content-type: application/json\r\n'}${host}${rest}`,
    )
    await closed
    expect(received()).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
    expect(received().match(/HTTP\/1.1/g)?.length).toBe(1)
  })

  it('gives a request that follows another its own answer', async () => {
    const { port } = await startServer()
    const { socket, received } = openSocket(port)
    socket.write(rawItem('1') + rawItem('9') + rawItem('1'))
    await expect
      .poll(() => received().match(/HTTP\/1.1 \d+/g), PATIENCE)
      .toEqual(['HTTP/1.1 200', 'HTTP/1.1 404', 'HTTP/1.1 200'])
  })
})

describe('the server', () => {
  const ask = async (headers: Record<string, string>, key = '2') => {
    const { server } = await startServer()
    return injected(server, {
      method: 'POST',
      url: '/v1/tables/0x7/raw_item',
      headers: { 'content-type': 'application/json', ...headers },
      payload: `{"key":"0x0${key}"}`,
    })
  }

  it.each([
    ['br', 'br'],
    ['gzip', 'gzip'],
    ['gzip, br', 'br'],
    ['br;q=0.5, gzip', 'gzip'],
    ['*', 'br'],
    ['identity', undefined],
    ['br;q=0, gzip;q=0', undefined],
    ['deflate', undefined],
  ])('answers Accept-Encoding %s with %s', async (accepted, encoding) => {
    const { headers, rawPayload } = await ask({ 'accept-encoding': accepted })
    expect([headers['content-encoding'], headers.vary]).toEqual([encoding, 'Accept-Encoding, Origin'])
    const unpacked =
      encoding === 'br' ? brotliDecompressSync(rawPayload) : encoding === 'gzip' ? gunzipSync(rawPayload) : rawPayload
    expect(unpacked.equals(LARGE)).toBe(true)
  })

  it('leaves small answers uncompressed', async () => {
    const { headers, rawPayload } = await ask({ 'accept-encoding': 'br' }, '1')
    expect([headers['content-encoding'], [...rawPayload]]).toEqual([undefined, [7]])
  })

  it('decompresses requests, within the limit on bodies', async () => {
    const { server } = await startServer({ bodyLimitBytes: 10_000 })
    const post = (payload: Buffer, encoding: string) =>
      injected(server, {
        method: 'POST',
        url: '/v1/tables/0x7/raw_item',
        headers: { 'content-type': 'application/json', 'content-encoding': encoding },
        payload,
      })
    expect((await post(gzipSync('{"key":"0x01"}'), 'gzip')).statusCode).toBe(200)
    expect((await post(gzipSync('{"key":"0x01"}'.padEnd(10_001)), 'gzip')).statusCode).toBe(413)
    expect((await post(Buffer.from('no gzip'), 'gzip')).statusCode).toBe(400)
    expect((await post(Buffer.from('{}'), 'constructor')).statusCode).toBe(415)
    const plain = Buffer.from('{"key":"0x01"}')
    const packed = {
      gzip: gzipSync(plain),
      'x-gzip': gzipSync(plain),
      br: brotliCompressSync(plain),
      deflate: deflateSync(plain),
      identity: plain,
    }
    for (const [name, payload] of Object.entries(packed)) {
      const capital = name[0]!.toUpperCase() + name.slice(1)
      for (const spelled of [name, name.toUpperCase(), capital, ` ${name} `, `identity, ${name}`, `${name},`]) {
        expect((await post(payload, spelled)).statusCode, spelled).toBe(200)
      }
      if (name !== 'identity') expect((await post(plain, name.toUpperCase())).statusCode, name).toBe(400)
    }
    for (const other of ['gzip, gzip', 'gzip, br', 'compress', 'zstd', '__proto__', 'GZIP;q=1']) {
      expect((await post(packed.gzip, other)).statusCode, other).toBe(415)
    }
  })
})
